"""The kernel's one way of saying no: a check that failed, with what was expected and what was found.

Never checks anything itself.
"""

from domain.problems import GeometryVerificationFailed, Refusal


def insist(holds: bool, check: str, expected: object, found: object, file_format: str | None = None) -> None:
    """Raises Refusal with `geometry-verification-failed` unless `holds`."""
    if not holds:
        raise Refusal(GeometryVerificationFailed(check, str(expected), str(found), file_format))
