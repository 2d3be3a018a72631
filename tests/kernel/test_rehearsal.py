"""Idle time before a job is used, and given back as soon as the job comes."""

import os

from kernel.rehearsal import rehearse


def test_a_rehearsal_stops_when_it_is_wanted() -> None:
    asked = 0

    def after_two_steps() -> bool:
        nonlocal asked
        asked += 1
        return asked == 2

    rehearse(after_two_steps)
    assert asked == 2


def test_a_rehearsal_leaves_nothing_open() -> None:
    before = os.listdir("/proc/self/fd")
    rehearse(lambda: False)
    assert os.listdir("/proc/self/fd") == before
