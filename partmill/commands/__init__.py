"""One module for each command: what it does, in the order in which it does it.

Never parses options (cli.py does) and never picks an exit code (screen.py does).
"""
