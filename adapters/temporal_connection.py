"""The connection to Temporal, by Temporal's own TEMPORAL_* variables and temporal.toml, and what it needs there.

Never holds a job: it hands out a client.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.service import RPCError, RPCStatusCode

from domain import search_attributes
from domain.problems import EngineUnavailable, Refusal

log = logging.getLogger(__name__)

TENANT = SearchAttributeKey.for_keyword(search_attributes.TENANT)
MODEL = SearchAttributeKey.for_keyword(search_attributes.MODEL)
ENGINE = SearchAttributeKey.for_keyword(search_attributes.ENGINE)
IDEMPOTENCY_KEY = SearchAttributeKey.for_keyword(search_attributes.IDEMPOTENCY_KEY)
EVICTIONS = SearchAttributeKey.for_int(search_attributes.EVICTIONS)
SEARCH_ATTRIBUTES = {
    TENANT.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    MODEL.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    ENGINE.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    IDEMPOTENCY_KEY.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    EVICTIONS.name: IndexedValueType.INDEXED_VALUE_TYPE_INT,
}

RPC_TIMEOUT = timedelta(seconds=5)
"""A call that takes longer is a server in trouble: the caller is told so."""

FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 2.0
"""A dev server that is just starting answers within half a second; a production one may take long."""


async def connect() -> Client:
    """A client that may not have reached the server yet: its first call connects.

    Raises:
        OSError, ValueError: `temporal.toml` or a TEMPORAL_* variable can't be used.
    """
    return await Client.connect(**_configuration(), data_converter=pydantic_data_converter, lazy=True)


async def reach() -> Client:
    """A client of a server that answers and has our search attributes, however long that takes.

    Raises:
        OSError, ValueError: as `connect`.
    """
    wait_s = FIRST_WAIT_S
    while True:
        client = await _reached()
        if client is not None and await prepared(client):
            return client
        await asyncio.sleep(wait_s)
        wait_s = min(2 * wait_s, LONGEST_WAIT_S)


async def _reached() -> Client | None:
    try:
        return await Client.connect(**_configuration(), data_converter=pydantic_data_converter)
    except RuntimeError as error:
        log.debug("Temporal does not answer: %s", error)
        return None


PASSING = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.ABORTED,
        RPCStatusCode.UNKNOWN,  # a connection that broke in the middle of a call
    }
)
"""What a server says that is in trouble, or can't be reached; anything else is a mistake of ours."""


@contextmanager
def engine_answers() -> Iterator[None]:
    """Turns a server that does not answer into a problem; what it answers, errors included, passes.

    Raises:
        Refusal: `EngineUnavailable`.
    """
    try:
        yield
    except RPCError as error:
        if error.status not in PASSING:
            raise
        raise Refusal(EngineUnavailable()) from error
    except RuntimeError as error:
        # How a lazy client says that it could not connect.
        raise Refusal(EngineUnavailable()) from error


def _configuration() -> ClientConnectConfig:
    return ClientConfig.load_client_connect_config()


async def prepared(client: Client) -> bool:
    """Whether the server answers now and, by now, has our search attributes.

    A search attribute named at the server's start is not added to a database that exists already: hence here.
    """
    try:
        await _ensure_search_attributes(client)
    except (RPCError, RuntimeError) as error:
        log.debug("Temporal does not answer: %s", error)
        return False
    return True


async def _ensure_search_attributes(client: Client) -> None:
    operator = client.operator_service
    request = ListSearchAttributesRequest(namespace=client.namespace)
    known = await operator.list_search_attributes(request, timeout=RPC_TIMEOUT)
    missing = {name: kind for name, kind in SEARCH_ATTRIBUTES.items() if name not in known.custom_attributes}
    if not missing:
        return
    try:
        await operator.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing), timeout=RPC_TIMEOUT
        )
    except RPCError as error:
        # Another process of ours was quicker: the attributes are there, which is all we want.
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            raise
