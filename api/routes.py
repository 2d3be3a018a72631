"""The endpoints: each reads its request, has one thing done, and answers.

Never holds a rule of the contract by itself: identity, validation, answers and problems have modules of their own.
"""

from collections.abc import Sequence

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from api.answers import JobAnswers, document_response
from api.body import json_body
from api.creation import LOCAL, Created, Creation, asked, parsed
from api.documents import CatalogueDocument, HealthDocument, ModelDocument, ValidationDocument
from api.engine import Engine
from api.requests import understood
from domain.catalogue import MODELS, parameters_schema
from domain.identity import is_job_id
from domain.messages import JobId
from domain.models import Model
from domain.problems import EngineUnavailable, JobNotFound, ModelNotFound, Refusal
from domain.status import JobStatus

VERBS = ("generate", "validate", "batch-generate")
"""What stands below /v1/models beside the models: no model has such a name, and GET on them is a 405, not a 404."""


class _ModelName(StringConvertor):
    regex = "(?!(?:" + "|".join(VERBS) + ")$)[^/]+"


register_url_convertor("model_name", _ModelName())


class JobRoutes:
    """Creating jobs and looking at them."""

    def __init__(self, engine: Engine, creation: Creation, answers: JobAnswers, body_bytes: int) -> None:
        self._engine = engine
        self._creation = creation
        self._answers = answers
        self._body_bytes = body_bytes

    async def generate(self, request: Request) -> Response:
        """Creates a job and answers at once; its status tells how it goes on.

        The same request, or one with the same Idempotency-Key, finds the job that it has already (200), for as long as
        that job is kept. So a request may be repeated without fear after a lost connection.
        """
        wish = await asked(await json_body(request, self._body_bytes), _key_lines(request))
        job = await self._creation.start_or_attach(wish)
        return self._answers.created(*job) if isinstance(job, Created) else self._answers.replayed(job)

    async def validate(self, request: Request) -> Response:
        """Makes the checks of `generate` and nothing else; predicts the part's volume and bounds."""
        content, _ = await parsed(await json_body(request, self._body_bytes))
        part = understood(content)
        volume, bounds = part.model.volume(part.parameters), part.model.bounds(part.parameters)
        return document_response(ValidationDocument(volume=volume, bounding_box=bounds))

    async def job(self, request: Request) -> Response:
        """Tells a job's state, progress and result. Always 200 while the job is known, failed ones included."""
        return self._answers.status(await local_job(self._engine, request))

    async def ready(self, request: Request) -> Response:
        """Tells whether jobs can be created now: the workflow engine answers."""
        if not await self._engine.ready():
            raise Refusal(EngineUnavailable())
        return document_response(HealthDocument(status="ready"))


async def live(request: Request) -> Response:
    """Tells that this process answers requests."""
    return document_response(HealthDocument(status="live"))


async def models(request: Request) -> Response:
    """Lists the part families: parameters, engines, formats, an example of each."""
    return document_response(CatalogueDocument(models=[_model_document(model) for model in MODELS.values()]))


async def model(request: Request) -> Response:
    """Describes one part family."""
    found = MODELS.get(request.path_params["model"])
    if found is None:
        raise Refusal(ModelNotFound())
    return document_response(_model_document(found))


def _model_document(model: Model) -> ModelDocument:
    return ModelDocument(
        name=model.name,
        version=model.version,
        description=model.description,
        engines={engine: list(formats) for engine, formats in model.engines.items()},
        parameters=parameters_schema(model),
        example=dict(model.example),
    )


def _key_lines(request: Request) -> Sequence[str]:
    return request.headers.getlist("idempotency-key")


async def local_job(engine: Engine, request: Request) -> JobStatus:
    """The job in the request's address.

    Raises:
        Refusal: `JobNotFound`, also for another tenant's; `EngineUnavailable`.
    """
    job = await engine.read(_job_id(request))
    if job.tenant != LOCAL:
        raise Refusal(JobNotFound())
    return job


def _job_id(request: Request) -> JobId:
    """What could not be a job's ID is not asked for: other workflows of the namespace are none of ours."""
    text: str = request.path_params["job_id"]
    if not is_job_id(text):
        raise Refusal(JobNotFound())
    return JobId(text)
