"""What the devices of a bench have told the daemon: read from its recordings of their ports while these grow."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from drivers.driver import DeviceKind
from drivers.facts import (
    CardDrawn,
    CardExposed,
    CutCard,
    DeviceFact,
    DoorClosed,
    DoorOpened,
    GroupReady,
    GroupTaken,
    SeatCount,
    ShoeLoaded,
    ShuffleCompleted,
    StubCounted,
)
from drivers.tdp.host.recording import TdpRecording
from drivers.transports.pcapng import CaptureError, read_capture
from simulator.people.script import JsonObject
from tests.hil.bench.waiting import BenchFaultError

MAY_COME_BETWEEN: Final = (DoorOpened, DoorClosed, CutCard)
"""What handling a machine causes by the way."""
EVENTS_SHOWN: Final = 40
UNTOLD: Final = frozenset({"seq", "round", "event", "card", "hand"})


class Reported:
    """One device. `folder` is where the daemon records it."""

    def __init__(self, kind: DeviceKind, folder: Path) -> None:
        self._kind = kind
        self._folder = folder
        self._recording = TdpRecording()
        self._read: dict[tuple[Path, int], int] = {}
        self._sizes: dict[Path, int] = {}
        self._waiting: list[DeviceFact] = []
        self._levels: dict[object, int] = {}
        self._awaited_levels: dict[object, int] = {}

    @property
    def files(self) -> list[Path]:
        return sorted(self._folder.glob("*.pcapng"))

    def met(self, wanted: DeviceFact) -> bool:
        """Whether the device has reported it, after all that was met before. Raises BenchFaultError for another.

        The count of a place is met once it has come that far: sensors may settle in one step or in three.
        """
        self._look()
        if isinstance(wanted, SeatCount):
            return self._level_met(wanted)
        while self._waiting and isinstance(self._waiting[0], MAY_COME_BETWEEN) and not same(wanted, self._waiting[0]):
            del self._waiting[0]
        if not self._waiting:
            return False
        told = self._waiting.pop(0)
        if not same(wanted, told):
            raise BenchFaultError(
                f"the {self._kind.value} reported {in_words(told)} where {in_words(wanted)} was awaited"
            )
        return True

    def left(self) -> list[DeviceFact]:
        """What it has reported and nobody has awaited, apart from what handling causes."""
        self._look()
        return [fact for fact in self._waiting if not isinstance(fact, MAY_COME_BETWEEN)]

    def _level_met(self, wanted: SeatCount) -> bool:
        before = self._awaited_levels.get(wanted.seat, 0)
        level = self._levels.get(wanted.seat, 0)
        met = level >= wanted.cards if wanted.cards > before else level <= wanted.cards
        if met:
            self._awaited_levels[wanted.seat] = wanted.cards
        return met

    def _look(self) -> None:
        for file in self.files:
            size = file.stat().st_size
            if size == self._sizes.get(file):
                continue
            self._sizes[file] = size
            try:
                connections = read_capture(file)
            except CaptureError:
                continue  # nothing stands in it yet
            for number, connection in enumerate(connections):
                seen = self._read.get((file, number), 0)
                for piece in connection.pieces[seen:]:
                    if piece.to_host:
                        self._sort(self._recording.feed(piece.data))
                self._read[file, number] = len(connection.pieces)

    def _sort(self, facts: list[DeviceFact]) -> None:
        for fact in facts:
            if isinstance(fact, SeatCount):
                self._levels[fact.seat] = fact.cards
            else:
                self._waiting.append(fact)


def same(wanted: DeviceFact, told: DeviceFact) -> bool:
    """Whether it is the fact that was awaited; which card it is nobody can know beforehand, nor when it comes."""
    match wanted, told:
        case ShuffleCompleted(), ShuffleCompleted():
            return (wanted.cards, wanted.mode) == (told.cards, told.mode)
        case GroupReady(), GroupReady():
            return (wanted.group, wanted.cards) == (told.group, told.cards)
        case GroupTaken(), GroupTaken():
            return wanted.group == told.group
        case CardDrawn(), CardDrawn():
            return (wanted.card is None, wanted.face) == (told.card is None, told.face)
        case CardExposed(), CardExposed():
            return wanted.seat == told.seat
        case (ShoeLoaded() | StubCounted(), ShoeLoaded() | StubCounted()):
            return type(wanted) is type(told) and wanted.cards == told.cards
        case _:
            return type(wanted) is type(told)


def in_words(fact: DeviceFact) -> str:
    match fact:
        case ShuffleCompleted():
            return f"{fact.mode} completed with {fact.cards} cards"
        case GroupReady():
            return f"group {fact.group} ready with {fact.cards} cards"
        case GroupTaken():
            return f"group {fact.group} taken"
        case CardDrawn():
            unread = ", which could not be read" if fact.card is None else ""
            return f"a card drawn face {fact.face}{unread}"
        case SeatCount():
            return f"{fact.cards} cards at {place_in_words(fact.seat)}"
        case CardExposed():
            return f"a card face up at {place_in_words(fact.seat)}"
        case ShoeLoaded() | StubCounted():
            return f"{fact.cards} cards {'in the shoe' if isinstance(fact, ShoeLoaded) else 'left'}"
        case _:
            name: str = type(fact).__struct_config__.tag  # type: ignore[assignment]
            return name.replace("_", " ")


def place_in_words(place: object) -> str:
    return "the dealer's place" if place == "dealer" else f"seat {place}"


def told_lines(events: Sequence[JsonObject]) -> list[str]:
    """The feed's last events by name, with what stands in them as far as it cannot show a card."""
    return [_told_line(event) for event in events[-EVENTS_SHOWN:]]


def _told_line(event: JsonObject) -> str:
    shown = [
        f"{name}={value}"
        for name, value in event.items()
        if name not in UNTOLD and isinstance(value, str | int | float) and value != ""
    ]
    return f"{event['seq']:5} round {event['round']}  {event['event']}  {' '.join(shown)}".rstrip()
