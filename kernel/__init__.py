"""What runs inside the kernel process: families, inspection, export, meshing. Knows only OCP and domain."""
