"""`partmill up`: the whole stack in the foreground.

Never restarts a part that died: it says why it died, and ends.
"""

import time

from partmill.interrupts import Interrupted, interruptible
from partmill.place import data_folder
from partmill.ports import Ports
from partmill.screen import Screen, UsageFault
from partmill.stack import Stack

HIGHEST_PORT = 65535

LOOK_S = 0.2
"""How long a part may be dead before the user hears of it."""


def up(ports: Ports, screen: Screen) -> None:
    """Run until Ctrl-C or SIGTERM; both are the ordinary end."""
    _check(ports)
    with interruptible():
        try:
            with Stack(data_folder(), ports, "up") as stack:
                screen.say("Starting …")
                stack.wait_ready()
                screen.result(stack.urls, _lines(stack.urls))
                screen.say("Ctrl-C stops it.")
                while True:
                    stack.check()
                    time.sleep(LOOK_S)
        except Interrupted:
            screen.say("Stopped.")


def _check(ports: Ports) -> None:
    for option, port in (("--port", ports.api), ("--temporal-port", ports.temporal), ("--ui-port", ports.web_ui)):
        if not 0 <= port <= HIGHEST_PORT:
            raise UsageFault(f"{option} must be from 1 to {HIGHEST_PORT}, or 0 for any free one; {port} is not.")


def _lines(urls: dict[str, str]) -> str:
    names = {
        "server": "API",
        "docs": "API docs",
        "web_ui": "Temporal Web UI",
        "temporal": "Temporal",
        "data_dir": "Data folder",
    }
    return "\n".join(f"{name:<16}{urls[key]}" for key, name in names.items() if key in urls)
