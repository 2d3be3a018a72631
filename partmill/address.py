"""Which text is the address of a server.

Never looks at the network: whether somebody answers there is for others to find out.
"""

from urllib.parse import SplitResult, urlsplit

DEFAULT_SERVER = "http://127.0.0.1:8000"
"""Where `partmill up` listens."""


def checked(server: str) -> str:
    """The address without a slash at its end.

    Raises:
        ValueError: requests can't be sent there; the message says so for the user.
    """
    try:
        if not _is_usable(urlsplit(server)) or not server.isprintable() or " " in server:
            raise ValueError(server)
    except ValueError:  # UnicodeError too: a host name that DNS can't hold
        raise ValueError(f"{server!r} is no server address; it must look like {DEFAULT_SERVER}.") from None
    return server.rstrip("/")


def _is_usable(parts: SplitResult) -> bool:
    _ = parts.port  # raises ValueError on what is no port
    host = (parts.hostname or "").encode("idna")
    return bool(host) and parts.scheme in ("http", "https") and not parts.query and not parts.fragment
