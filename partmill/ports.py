"""Which ports of this machine the stack listens on.

Never listens beyond loopback.
"""

import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass

from partmill.stack_errors import PortTaken

HOST = "127.0.0.1"

QUIET_PORTS = range(20000, 32768)
"""Above the well-known ones and below those that Linux (from 32768), macOS and IANA (from 49152) hand out."""

TRIES = 100
"""Of so many, all taken only where somebody has taken nearly all of them."""


@dataclass(frozen=True)
class Ports:
    """Where each part listens; 0 means any free port."""

    api: int = 8000
    temporal: int = 7233
    web_ui: int = 8233


ANY_FREE = Ports(0, 0, 0)


def listen(port: int) -> socket.socket:
    """A listening socket for the API. Its process is handed the socket, so that requests made while it starts wait
    in line instead of being refused.

    Raises:
        PortTaken: somebody else has the port.
    """
    listener = _bind("API", port, "--port")
    listener.listen(socket.SOMAXCONN)
    return listener


def reserve(temporal: int, web_ui: int) -> tuple[int, int]:
    """Two free ports: the ones asked for, or any where 0 was asked.

    Temporal can't be handed a socket, so the ports are free only until somebody else takes them. Any port is
    therefore one that the system gives nobody by itself: a busy machine once took such a port for a connection of its
    own within the second. What race is left ends as a message, not as a mix-up.

    Raises:
        PortTaken: somebody else has one of them.
    """
    with (
        _reserved("Temporal", temporal, "--temporal-port") as first,
        _reserved("Temporal Web UI", web_ui, "--ui-port") as second,
    ):
        return first.getsockname()[1], second.getsockname()[1]


def answers(host: str, port: int) -> bool:
    """Whether somebody listens there at this moment."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _reserved(use: str, port: int, option: str) -> socket.socket:
    if port:
        return _bind(use, port, option)
    for _ in range(TRIES):
        with suppress(PortTaken):
            return _bind(use, secrets.choice(QUIET_PORTS), option)
    return _bind(use, 0, option)


def _bind(use: str, port: int, option: str) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a stack that just stopped leaves TIME_WAIT behind
    try:
        bound.bind((HOST, port))
    except OSError:
        bound.close()
        raise PortTaken(use, port, option) from None
    return bound
