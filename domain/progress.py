"""How far a job is, as one number that never falls, whatever dies meanwhile.

Never measures anything: it orders what was measured.
"""

from domain.messages import Checkpoint, Phase

SPAN: dict[Phase, tuple[float, float]] = {
    "queued": (0.0, 0.0),
    "building": (0.0, 0.4),
    "checking": (0.4, 0.5),
    "exporting": (0.5, 0.7),
    "meshing": (0.7, 0.95),
    "publishing": (0.95, 1.0),
    "done": (1.0, 1.0),
}
"""The stretch of the whole job that each phase stands for."""


def overall(phase: Phase, fraction: float) -> float:
    """The job's fraction (0-1) when `phase` is `fraction` (0-1) done."""
    start, end = SPAN[phase]
    return start + (end - start) * min(max(fraction, 0.0), 1.0)


def furthest(*checkpoints: Checkpoint | None) -> Checkpoint:
    """What is known when several sources each know a part: the furthest of each."""
    known = [checkpoint for checkpoint in checkpoints if checkpoint is not None]
    if not known:
        return Checkpoint()
    lead = max(known, key=lambda checkpoint: checkpoint.fraction)
    starts = [c.started_at for c in known if c.started_at is not None]
    beats = [c.last_heartbeat for c in known if c.last_heartbeat is not None]
    return Checkpoint(
        phase=lead.phase,
        fraction=lead.fraction,
        committed=max(c.committed for c in known),
        attempt=max(c.attempt for c in known),
        started_at=min(starts, default=None),
        last_heartbeat=max(beats, default=None),
    )
