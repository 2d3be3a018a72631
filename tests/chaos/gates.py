"""Kernel programs that stop or fail at a named moment; a worker is started with one of them as its kernel program.

A gate writes `at-<phase>` into the job's scratch folder and waits there for a file `go`: tests see the moment and
strike. Everything else is the real kernel.
"""

import ctypes
import os
import time
from collections.abc import Callable

from domain.messages import Phase, Produced
from domain.ports import KernelJob, KernelNews, Progress
from kernel.work import perform

Announce = Callable[[KernelNews], None]


def _wait_at(job: KernelJob, name: str) -> None:
    (job.workdir / f"at-{name}").touch()
    while not (job.workdir / "go").exists():
        time.sleep(0.01)  # the other end is a file: nothing to be notified by inside the kernel's confinement


def _when(phase: Phase, act: Callable[[KernelJob], None]) -> Callable[[KernelJob, Announce], None]:
    """The real kernel, with `act` called once when it first announces `phase`."""

    def program(job: KernelJob, announce: Announce) -> None:
        seen: set[str] = set()

        def announce_and_act(news: KernelNews) -> None:
            announce(news)
            if isinstance(news, Progress) and news.phase == phase and phase not in seen:
                seen.add(phase)
                act(job)

        perform(job, announce_and_act)

    return program


def hold_before_work(job: KernelJob, announce: Announce) -> None:
    """Stop before the first line of the real kernel."""
    _wait_at(job, "start")
    perform(job, announce)


def hold_after_shape(job: KernelJob, announce: Announce) -> None:
    """Stop when the kept shape has been announced: its file is on its way into the store."""

    def announce_and_hold(news: KernelNews) -> None:
        announce(news)
        if isinstance(news, Produced) and news.output == "shape":
            _wait_at(job, "shape")

    perform(job, announce_and_hold)


def _crash(_: KernelJob) -> None:
    ctypes.string_at(0)


def _leave_silently(_: KernelJob) -> None:
    os._exit(0)


hold_while_building = _when("building", lambda job: _wait_at(job, "building"))
hold_while_exporting = _when("exporting", lambda job: _wait_at(job, "exporting"))
hold_while_meshing = _when("meshing", lambda job: _wait_at(job, "meshing"))
crash_while_building = _when("building", _crash)
crash_while_meshing = _when("meshing", _crash)
vanish_while_building = _when("building", _leave_silently)
