"""The short activities that make a job's files visible, or take them away again. Local to the workflow worker.

Never write a byte of geometry: the store copies what the kernel activities kept.
"""

from temporalio import activity
from temporalio.exceptions import ApplicationError

from domain.addresses import job_folder
from domain.messages import JobFolder, PublishedFile, PublishOrder, StoredOutput, StoreKey
from domain.ports import ArtifactStore, StoreUnreachable
from domain.problems import StoreUnavailable


class PublishActivities:
    """Bound to one worker's store."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    @activity.defn
    async def publish_artifacts(self, order: PublishOrder) -> tuple[PublishedFile, ...]:
        """Copy every output into the job's folder; visible to clients when the workflow has the answer."""
        return tuple([await self._publish(order, output) for output in order.outputs])

    @activity.defn
    async def withdraw_artifacts(self, folder: JobFolder) -> None:
        """Remove whatever a publish that was cut short has left. Twice: harmless."""
        try:
            await self._store.delete_folder(job_folder(folder.tenant, folder.job_id))
        except StoreUnreachable:
            raise unavailable() from None

    async def _publish(self, order: PublishOrder, stored: StoredOutput) -> PublishedFile:
        produced = stored.produced
        file_name = f"{order.model}.{produced.output}"
        target = StoreKey(f"{job_folder(order.tenant, order.job_id)}/{file_name}")
        try:
            copied = await self._store.copy(stored.key, target)
        except StoreUnreachable:
            raise unavailable() from None
        if not copied:
            raise unavailable()
        return PublishedFile(
            file_format=produced.output,
            key=target,
            file_name=file_name,
            file_size_bytes=produced.size_bytes,
            sha256=produced.sha256,
            triangles=produced.triangles,
        )


def unavailable() -> ApplicationError:
    """Retried by the publish policy to its deadline."""
    problem = StoreUnavailable()
    return ApplicationError(problem.detail, problem.as_dict(), type=problem.slug())
