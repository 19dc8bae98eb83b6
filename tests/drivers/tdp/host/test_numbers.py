"""A device that lies about its numbers, and what the host sends again."""

import pytest

from drivers.commands import Command, CommandKind
from drivers.driver import Resume
from drivers.framing import FrameDecoder
from drivers.tdp.codec.enums import MessageType
from drivers.tdp.codec.header import Header
from drivers.tdp.codec.session_messages import Start
from tests.drivers.tdp.device import ModelDevice
from tests.drivers.tdp.link import Faults, Link, group, up


class StartsElsewhere(ModelDevice):
    """Says no word of a gap, wherever it starts."""

    def _start(self, start: Start, now_ms: int) -> None:
        super()._start(Start(resume=None), now_ms)


def test_a_start_ahead_of_the_resume_point_is_a_gap_even_if_the_device_does_not_say_so() -> None:
    device = StartsElsewhere(next_number=20)
    device.happens(group(1), 100)
    link = Link(device)
    link.resume = Resume(device.boot.hex(), 17)
    link.connect()
    link.run(100)
    assert [report.gap for report in link.ups()] == [True]
    assert [fact.number for fact in link.facts()] == [20]


def test_facts_from_before_the_resume_point_are_not_told_again() -> None:
    device = StartsElsewhere(next_number=20)
    for number in (1, 2, 3):
        device.happens(group(number), 100 * number)
    link = Link(device)
    link.resume = Resume(device.boot.hex(), 21)
    link.connect()
    link.run(100)
    assert [report.gap for report in link.ups()] == [False]
    assert [fact.number for fact in link.facts()] == [22]
    assert link.driver.counters["repeated_facts"] == 2


@pytest.mark.parametrize("says_so", [True, False])
def test_numbers_that_begin_anew_under_the_same_boot_id_end_the_session(says_so: bool) -> None:  # noqa: FBT001
    """Else its facts would pass for repeats until their numbers were high enough, and nobody would miss them."""
    device = ModelDevice(next_number=20) if says_so else StartsElsewhere(next_number=20)
    link = Link(device)
    link.resume = Resume(device.boot.hex(), 500)
    link.connect()
    for number in range(1, 9):
        link.run(100)
        link.to_host(device.happens(group(number), link.now_ms))
    link.run(50)
    assert link.facts() == []
    (down,) = link.downs()
    assert "has lost its facts but keeps its boot id" in down.reason


def test_numbers_that_go_back_within_a_session_end_it() -> None:
    link = up(Link(ModelDevice(next_number=20)))
    link.to_host(link.device.happens(group(1), link.now_ms))
    link.to_host(link.device.happens(group(2), link.now_ms))
    link.run(100)
    link.device.ring.clear()
    link.device.next_number = link.device.unsent_number = 20
    link.to_host(link.device.happens(group(3), link.now_ms))
    link.run(50)
    assert [fact.number for fact in link.facts()] == [20, 21]
    assert "has lost its facts but keeps its boot id" in link.downs()[0].reason


def test_a_device_that_says_of_itself_that_it_has_fewer_facts_has_lost_them() -> None:
    link = up(Link(ModelDevice(next_number=20)))
    link.to_host(link.device.happens(group(1), link.now_ms))
    link.run(100)
    link.device.next_number = 20
    link.run(600)
    assert "keeps its boot id" in link.downs()[0].reason


def test_what_the_host_sends_again_is_counted() -> None:
    link = Link(ModelDevice(), faults=Faults(loss=1.0))
    link.run(2500)
    assert link.driver.counters["hellos_sent_again"] == 2
    link.faults = Faults()
    link.run(506)
    assert link.driver.counters["hellos_sent_again"] == 3
    assert "starts_sent_again" not in link.driver.counters
    link.faults = Faults(loss=1.0)
    link.run(500)
    starts = [step for step in link.sent_by_host if MessageType.START in types(step)]
    assert link.driver.counters["starts_sent_again"] == len(starts) - 1 > 1


def test_a_command_that_is_sent_again_is_counted_and_one_that_moves_cards_is_not_sent_again() -> None:
    link = up(Link(ModelDevice()))
    link.faults = Faults(loss=1.0)
    link.send(Command(id=1, kind=CommandKind.SHUFFLE))
    link.run(2100)
    assert "commands_sent_again" not in link.driver.counters
    link = up(Link(ModelDevice()))
    link.faults = Faults(loss=1.0)
    link.send(Command(id=1, kind=CommandKind.STOP))
    link.run(2100)
    sent = [step for step in link.sent_by_host if MessageType.COMMAND in types(step)]
    assert link.driver.counters["commands_sent_again"] == len(sent) - 1 == 4


def types(sent: bytes) -> list[int]:
    return [Header.from_bytes(body).message_type for body in FrameDecoder().feed(sent)]
