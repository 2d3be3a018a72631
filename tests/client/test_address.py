"""What is no address, and what can't be sent there, is said at once and not tried."""

import pytest

from partmill.address import checked
from partmill.client import AsyncPartmillClient, PartmillClient, UnexpectedAnswer
from partmill.documents import Job
from partmill.reading import job as read_job
from tests.client.conftest import Call
from tests.client.documents import completed
from tests.client.scripted_server import ScriptedServer

NONE = [
    "",
    "127.0.0.1:8000",
    "ftp://127.0.0.1",
    "http://",
    "http://:80",
    "http://[::1",
    "http://[zz]",
    "http://127.0.0.1:8x",
    "http://127.0.0.1:70000",
    "http://exa mple",
    "http://a\x01b",
    "http://a..b",
    "http://" + "a" * 64,
    "http://\udce9.com",
    "http://127.0.0.1?x",
    "http://127.0.0.1#x",
]


@pytest.mark.parametrize("server", NONE)
def test_what_is_no_address_is_a_value_error(server: str) -> None:
    for client in (PartmillClient, AsyncPartmillClient):
        with pytest.raises(ValueError, match="is no server address"):
            client(server)


@pytest.mark.parametrize("server", ["http://127.0.0.1:8000", "https://cad.example/partmill", "http://[::1]:8000"])
def test_an_address_is_kept_without_its_last_slash(server: str) -> None:
    assert checked(server) == checked(server + "/") == server


@pytest.mark.parametrize("key", ["é", "order\n17", "order-17\n", " order", "", "\udce9"])
async def test_a_key_that_can_not_be_sent_is_a_value_error(server: ScriptedServer, call: Call, key: str) -> None:
    with pytest.raises(ValueError, match="idempotency key"):
        await call("generate", {}, key)
    assert server.requests == []


@pytest.mark.parametrize("link", ["http://[::1", "http://127.0.0.1:8x/part"])
async def test_a_link_that_leads_nowhere_is_an_unexpected_answer(
    call: Call, tmp_path_factory: pytest.TempPathFactory, link: str
) -> None:
    job: Job = read_job(completed(link=link))
    with pytest.raises(UnexpectedAnswer):
        await call("download", job, "step", tmp_path_factory.mktemp("download") / "part.step")
