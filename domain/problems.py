"""Every error a user can meet, as a frozen value with a stable slug (RFC 9457).

Never knows a status code: api/ maps problems to statuses in one place.
"""

import re
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self, TypeAlias, get_args

TYPE_BASE = "https://partmill.dev/problems/"
"""Prefix of every problem's `type`; docs/problems.md holds the page behind each."""

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Something went wrong."""

    retryable: ClassVar[bool] = False
    """Whether the same attempt may succeed if it is made once more."""

    @classmethod
    def slug(cls) -> str:
        """The stable name in kebab-case, for example `wall-too-thin`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    @property
    def detail(self) -> str:
        """The class's docstring with this problem's fields filled in."""
        return " ".join((type(self).__doc__ or "").format(**asdict(self)).split())

    def as_dict(self) -> JsonObject:
        """The RFC 9457 members without `status`; the problem's own fields stand beside them."""
        title = self.slug().replace("-", " ").capitalize()
        own = {key: value for key, value in asdict(self).items() if value is not None}
        return {"type": TYPE_BASE + self.slug(), "title": title, "detail": self.detail, **own}

    @classmethod
    def from_dict(cls, members: JsonObject) -> Self:
        """Rebuild from `as_dict()`; members this version does not know are ignored."""
        known = {field.name for field in fields(cls)}
        return cls(**{key: value for key, value in members.items() if key in known})


class Refusal(Exception):
    """Carries a problem from where it is found to where it is answered."""

    def __init__(self, problem: "AnyProblem") -> None:
        super().__init__(problem.detail)
        self.problem = problem


# ---- of a request


@dataclass(frozen=True)
class MalformedRequest(Problem):
    """The body is not the strict JSON this service reads: {reason}."""

    reason: str


@dataclass(frozen=True)
class InvalidIdempotencyKey(Problem):
    """The Idempotency-Key header must be one quoted string or one bare token of 1-255 characters."""


@dataclass(frozen=True)
class UnsupportedMediaType(Problem):
    """The request's one content type must be application/json, in UTF-8 and without a content coding."""


@dataclass(frozen=True)
class PayloadTooLarge(Problem):
    """The body is larger than {limit_bytes} bytes."""

    limit_bytes: int


@dataclass(frozen=True)
class HeadTooLarge(Problem):
    """The request's address and headers together are larger than {limit_bytes} bytes."""

    limit_bytes: int


@dataclass(frozen=True)
class RequestTooSlow(Problem):
    """The request was not complete after {limit_s:g} seconds."""

    limit_s: float


@dataclass(frozen=True)
class TooManyConnections(Problem):
    """The service has as many connections as it can serve. Nothing is lost: send the same request again."""


@dataclass(frozen=True)
class ValidationFailed(Problem):
    """The request breaks at least one rule; `errors` names each of them."""

    errors: tuple[JsonObject, ...]


@dataclass(frozen=True)
class IdempotencyKeyReused(Problem):
    """This Idempotency-Key already belongs to job {job_id}, which was created by a different request."""

    job_id: str


@dataclass(frozen=True)
class MethodNotAllowed(Problem):
    """This resource does not know that method; the Allow header lists those it does."""


@dataclass(frozen=True)
class NotFound(Problem):
    """There is nothing at this address."""


@dataclass(frozen=True)
class JobNotFound(Problem):
    """There is no such job, or it is older than the retention period."""


@dataclass(frozen=True)
class StateConflict(Problem):
    """A job that is {state} can't be {action}."""

    state: str
    action: str


@dataclass(frozen=True)
class ModelNotFound(Problem):
    """There is no such model; GET /v1/models lists them."""


@dataclass(frozen=True)
class ForeignHost(Problem):
    """Without API keys this service answers to loopback host names only."""


@dataclass(frozen=True)
class ForeignOrigin(Problem):
    """Without API keys a web page of another origin may not change anything here."""


@dataclass(frozen=True)
class LinkExpired(Problem):
    """This download link has expired; the job's status holds a fresh one."""


@dataclass(frozen=True)
class LinkForged(Problem):
    """This download link's signature does not match."""


@dataclass(frozen=True)
class ArtifactGone(Problem):
    """The file behind this link is no longer kept. POST /v1/jobs/{{job_id}}/retry makes it again."""


@dataclass(frozen=True)
class EngineUnavailable(Problem):
    """The workflow engine can't be reached at the moment. Nothing is lost: send the same request again."""


@dataclass(frozen=True)
class InternalError(Problem):
    """Something unexpected happened; the log holds the details under this instance."""


# ---- of a job


@dataclass(frozen=True)
class KernelCrashed(Problem):
    """The geometry kernel died ({signal}) while it was {phase}, on every attempt."""

    retryable: ClassVar[bool] = True
    signal: str
    phase: str


@dataclass(frozen=True)
class KernelOutOfMemory(Problem):
    """The geometry kernel needed more than its {limit_mb} MB of memory."""

    retryable: ClassVar[bool] = True
    limit_mb: int


@dataclass(frozen=True)
class KernelTimeout(Problem):
    """The geometry kernel was still {phase} after its {limit_s:g} seconds."""

    limit_s: float
    phase: str


@dataclass(frozen=True)
class GeometryVerificationFailed(Problem):
    """The part failed the check `{check}`: expected {expected}, found {found}. No file was published."""

    check: str
    expected: str
    found: str
    format: str | None = None


@dataclass(frozen=True)
class TooManyTriangles(Problem):
    """This mesh would need about {estimate} triangles, more than the {limit} allowed; ask for a coarser deflection."""

    estimate: int
    limit: int


@dataclass(frozen=True)
class WorkerLost(Problem):
    """The worker vanished twice at the same point of this job, without a word."""


@dataclass(frozen=True)
class EvictedTooOften(Problem):
    """The job was evicted {evictions} times without getting any further."""

    evictions: int


@dataclass(frozen=True)
class StoreUnavailable(Problem):
    """The store that holds the files could not be read or written in time."""

    retryable: ClassVar[bool] = True


@dataclass(frozen=True)
class Terminated(Problem):
    """An operator terminated the job's workflow."""


@dataclass(frozen=True)
class TimedOut(Problem):
    """The job ran into its workflow's own time limit."""


AnyProblem: TypeAlias = (
    MalformedRequest
    | InvalidIdempotencyKey
    | UnsupportedMediaType
    | PayloadTooLarge
    | HeadTooLarge
    | RequestTooSlow
    | TooManyConnections
    | ValidationFailed
    | IdempotencyKeyReused
    | MethodNotAllowed
    | NotFound
    | JobNotFound
    | StateConflict
    | ModelNotFound
    | ForeignHost
    | ForeignOrigin
    | LinkExpired
    | LinkForged
    | ArtifactGone
    | EngineUnavailable
    | InternalError
    | KernelCrashed
    | KernelOutOfMemory
    | KernelTimeout
    | GeometryVerificationFailed
    | TooManyTriangles
    | WorkerLost
    | EvictedTooOften
    | StoreUnavailable
    | Terminated
    | TimedOut
)

PROBLEMS: dict[str, type[AnyProblem]] = {problem.slug(): problem for problem in get_args(AnyProblem)}


def problem_from_dict(members: JsonObject) -> AnyProblem:
    """The problem that `as_dict()` described; an unknown slug becomes `InternalError`."""
    slug = str(members.get("type", "")).removeprefix(TYPE_BASE)
    return PROBLEMS.get(slug, InternalError).from_dict(members)
