"""What chaos tests share: submit, see, strike, and the three things each of them asserts at the end."""

import asyncio
import hashlib
import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.processes import ROOT, Process, RunningStack, until

EXAMPLE: dict[str, Any] = json.loads((ROOT / "examples" / "bored-cylinder.json").read_text())
OPEN = ("queued", "processing", "suspended")
GATES = "tests.chaos.gates:"


@dataclass
class Scene:
    """One job in one stack."""

    stack: RunningStack
    http: httpx.AsyncClient
    job_id: str = ""

    async def submit(self, *formats: str) -> None:
        """POST a job of its own (a fresh key) for the example part."""
        request = {**EXAMPLE, "export_formats": list(formats or ("step",))}
        del request["export_format"]
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        answer = await self.http.post("/v1/models/generate", json=request, headers=headers)
        assert answer.status_code == 202, answer.text
        self.job_id = answer.json()["job_id"]

    async def status(self) -> dict[str, Any]:
        """As a client sees it now."""
        answer = await self.http.get(f"/v1/jobs/{self.job_id}")
        assert answer.status_code == 200, answer.text
        status: dict[str, Any] = answer.json()
        return status

    async def becomes(self, *states: str) -> dict[str, Any]:
        """The status, once it is one of `states`."""

        async def look() -> dict[str, Any] | None:
            status = await self.status()
            return status if status["status"] in states else None

        try:
            return await until(look, f"the job becomes {' or '.join(states)}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {await self.status()}; logs: {self.logs()[-4000:]}") from None

    async def post(self, action: str) -> httpx.Response:
        """POST /v1/jobs/…/{action}."""
        return await self.http.post(f"/v1/jobs/{self.job_id}/{action}")

    async def at(self, moment: str, not_in: Path | None = None) -> Path:
        """The scratch folder of the kernel that stands at the gate `moment`, and is another one than `not_in`."""

        async def look() -> Path | None:
            folders = (flag.parent for flag in self.scratch.glob(f"*/{self.job_id}-*/at-{moment}"))
            return next((folder for folder in folders if folder != not_in), None)

        return await until(look, f"a kernel stands at {moment}")

    @property
    def scratch(self) -> Path:
        """Where kernels have their scratch folders."""
        return self.stack.data_dir / "scratch"

    def left_in_scratch(self) -> list[Path]:
        """Scratch folders of jobs, whichever worker made them."""
        return list(self.scratch.glob("*/cad_*"))

    def worker(self, gate: str | None = None, role: str = "all", **settings: str) -> Any:
        """Start a worker, its kernel program one of gates.py if one is named."""
        program = {"PARTMILL_KERNEL_PROGRAM": GATES + gate} if gate else {}
        return self.stack.start_worker(role, **program, **settings)

    def logs(self) -> str:
        """What all workers of the stack have said."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.stack.data_dir.glob("worker-*.log")))

    def kernel_runs(self) -> int:
        """How many kernels were started for the job, by all workers."""
        return self.logs().count(f"kernel run for {self.job_id}")

    def artifacts(self) -> list[Path]:
        """The files that the store holds for the job."""
        return sorted(path for path in (self.stack.data_dir / "artifacts").rglob(f"{self.job_id}/*") if path.is_file())

    async def assert_completed(self, *, kernel_runs: int, files: int = 1, **members: Any) -> dict[str, Any]:
        """The job's end state, the count of kernel runs, the count and hashes of its artifacts."""
        status = await self.becomes("completed", "failed", "cancelled")
        assert status["status"] == "completed", status
        assert {key: status[key] for key in members} == members
        assert self.kernel_runs() == kernel_runs
        hashes = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in self.artifacts())
        assert hashes == sorted(file["sha256"] for file in status["result"]["files"])
        assert len(hashes) == files
        return status

    async def assert_failed(self, slug: str, *, kernel_runs: int) -> dict[str, Any]:
        """The job failed with that problem and published nothing."""
        status = await self.becomes("completed", "failed", "cancelled")
        assert status["status"] == "failed", status
        assert status["error"]["type"].endswith(f"/{slug}"), status
        assert (self.kernel_runs(), self.artifacts()) == (kernel_runs, [])
        return status


def descendants(pid: int) -> set[int]:
    """All live processes below `pid`."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    found: set[int] = set()
    newest = {pid}
    while newest := {child for child, parent in parents.items() if parent in newest} - found:
        found |= newest
    return found


def working_in(folder: Path, pids: set[int]) -> set[int]:
    """Those of the processes whose working directory is `folder`."""
    return {pid for pid in pids if Path(f"/proc/{pid}/cwd").resolve() == folder.resolve()}


async def all_gone(pids: set[int]) -> None:
    """Wait until none of these processes lives."""

    async def look() -> bool | None:
        return None if any(_alive(pid) for pid in pids) else True

    await until(look, f"processes {sorted(pids)} end")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def ends(process: Process) -> None:
    """Wait for the process's end and see that nothing of it is left."""
    left = descendants(process.pid)
    await process.ended()
    await all_gone(left)


def now() -> float:
    """The running loop's clock, s."""
    return asyncio.get_running_loop().time()
