"""Facts in the order of their numbers: where they begin, what is missing, and when they were."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.driver import DeviceKind, Heard, NumberedFact
from drivers.facts import CutCard, DeviceFact, Jammed
from drivers.sequence import seq_add
from drivers.tdp.codec.command_messages import Alive
from drivers.tdp.codec.fact_codec import FactCode
from drivers.tdp.codec.fact_messages import FactMessage
from drivers.tdp.codec.session_messages import Started
from drivers.tdp.host.fact_order import SIGNS_REMEMBERED, FactOrder, FactsBroken
from drivers.tdp.host.rtt import Question

BOOT = b"boot---1"
LAST = 2**32 - 1


def begun(first: int = 5, *, resume: tuple[bytes, int] | None = None) -> tuple[FactOrder, Counter[str]]:
    counts: Counter[str] = Counter()
    order = FactOrder(DeviceKind.SHOE, counts)
    assert not order.begin(BOOT, Started(gap=False, first_number=first), resume)
    return order, counts


def fact(number: int, what: DeviceFact | None = None) -> FactMessage:
    return FactMessage.of(number, what or CutCard(at_ms=number % 1000))


class TestBegin:
    def test_a_device_that_was_not_known_begins_where_it_says(self) -> None:
        order, _ = begun(5)
        assert (order.next_number, order.durable) == (5, None)

    @pytest.mark.parametrize("gap", [True, False])
    def test_what_an_unknown_device_has_lost_it_says_itself(self, gap: bool) -> None:  # noqa: FBT001
        for resume in (None, (b"boot---0", 9)):
            order = FactOrder(DeviceKind.SHOE, Counter())
            assert order.begin(BOOT, Started(gap=gap, first_number=5), resume) is gap
            assert order.durable is None

    @pytest.mark.parametrize(("last", "first"), [(4, 5), (LAST, 0)])
    def test_a_known_device_goes_on_behind_what_is_stored(self, last: int, first: int) -> None:
        order, _ = begun(first, resume=(BOOT, last))
        assert (order.next_number, order.durable) == (first, last)

    def test_a_device_that_begins_later_has_lost_facts_though_it_does_not_say_so(self) -> None:
        order = FactOrder(DeviceKind.SHOE, Counter())
        assert order.begin(BOOT, Started(gap=False, first_number=7), (BOOT, 4))
        assert order.next_number == 7

    def test_facts_that_are_stored_already_come_again_in_their_order_and_are_counted(self) -> None:
        order, counts = begun(3, resume=(BOOT, 4))
        assert order.next_number == 5
        assert [order.take(fact(number), 0) for number in (3, 4)] == [None, None]
        assert order.take(fact(5), 0) is not None
        assert counts == {"repeated_facts": 2}

    def test_numbers_that_would_come_twice_end_the_session(self) -> None:
        order = FactOrder(DeviceKind.SHOE, Counter())
        with pytest.raises(FactsBroken, match=r"^The shoe has lost its facts but keeps its boot id, .*\.$"):
            order.begin(BOOT, Started(gap=True, first_number=3), (BOOT, 4))


class TestTake:
    @given(first=st.integers(0, LAST), count=st.integers(1, 20))
    def test_each_fact_has_its_boot_id_and_number_wherever_they_begin(self, first: int, count: int) -> None:
        order, counts = begun(first)
        numbers = [seq_add(first, step, 32) for step in range(count)]
        taken = [order.take(fact(number), 2000) for number in numbers]
        assert [(told.boot, told.number) for told in taken if told is not None] == [(BOOT.hex(), n) for n in numbers]
        assert order.next_number == seq_add(first, count, 32)
        assert not counts

    def test_a_missing_fact_ends_the_session(self) -> None:
        order, _ = begun(5)
        with pytest.raises(FactsBroken, match=r"^Facts of the shoe are missing: number 7 came where 5 was due\.$"):
            order.take(fact(7), 0)

    @pytest.mark.parametrize("number", [4, 5])
    def test_a_number_that_was_there_ends_the_session(self, number: int) -> None:
        order, _ = begun(5)
        order.take(fact(5), 0)
        with pytest.raises(FactsBroken, match="their numbers would come twice"):
            order.take(fact(number), 0)

    def test_facts_that_come_again_come_all_and_in_order(self) -> None:
        order, _ = begun(2, resume=(BOOT, 4))
        order.take(fact(2), 0)
        with pytest.raises(FactsBroken, match="their numbers would come twice"):
            order.take(fact(4), 0)

    def test_before_the_session_has_begun_there_is_no_fact(self) -> None:
        with pytest.raises(FactsBroken):
            FactOrder(DeviceKind.SHOE, Counter()).take(fact(0), 0)

    def test_a_fact_of_a_newer_version_is_passed_over_and_its_number_is_used(self) -> None:
        order, counts = begun(5)
        assert order.take(FactMessage(number=5, clock_ms=0, code=0xEE, fields=b"?"), 0) is None
        assert order.take(fact(6), 0) is not None
        assert counts == {"unknown_facts": 1}

    def test_fields_of_a_newer_version_are_counted(self) -> None:
        order, counts = begun(5)
        message = fact(5)
        longer = FactMessage(number=5, clock_ms=0, code=message.code, fields=message.fields + b"\x01")
        assert order.take(longer, 0) is not None
        assert counts == {"longer_messages": 1}

    def test_a_fact_that_cannot_be_read_ends_the_session(self) -> None:
        order, _ = begun(5)
        short = FactMessage(number=5, clock_ms=0, code=FactCode.CARD_DRAWN, fields=b"\x01")
        with pytest.raises(FactsBroken, match=r"^Fact number 5 of the shoe cannot be used \(.*\): .* update it\.$"):
            order.take(short, 0)
        assert order.next_number == 5

    def test_a_fact_of_another_device_ends_the_session(self) -> None:
        order, _ = begun(5)
        with pytest.raises(FactsBroken, match=r"^Fact number 5 of the shoe .*it is a fact of a shuffler.*update it\.$"):
            order.take(fact(5, Jammed(at_ms=0)), 0)


class TestDurable:
    @pytest.mark.parametrize(("number", "passed"), [(4, True), (5, True), (6, False), (7, False)])
    def test_only_what_was_reported_can_be_stored(self, number: int, passed: bool) -> None:  # noqa: FBT001
        order, _ = begun(5)
        order.take(fact(5), 0)
        assert order.has_passed(number) is passed

    def test_nothing_was_reported_before_the_session_began(self) -> None:
        assert not FactOrder(DeviceKind.SHOE, Counter()).has_passed(0)

    def test_only_a_later_number_is_news_and_numbers_wrap(self) -> None:
        order, _ = begun(LAST)
        news = [order.committed(number) for number in (LAST, LAST, 0, LAST, 1)]
        assert news == [True, False, True, False, True]
        assert order.durable == 1

    def test_what_the_device_was_told_at_the_start_is_no_news(self) -> None:
        order, _ = begun(5, resume=(BOOT, 4))
        assert not order.committed(4)
        assert order.committed(5)


class TestHeard:
    def test_an_asked_sign_of_life_is_heard_at_or_after_the_question(self) -> None:
        """However lopsided the measured round trip was: the device read its clock after it was asked."""
        order = FactOrder(DeviceKind.SHOE, Counter())
        order.clock.measured(sent_ms=0, arrived_ms=400, device_ms=10_390)  # the answer took next to no time
        assert not order.begin(bytes(8), Started(gap=False, first_number=5), None)
        order.alive(Alive(ping=1, clock_ms=10_501, next_number=5), Question(500, 5))
        assert order.heard(502) == [Heard(500, 500)]
        told = order.take(fact(5, CutCard(at_ms=10_450)), 503)
        assert told is not None
        assert told.fact.at_ms == 500

    def test_a_sign_of_life_waits_for_every_fact_before_it(self) -> None:
        order, _ = begun(5)
        order.alive(Alive(ping=0, clock_ms=30, next_number=7), None)
        for number in (5, 6):
            assert order.heard(40) == []
            order.take(fact(number), 40)
        assert order.heard(40) == [Heard(30)]
        assert order.heard(40) == []

    def test_nothing_is_heard_before_the_session_has_begun(self) -> None:
        order = FactOrder(DeviceKind.SHOE, Counter())
        order.alive(Alive(ping=0, clock_ms=30, next_number=0), None)
        assert order.heard(40) == []

    def test_signs_of_life_do_not_pile_up(self) -> None:
        order, _ = begun(5)
        for clock_ms in range(2 * SIGNS_REMEMBERED):
            order.alive(Alive(ping=0, clock_ms=clock_ms, next_number=6), None)
        order.take(fact(5), 0)
        assert len(order.heard(1000)) == SIGNS_REMEMBERED

    def test_a_device_that_counts_from_before_the_question_has_lost_its_facts(self) -> None:
        order, _ = begun(5)
        order.alive(Alive(ping=1, clock_ms=0, next_number=5), Question(0, None))
        with pytest.raises(FactsBroken, match="has lost its facts but keeps its boot id"):
            order.alive(Alive(ping=2, clock_ms=0, next_number=4), Question(0, 5))

    @given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 50)), min_size=1, max_size=30))
    def test_times_never_go_back_and_none_is_after_its_arrival(self, steps: list[tuple[int, int]]) -> None:
        order, _ = begun(0)
        now_ms, told_ms = 0, 0
        for number, (device_ms, passed_ms) in enumerate(steps):
            now_ms += passed_ms
            told = order.take(fact(number, CutCard(at_ms=device_ms)), now_ms)
            assert isinstance(told, NumberedFact)
            assert told_ms <= told.fact.at_ms <= now_ms
            told_ms = told.fact.at_ms
