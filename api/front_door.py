"""What holds for every request and every answer, whatever its address.

Never knows an address: it stands in front of the routes.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problem_responses import problem_response, unexpected
from domain.problems import ForeignHost

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class FrontDoor:
    """Refuses foreign host names, turns the unexpected into a problem, and forbids browsers to guess content types.

    While there are no API keys, whoever reaches us is trusted. A web page of a stranger reaches us when its name is
    made to point to this machine (DNS rebinding); then the Host header gives it away.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        if not is_loopback_name(Headers(scope=scope).getlist("host")):
            await problem_response(ForeignHost())(scope, receive, answer.send)
            return
        try:
            await self._app(scope, receive, answer.send)
        except ClientDisconnect:
            return  # nobody is left to answer
        except Exception as error:
            if answer.has_begun:
                raise  # too late for a problem: breaking the connection is how the client learns of it
            await unexpected(error)(scope, receive, answer.send)


class _Answer:
    """Sends an answer's messages on, its head with the header that all answers have."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            MutableHeaders(scope=message).setdefault("X-Content-Type-Options", "nosniff")
        await self._send(message)


def is_loopback_name(hosts: list[str]) -> bool:
    """Whether the request has one Host header that names this machine's loopback, with any port or none."""
    if len(hosts) != 1:
        return False
    name, colon, port = hosts[0].lower().rpartition(":")
    if not colon or hosts[0].endswith("]"):
        return hosts[0].lower() in LOOPBACK_NAMES
    return name in LOOPBACK_NAMES and port.isascii() and port.isdigit()
