"""What a download link's signature covers, and when it expires (contract rule 27)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.links import check_link, link_expiry, signature_of
from domain.messages import StoreKey
from domain.problems import LinkExpired, LinkForged, Refusal

SECRET = b"s" * 32
KEY = StoreKey("artifacts/local/cad_1/part.step")
EXPIRY = datetime(2024, 10, 25, 8, 30, tzinfo=UTC)
EXPIRES = str(int(EXPIRY.timestamp()))
SIGNATURE = signature_of(SECRET, KEY, "part.step", EXPIRES)
SECOND = timedelta(seconds=1)


def test_an_own_link_is_good_until_it_expires() -> None:
    check_link(SECRET, KEY, "part.step", EXPIRES, SIGNATURE, EXPIRY - SECOND)


@pytest.mark.parametrize("late", [timedelta(0), SECOND, timedelta(days=400)])
def test_an_expired_link_says_so(late: timedelta) -> None:
    with pytest.raises(Refusal) as caught:
        check_link(SECRET, KEY, "part.step", EXPIRES, SIGNATURE, EXPIRY + late)
    assert caught.value.problem == LinkExpired()


@pytest.mark.parametrize(
    "link",
    [
        (b"t" * 32, KEY, "part.step", EXPIRES, SIGNATURE),
        (SECRET, StoreKey("artifacts/local/cad_2/part.step"), "part.step", EXPIRES, SIGNATURE),
        (SECRET, KEY, "part.exe", EXPIRES, SIGNATURE),
        (SECRET, KEY, "part.step", str(int(EXPIRES) + 9999), SIGNATURE),
        (SECRET, KEY, "part.step", "0", SIGNATURE),
        (SECRET, KEY, "part.step", "+" + EXPIRES, SIGNATURE),
        (SECRET, KEY, "part.step", "", ""),
        (SECRET, KEY, "part.step", EXPIRES, SIGNATURE.upper()),
        (SECRET, KEY, "part.step", EXPIRES, SIGNATURE[:-1]),
        (SECRET, KEY, "part.step", EXPIRES, "ä"),
    ],
    ids=["secret", "key", "name", "later", "earlier", "spelling", "nothing", "case", "shorter", "non-ascii"],
)
@pytest.mark.parametrize("late", [-SECOND, SECOND])
def test_a_changed_link_is_forged_and_never_called_expired(
    link: tuple[bytes, StoreKey, str, str, str], late: timedelta
) -> None:
    with pytest.raises(Refusal) as caught:
        check_link(*link, EXPIRY + late)
    assert caught.value.problem == LinkForged()


def test_key_and_name_can_not_trade_characters() -> None:
    one = signature_of(SECRET, StoreKey("a"), 'b", "c', "1")
    assert one != signature_of(SECRET, StoreKey('a", "b'), "c", "1")


MOMENTS = st.integers(1_600_000_000, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds + 0.25, UTC))


@given(MOMENTS, st.integers(2, 10**6))
def test_a_link_always_has_half_its_life_left(now: datetime, lifetime_s: int) -> None:
    left = (link_expiry(now, lifetime_s) - now).total_seconds()
    assert lifetime_s // 2 <= left <= lifetime_s


@given(MOMENTS)
def test_within_half_a_life_the_link_stays_the_same(now: datetime) -> None:
    window = int(now.timestamp()) // 1800
    again = datetime.fromtimestamp(window * 1800 + 1799, UTC)
    assert link_expiry(now, 3600) == link_expiry(again, 3600)
