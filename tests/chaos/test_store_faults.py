"""A store that refuses: retried with backoff, and a half-written artifact is never visible."""

from pathlib import Path

from tests.chaos.scene import Scene


def blocked(folder: Path) -> Path:
    """A file in the place where the store wants a folder: nothing below it can be written, not even by root."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.touch()
    return folder


async def test_a_store_that_refuses_to_publish_is_tried_again_until_it_takes_the_files(scene: Scene) -> None:
    block = blocked(scene.stack.data_dir / "artifacts" / "artifacts")
    await scene.worker()
    await scene.submit()

    async def publishing() -> bool:
        status = await scene.status()
        return bool(status["status"] == "processing" and status["progress"]["fraction"] >= 0.7)

    while not await publishing():
        assert (await scene.status())["status"] in ("queued", "processing")
    assert scene.artifacts() == []
    block.unlink()
    await scene.assert_completed(kernel_runs=1)


async def test_a_store_that_refuses_the_geometry_does_not_cost_the_kernels_retry(scene: Scene) -> None:
    block = blocked(scene.stack.data_dir / "artifacts" / "geometry")
    await scene.worker(gate="hold_after_shape")
    await scene.submit()
    folder = await scene.at("shape")
    (folder / "go").touch()
    block.unlink()
    await scene.assert_completed(kernel_runs=1, attempt=1)
