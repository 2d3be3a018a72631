"""`partmill models` and `partmill validate`: what can be made, and whether a request would be accepted.

Never creates a job.
"""

from partmill import wording
from partmill.place import running
from partmill.request_file import read_request
from partmill.screen import Screen


def models(name: str | None, server: str | None, screen: Screen) -> None:
    """The catalogue, or one model of it in full."""
    from partmill.client import PartmillClient

    with PartmillClient(running(server).server, attempts=2) as client:
        if name is not None:
            model = client.model(name)
            screen.result(model.document, wording.model(model))
            return
        found = client.models()
    lines = [f"{model.name:<24}{model.description}" for model in found]
    screen.result({"models": [model.document for model in found]}, "\n".join(lines))


def validate(source: str, server: str | None, screen: Screen) -> None:
    """Whether the request would be accepted; a refusal is an error that names every broken rule."""
    from partmill.client import PartmillClient

    request = read_request(source)
    with PartmillClient(running(server).server, attempts=2) as client:
        validation = client.validate(request.body)
    screen.result(validation.document, wording.validation(validation))
