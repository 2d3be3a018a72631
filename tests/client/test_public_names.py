"""What users may import; a name that disappears from here breaks them."""

from pathlib import Path

import partmill
from partmill import client, errors


def test_the_public_names_are_these() -> None:
    assert client.__all__ == [
        "DEFAULT_SERVER",
        "AsyncPartmillClient",
        "DownloadCorrupt",
        "Fault",
        "File",
        "Geometry",
        "Job",
        "JobCancelled",
        "JobFailed",
        "Kernel",
        "Model",
        "PartmillClient",
        "PartmillError",
        "Problem",
        "ProblemError",
        "Progress",
        "Request",
        "Result",
        "ServerUnreachable",
        "UnexpectedAnswer",
        "Validation",
        "WaitTimedOut",
    ]


def test_both_clients_offer_the_same_calls() -> None:
    blocking = {name for name in vars(client.PartmillClient) if not name.startswith("_")}
    assert blocking == {name for name in vars(client.AsyncPartmillClient) if not name.startswith("_")}


def test_every_error_has_the_one_base_and_stands_in_the_tree() -> None:
    raised = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert all(issubclass(error, client.PartmillError) for error in raised)
    assert all(error.__name__ in (client.__doc__ or "") for error in raised)


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(partmill.__file__).parent / "py.typed").is_file()
