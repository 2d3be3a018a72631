"""The failure table of the design: what follows an eviction, a lost worker and an overrun."""

from domain.defaults import EVICTIONS_WITHOUT_PROGRESS, KERNEL_ATTEMPTS
from domain.messages import Checkpoint
from domain.placement import Evicted, Lost, Overrun, Standing, after
from domain.problems import EvictedTooOften, KernelTimeout, WorkerLost

AT_START = Standing(checkpoint=Checkpoint())
FURTHER = Checkpoint(phase="exporting", fraction=0.6, committed=1)


def evict(standing: Standing, checkpoint: Checkpoint | None = None, attempt: int = 1) -> Standing:
    verdict = after(standing, Evicted(checkpoint=checkpoint, attempt=attempt))
    assert isinstance(verdict, Standing)
    return verdict


def test_an_eviction_costs_no_attempt() -> None:
    assert evict(AT_START).attempts_left == KERNEL_ATTEMPTS


def test_an_eviction_after_a_crash_leaves_exactly_one_attempt() -> None:
    assert evict(AT_START, attempt=2).attempts_left == 1


def test_a_second_eviction_of_the_last_attempt_still_leaves_it() -> None:
    assert evict(evict(AT_START, attempt=2), attempt=1).attempts_left == 1


def test_an_eviction_is_counted_and_its_checkpoint_kept() -> None:
    standing = evict(AT_START, FURTHER)
    assert (standing.evictions, standing.checkpoint) == (1, FURTHER)


def test_twenty_evictions_in_place_end_the_job() -> None:
    standing = AT_START
    for _ in range(EVICTIONS_WITHOUT_PROGRESS - 1):
        standing = evict(standing)
    verdict = after(standing, Evicted(checkpoint=None, attempt=1))
    assert verdict == EvictedTooOften(EVICTIONS_WITHOUT_PROGRESS)


def test_evictions_that_each_get_further_never_end_the_job() -> None:
    standing = AT_START
    for committed in range(1, 3 * EVICTIONS_WITHOUT_PROGRESS):
        standing = evict(standing, Checkpoint(committed=committed))
    assert standing.evictions == 3 * EVICTIONS_WITHOUT_PROGRESS - 1


def test_a_second_loss_in_place_ends_the_job() -> None:
    assert after(AT_START, Lost(checkpoint=Checkpoint(phase="building", fraction=0.3))) == WorkerLost()


def test_a_second_loss_after_progress_gets_two_fresh_attempts() -> None:
    verdict = after(Standing(checkpoint=Checkpoint(), attempts_left=1), Lost(checkpoint=FURTHER))
    assert isinstance(verdict, Standing)
    assert (verdict.attempts_left, verdict.waiting_after) == (KERNEL_ATTEMPTS, "worker-lost")


def test_an_overrun_of_the_servers_limit_is_a_timeout() -> None:
    assert after(AT_START, Overrun(limit_s=1200)) == KernelTimeout(1200, "queued")
