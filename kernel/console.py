"""What the CAD kernel prints by itself: banners and warnings on stdout, in colour.

Never touches what this project logs.
"""

from OCP.Message import Message


def quieten() -> None:
    """Take the kernel's printers away for the rest of this process: its verdicts come as values."""
    Message.DefaultMessenger_s().ChangePrinters().Clear()
