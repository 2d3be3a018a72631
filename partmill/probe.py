"""Quick looks at whether a partmill server is there. Uses the standard library only: half a second of imports would be
half a second before the stack starts.

Never raises: a server that can't be asked is not there.
"""

from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

TIMEOUT_S = 2.0
"""Longer than a live server on this machine ever takes, shorter than a user's patience with a hung one."""

LONGEST_BODY = 1 << 20
"""Enough to recognise a catalogue; a stranger on this port may send for ever."""


def is_partmill(server: str) -> bool:
    """Whether a partmill API listens at `server`: it is alive and has a catalogue of models."""
    return _get(server, "/livez")[0] == 200 and b'"models"' in _get(server, "/v1/models")[1]


def is_ready(server: str) -> bool:
    """Whether jobs can be created there."""
    return _get(server, "/readyz")[0] == 200


def _get(server: str, path: str) -> tuple[int, bytes]:
    address = urlsplit(server)
    connection = HTTPConnection(address.hostname or "", address.port or 80, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read(LONGEST_BODY)
    except (OSError, HTTPException):
        return 0, b""
    finally:
        connection.close()
