"""What can go wrong with a local stack.

Never carries a traceback to the user: each message says what happened and what to do.
"""


class StackError(Exception):
    """The local stack can't be started, or stopped working."""


class PortTaken(StackError):
    """A port the stack needs belongs to somebody else."""

    def __init__(self, use: str, port: int, option: str) -> None:
        super().__init__(f"Port {port} ({use}) is taken by another program. Choose another one with {option}.")


class DataFolderInUse(StackError):
    """Another stack works in the data folder."""


class ChildDied(StackError):
    """A part of the stack ended by itself."""

    def __init__(self, name: str, ending: str, log: str, last_lines: str) -> None:
        super().__init__(f"The {name} process {ending}. The end of {log}:\n{last_lines}")


class NotReady(StackError):
    """The stack did not get ready in time."""
