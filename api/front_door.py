"""What holds for every request and every answer, whatever its address.

Never knows an address: it stands in front of the routes.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problem_responses import problem_response, unexpected
from domain.problems import ForeignHost, ForeignOrigin

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""They change nothing, and browsers let no other origin's page read what they answer."""

FOREIGN_SITES = frozenset({"cross-site", "same-site"})
"""What Sec-Fetch-Site says of another origin's page; `same-site` is another port of this machine."""


class FrontDoor:
    """Refuses web pages of strangers, turns the unexpected into a problem, and forbids browsers to guess content types.

    While there are no API keys, whoever reaches us is trusted. A page of a stranger reaches us when its name is made to
    point to this machine (DNS rebinding); then the Host header gives it away. And it may send us requests by our own
    name, though it can't read the answers; then Origin and Sec-Fetch-Site give it away.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        refusal = refusal_of(scope["method"], Headers(scope=scope))
        if refusal is not None:
            await problem_response(refusal)(scope, receive, answer.send)
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


def refusal_of(method: str, headers: Headers) -> ForeignHost | ForeignOrigin | None:
    """Why a request must not go any further; None if it may."""
    if not is_loopback_name(headers.getlist("host")):
        return ForeignHost()
    if method not in SAFE_METHODS and is_of_another_origin(headers):
        return ForeignOrigin()
    return None


def is_of_another_origin(headers: Headers) -> bool:
    """Whether a browser says that a page sent this request which is none of this machine's."""
    sites = {site.strip().lower() for site in headers.getlist("sec-fetch-site")}
    return bool(sites & FOREIGN_SITES) or not all(map(_is_loopback_origin, headers.getlist("origin")))


def _is_loopback_origin(origin: str) -> bool:
    """`null`, which sandboxed pages and local files send, is nobody's name."""
    scheme, _, host = origin.strip().partition("://")
    return scheme.lower() in ("http", "https") and is_loopback_name([host])


def is_loopback_name(hosts: list[str]) -> bool:
    """Whether the request has one Host header that names this machine's loopback, with any port or none."""
    if len(hosts) != 1:
        return False
    name, colon, port = hosts[0].lower().rpartition(":")
    if not colon or hosts[0].endswith("]"):
        return hosts[0].lower() in LOOPBACK_NAMES
    return name in LOOPBACK_NAMES and port.isascii() and port.isdigit()
