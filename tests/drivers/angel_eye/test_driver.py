"""The host's end with a simulated shoe: sessions, draws, questions, locks and every way in which it ends."""

from random import Random

import pytest

from drivers.angel_eye.command_queue import ANSWER_MS, CONFIRM_MS, MOST_WAITING, QUIET_MS
from drivers.angel_eye.driver import ALARM_AGAIN_MS, HANDSHAKE_MS, POLL_MS, SILENCE_MS, AngelEyeDriver
from drivers.angel_eye.telegrams import Bcc, command_bytes
from drivers.cards import FULL_DECK, Card
from drivers.commands import CommandKind, Outcome
from drivers.driver import Alarm, CommandReport, DeviceKind, Driver, Heard, LinkDown, LinkUp, NumberedFact, Resume
from drivers.errors import DriverNameError
from drivers.facts import CardDrawn, CutCard
from drivers.plugins import make_driver
from simulator.firmware.angel_eye import Careless
from tests.drivers.angel_eye.wire import Line, told

QUESTION = command_bytes("GP", 0)


def drawn(card: Card | None) -> CardDrawn:
    return CardDrawn(at_ms=0, draw=1, card=card, face="down")


def test_a_session_begins_with_the_answered_question_and_a_gap() -> None:
    line = Line()
    driver: Driver = line.driver
    line.open()
    assert line.sent == [QUESTION]
    assert line.reports == []
    line.run(40)
    up, heard = line.reports
    assert isinstance(up, LinkUp)
    assert (up.gap, up.boot, up.claims.model) == (True, b"12345678".hex(), "Angel Eye")
    assert heard == Heard(line.now_ms)
    assert driver.counters == line.driver.counters


def test_draws_are_numbered_by_the_connection_and_come_once() -> None:
    line = Line()
    line.up()
    for card in FULL_DECK:
        line.from_shoe(line.shoe.report(drawn(card)))
        line.run(30)
    line.from_shoe(line.shoe.report(CutCard(at_ms=0)))
    line.run(30)
    assert line.cards == [str(card) for card in FULL_DECK]
    assert [report.number for report in line.facts] == list(range(1, 54))
    assert [report.fact.draw for report in line.facts[:-1]] == list(range(1, 53))  # type: ignore[union-attr]
    assert {report.boot for report in line.facts} == {b"12345678".hex()}
    assert isinstance(line.facts[-1].fact, CutCard)
    assert line.facts[0].fact.at_ms <= line.now_ms


@pytest.mark.parametrize("seed", range(20))
def test_a_careless_shoe_loses_and_doubles_nothing(seed: int) -> None:
    chance = Random(seed)
    line = Line(copies=Careless(chance, drop=0.3, cut=0.3))
    line.up()
    cards: list[Card | None] = [chance.choice([*FULL_DECK, None]) for _ in range(60)]
    for card in cards:
        line.from_shoe(line.shoe.report(drawn(card)))
        line.run(chance.randrange(60))
    line.run(50)
    assert line.downs == []
    assert line.cards == [None if card is None else str(card) for card in cards]


def test_what_is_told_before_the_session_is_no_fact_and_neither_are_its_copies() -> None:
    line = Line()
    line.open()
    line.hear(told("1", "D", "81B8", copies=1) + b"\x06" + told("1", "D", "81B8", copies=2))
    assert [type(report) for report in line.reports] == [LinkUp, Heard]
    assert line.facts == []
    assert line.driver.counters["before_the_session"] == 1
    line.hear(told("3", "D", "82C1"))
    assert line.cards == ["Ah"]


def test_a_question_vouches_for_the_time_it_was_asked_at() -> None:
    line = Line()
    line.up()
    line.run(500)
    asked_ms = line.now_ms
    line.take(line.driver.ask(asked_ms))
    line.run(45)
    assert [report for report in line.reports if isinstance(report, Heard)] == [Heard(asked_ms, asked_at_ms=asked_ms)]


def test_a_question_vouches_for_nothing_while_a_damaged_telegram_waits_for_a_good_copy() -> None:
    line = Line()
    line.up()
    line.hear(told("1", "D", "81B8", copies=1)[:5])
    line.run(POLL_MS + 100)
    assert len(line.sent) == 2
    assert line.reports == []
    line.run(POLL_MS)
    assert [type(report) for report in line.reports] == [Heard]


def test_a_telegram_in_two_damaged_copies_is_a_gap_as_soon_as_another_one_follows() -> None:
    line = Line()
    line.up()
    line.hear(told("1", "D", "81B8", copies=1)[:5] * 2 + told("2", "D", "82C1"))
    assert [type(report) for report in line.reports] == [LinkDown]
    assert "a telegram came in damaged copies alone" in line.downs[0].reason


@pytest.mark.parametrize("copies", [1, 2])
def test_a_shoe_that_says_nothing_but_acknowledgements_is_not_in_doubt_for_ever(copies: int) -> None:
    line = Line()
    line.up()
    line.deaf = True
    line.hear(told("1", "D", "81B8", copies=1)[:5] * copies)
    for _ in range(4):
        line.run(POLL_MS - line.delay_ms)
        line.hear(b"\x06")
        line.run(line.delay_ms)
    assert bool(line.downs) is (copies == 2)
    if copies == 1:
        assert [type(report) for report in line.reports] == [Heard] * 2


def test_a_lock_is_accepted_and_finished_when_the_shoe_tells_its_state() -> None:
    line = Line()
    line.up()
    line.send(CommandKind.LOCK, 7)
    line.send(CommandKind.UNLOCK, 8)
    line.run(200)
    assert line.lock.moves == [CommandKind.LOCK, CommandKind.UNLOCK]
    assert line.outcomes == [
        CommandReport(7, Outcome.ACCEPTED),
        CommandReport(7, Outcome.FINISHED),
        CommandReport(8, Outcome.ACCEPTED),
        CommandReport(8, Outcome.FINISHED),
    ]


def test_a_lock_that_is_accepted_but_never_told_of_is_unknown() -> None:
    line = Line()
    line.up()
    line.deaf = True
    line.send(CommandKind.LOCK)
    line.hear(b"\x06")
    line.hear(told("9", "L", "80"))
    line.run(line.delay_ms)
    line.deaf = False
    line.run(CONFIRM_MS)
    assert [report.outcome for report in line.outcomes] == [Outcome.ACCEPTED, Outcome.UNKNOWN]
    assert line.downs == []


def test_a_refused_command_says_the_code() -> None:
    line = Line()
    line.up()
    line.deaf = True
    line.send(CommandKind.LOCK)
    line.hear(b"\x154")
    assert line.outcomes == [CommandReport(1, Outcome.REFUSED, "the shoe refused it (code 4)")]


@pytest.mark.parametrize(
    "kind", [CommandKind.SHUFFLE, CommandKind.DISPENSE_GROUP, CommandKind.STOP, CommandKind.RESUME]
)
def test_a_command_that_no_shoe_knows_is_never_sent(kind: CommandKind) -> None:
    line = Line()
    line.up()
    sent = len(line.sent)
    line.send(kind)
    assert [report.outcome for report in line.outcomes] == [Outcome.REFUSED]
    assert len(line.sent) == sent


def test_a_report_of_state_is_a_question() -> None:
    line = Line()
    line.up()
    line.send(CommandKind.REPORT_STATE)
    line.run(50)
    assert [report.outcome for report in line.outcomes] == [Outcome.ACCEPTED, Outcome.FINISHED]


def test_one_command_is_under_way_at_a_time() -> None:
    line = Line()
    line.up()
    line.deaf = True
    before = len(line.sent)
    for number in range(MOST_WAITING + 3):
        line.send(CommandKind.LOCK, number)
    assert len(line.sent) == before + 1
    assert [report.outcome for report in line.outcomes] == [Outcome.REFUSED] * 2


def test_f32_an_answer_that_comes_late_is_not_taken_for_the_next_one() -> None:
    line = Line()
    line.up()
    line.deaf = True
    line.send(CommandKind.LOCK, 1)
    line.send(CommandKind.UNLOCK, 2)
    sent = len(line.sent)
    line.run(ANSWER_MS)
    assert line.outcomes == [CommandReport(1, Outcome.UNKNOWN, "the shoe did not answer the command")]
    line.run(QUIET_MS // 2)
    line.hear(b"\x06")
    assert len(line.sent) == sent
    assert len(line.outcomes) == 1
    assert line.driver.counters["unasked_answers"] == 1
    line.deaf = False
    line.run(QUIET_MS + 200)
    assert [report.outcome for report in line.outcomes if report.command_id == 2] == [
        Outcome.ACCEPTED,
        Outcome.FINISHED,
    ]
    assert line.lock.moves == [CommandKind.UNLOCK]


def test_f37_a_command_under_way_when_the_link_ends_is_unknown_and_one_that_waits_was_never_sent() -> None:
    line = Line()
    line.up()
    line.deaf = line.dumb = True
    line.run(SILENCE_MS - ANSWER_MS)
    for command_id in (1, 2, 3):
        line.send(CommandKind.LOCK, command_id)
    line.run(2 * SILENCE_MS)
    assert isinstance(line.reports[-1], LinkDown)
    ends = {report.command_id: report.outcome for report in line.outcomes}
    assert ends[1] is Outcome.UNKNOWN
    assert ends[3] is Outcome.REFUSED
    assert line.driver.wake_at_ms is None


def test_commands_without_a_session_are_refused() -> None:
    line = Line()
    line.open()
    line.send(CommandKind.LOCK)
    assert [report.outcome for report in line.outcomes] == [Outcome.REFUSED]


def test_a_shoe_that_falls_silent_is_lost() -> None:
    line = Line()
    line.up()
    line.run(10 * SILENCE_MS)
    assert line.downs == []
    line.dumb = True
    line.run(SILENCE_MS + POLL_MS)
    assert [down.reason for down in line.downs] == ["The shoe has said nothing for 5 s: check its cable and its power."]
    assert not line.downs[0].final
    line.dumb = False
    line.from_shoe(line.shoe.report(drawn(Card("Ah"))))
    line.run(SILENCE_MS)
    assert line.facts == []
    assert len(line.downs) == 1


@pytest.mark.parametrize(
    ("heard", "words"),
    [
        (b"", "Silence: nothing came from the shoe within 10 s"),
        (b"\xff\x00junk", "Junk instead of telegrams: bytes came within 10 s and no telegram of a shoe: check"),
        (
            told("1", "P"),
            'answered no question within 10 s: check the wire that leads to it, then try the driver "angel',
        ),
    ],
)
def test_a_session_that_does_not_begin_says_why(heard: bytes, words: str) -> None:
    line = Line()
    line.deaf = True
    line.open()
    line.hear(heard)
    line.run(HANDSHAKE_MS)
    assert words in line.downs[0].reason
    assert len(line.reports) == 1


@pytest.mark.parametrize(("driver", "shoe"), [(Bcc.WITHOUT_STX, Bcc.WITH_STX), (Bcc.WITH_STX, Bcc.WITHOUT_STX)])
def test_the_wrong_check_character_names_the_other_driver(driver: Bcc, shoe: Bcc) -> None:
    line = Line(driver_bcc=driver, shoe_bcc=shoe)
    line.open()
    line.run(HANDSHAKE_MS)
    other = "angel_eye_with_stx" if driver is Bcc.WITHOUT_STX else "angel_eye"
    assert line.downs[0].reason == f'The shoe refuses the question how it is, code 1: try the driver "{other}".'


@pytest.mark.parametrize("bcc", Bcc)
def test_either_check_character_serves(bcc: Bcc) -> None:
    line = Line(driver_bcc=bcc, shoe_bcc=bcc)
    line.up()
    line.send(CommandKind.LOCK)
    line.run(100)
    assert line.outcomes[-1] == CommandReport(1, Outcome.FINISHED)


@pytest.mark.parametrize(
    ("heard", "words"),
    [
        (told("1", "D", "81B8") + told("2", "R", "82C1"), "sent a draw again that had not been told"),
        (told("1", "D", "81B8") + told("1", "D", "82C1"), "two copies of one telegram differ"),
        (told("1", "D", "81B8") + told("C", "S"), "the shoe began anew"),
        (told("1", "D", "81B8") + told("2", "D", "82"), "a telegram cannot be understood"),
        (told("1", "D", "81B8") + (told("2", "D", "82C1", copies=1)[:-1] + b"0") * 3, "came damaged"),
    ],
    ids=["sent again", "differing copies", "began anew", "malformed", "all damaged"],
)
def test_lost_draws_end_the_connection_so_that_the_next_one_begins_with_a_gap(heard: bytes, words: str) -> None:
    line = Line()
    line.up()
    line.hear(heard)
    assert line.cards == ["8s"]
    (down,) = line.downs
    assert words in down.reason
    assert line.reports[-1] is down
    line.hear(told("4", "D", "84C1"))
    assert line.cards == ["8s"]


def test_other_cards_and_errors_alarm_each_of_its_own_and_seldom() -> None:
    line = Line()
    line.up()
    line.hear(told("1", "d", "91B8") + told("2", "E", "82") + told("3", "d", "91B8"))
    expected = [
        Alarm(f"The shoe told of {what}: look at it, and at the cards on the table.")
        for what in ("a card drawn outside a game", "error 2 (overdraw)")
    ]
    assert line.alarms == expected
    line.run(ALARM_AGAIN_MS)
    line.hear(told("4", "E", "82") + told("5", "E", "82"))
    assert line.alarms == [*expected, expected[1]]
    assert line.facts == []
    assert line.downs == []


def test_a_later_connection_knows_nothing_of_an_earlier_one() -> None:
    line = Line()
    line.open(resume=Resume("an earlier connection", 3_000))
    line.run(100)
    line.hear(told("1", "D", "81B8"))
    (fact,) = line.facts
    assert (fact.boot, fact.number) == (b"12345678".hex(), 1)
    assert line.driver.durable(1, line.now_ms).reports == ()


@pytest.mark.parametrize(("bcc", "name"), [(Bcc.WITHOUT_STX, "angel_eye"), (Bcc.WITH_STX, "angel_eye_with_stx")])
def test_a_key_ends_it_for_good(bcc: Bcc, name: str) -> None:
    line = Line(driver_bcc=bcc)
    line.open(key=bytes(32))
    assert [(down.final, down.reason) for down in line.downs] == [
        (True, f"A shoe with the driver {name} knows no keys: take its key out of the configuration.")
    ]
    assert line.sent == []
    line.run(2 * HANDSHAKE_MS)
    assert len(line.reports) == 1


@pytest.mark.parametrize("name", ["angel_eye", "angel_eye_with_stx"])
def test_the_registry_makes_it_for_a_shoe_without_a_serial_number(name: str) -> None:
    assert isinstance(make_driver(name, DeviceKind.SHOE, None), AngelEyeDriver)
    with pytest.raises(DriverNameError, match=f'the driver "{name}" is for a shoe, not for a layout: name another'):
        make_driver(name, DeviceKind.LAYOUT, None)
    with pytest.raises(DriverNameError, match="take serial_number out"):
        make_driver(name, DeviceKind.SHOE, "S-1")


def test_every_report_of_a_fact_is_a_numbered_one() -> None:
    line = Line()
    line.up()
    line.hear(told("1", "D", "81B8") + told("2", "C"))
    assert [type(report) for report in line.reports] == [NumberedFact, NumberedFact]
