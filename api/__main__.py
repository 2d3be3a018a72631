"""The composition root of the API: `python -m api [--fd N]`.

Never serves beyond loopback: there are no API keys yet, so whoever reaches it is trusted.
"""

import argparse
import asyncio
import ipaddress
import logging
import os
import resource
import signal
import socket
import sys
from datetime import UTC, datetime

import uvicorn
from fastapi import FastAPI

from adapters.local_store import LocalArtifactStore
from adapters.settings import Settings, SettingsError, load_settings
from adapters.signed_links import SignedLinks, SigningKeyError, load_signing_key
from adapters.temporal_connection import connect
from api.app import create_app
from api.bounded_http import BoundedHttp
from api.engine import Engine

log = logging.getLogger("partmill.api")

DOWNLOAD_GRACE_S = 4
"""What an order to stop leaves to answers under way: all but long downloads, which clients resume elsewhere."""

OWN_DESCRIPTORS = 100
"""Logs, the event loop, the connection to Temporal: about twenty."""

BACKLOG = 2048
"""Connections that may wait to be accepted while the process is busy."""


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    arguments = _arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn stops gracefully on both and then raises the signal once more for whoever handled it before: with
        # the default handlers an ordinary stop would look like a crash.
        signal.signal(number, lambda *_: None)
    try:
        settings = load_settings(os.environ)
        listener = _listener(arguments.fd, settings)
        links = SignedLinks(load_signing_key(settings.data_dir))
    except (SettingsError, SigningKeyError, OSError) as error:
        sys.exit(f"partmill api: {error}")
    BoundedHttp.most_connections = min(BoundedHttp.most_connections, spare_descriptors() // 2)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, links, listener))


def spare_descriptors() -> int:
    """How many files and connections may be open beside our own few, with the limit raised as far as we may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * BoundedHttp.most_connections + OWN_DESCRIPTORS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed - OWN_DESCRIPTORS


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="api", description="Serves partmill over HTTP.")
    parser.add_argument("--fd", type=int, help="serve on this inherited listening socket instead of host and port")
    return parser.parse_args()


async def _serve(settings: Settings, links: SignedLinks, listener: socket.socket) -> None:
    app = create_app(
        Engine(await connect()), LocalArtifactStore(settings.store_dir), links, lambda: datetime.now(UTC), settings
    )
    host, port = listener.getsockname()[:2]
    log.info("no API keys are configured: serving tenant `local` to this machine only, on port %s of %s", port, host)
    await uvicorn.Server(_server_settings(app)).serve([listener])


def _server_settings(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=BoundedHttp,
        ws="none",
        lifespan="off",
        access_log=False,  # a link's signature must not stand in a log
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=DOWNLOAD_GRACE_S,
    )


def _listener(fd: int | None, settings: Settings) -> socket.socket:
    """The socket to serve on.

    Raises:
        SettingsError: it is reachable from elsewhere.
        OSError: the address can't be had.
    """
    if fd is None:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    else:
        listener = socket.socket(fileno=fd)
    host = listener.getsockname()[0]
    if not ipaddress.ip_address(host).is_loopback:
        listener.close()
        raise SettingsError(
            f"PARTMILL_HOST: without API keys this must be a loopback address such as 127.0.0.1, not {host}"
        )
    return listener


def _loop_factory() -> "type[asyncio.AbstractEventLoop] | None":
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.Loop


if __name__ == "__main__":
    main()
