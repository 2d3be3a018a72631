"""The exit codes of the `partmill` command: the part of its output that scripts branch on.

Never renumbered: a script out there reads them.
"""

from enum import IntEnum


class Exit(IntEnum):
    """What became of the command."""

    OK = 0
    """Done. For `generate` and `jobs watch`: the job completed."""
    UNEXPECTED = 1
    """Something that is nobody's usual mistake; the message says what."""
    USAGE = 2
    """The command line, the request file or the output path can't be used; no request was sent."""
    REFUSED = 3
    """The server refused the request (a 4xx problem); sending it again changes nothing."""
    JOB_FAILED = 4
    """The job ended as `failed`; its problem is shown."""
    JOB_CANCELLED = 5
    """The job ended as `cancelled`."""
    UNREACHABLE = 6
    """No answer from the server, or one that says to try again later (429, 502, 503, 504)."""
    CORRUPT_DOWNLOAD = 7
    """The downloaded bytes do not match the size and SHA-256 of the job's status; nothing was saved."""
    INTERRUPTED = 130
    """Ctrl-C or SIGTERM; what the command had started was stopped."""

    @property
    def wording(self) -> str:
        """The name in small letters, for example `job-failed`."""
        return self.name.lower().replace("_", "-")
