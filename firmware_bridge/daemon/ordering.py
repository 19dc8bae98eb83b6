"""In which order the facts of several devices come before the core: by their time, as soon as the time is certain.

A fact waits until every other device is known to have nothing earlier to tell, at the latest PATIENCE_MS while all
are connected. While a device is lost, what lies after its last word waits for it; people and the shell wait GRACE_MS
for it to come back, as it does after a restart or a loose plug, and no longer: the floor must be able to rule.
"""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from drivers.driver import Heard
from drivers.facts import Fact
from firmware_bridge.journal.rows import Origin

PATIENCE_MS: Final = 50
GRACE_MS: Final = 3_000
NEVER: Final = -1
OPERATOR: Final = "operator"
BRIDGE: Final = "bridge"
NOT_DEVICES: Final = (OPERATOR, BRIDGE)

# At equal times the cause comes first: a card passes the reader, its group is ready, it lies at its place.
_TURN: Final = {"shoe": 0, "shuffler": 1, "layout": 2, "bridge": 3, "operator": 4}
_LAST_TURN: Final = len(_TURN)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A fact received and not yet applied. `arrived_at_ms` is the table's time at its arrival, or at this start."""

    received: int
    origin: Origin
    fact: Fact
    arrived_at_ms: int

    @property
    def from_device(self) -> bool:
        """It was reported by a device, and not by a person or the daemon."""
        return self.origin.device not in NOT_DEVICES

    @property
    def sort_key(self) -> tuple[int, int, int]:
        """By time, then cause before effect, then receipt."""
        return (self.fact.at_ms, _TURN.get(getattr(self.fact, "source", ""), _LAST_TURN), self.received)


@dataclass(slots=True)
class _Link:
    """What is known of a device's time, all on the table's clock.

    `down_at_ms`: when it was lost, or this run began. `back_at_ms`: when it first said how far it is since it was
    connected; until then it may have much to catch up on.
    """

    live: bool = False
    down_at_ms: int = NEVER
    up_at_ms: int = NEVER
    back_at_ms: int | None = None
    heard_at_ms: int = NEVER
    fact_at_ms: int = NEVER
    asked_at_ms: int = NEVER

    def certain_at_ms(self, at_ms: int, since_ms: int) -> int | None:
        """When it is sure enough that nothing earlier than `at_ms` comes any more; None while nobody can say."""
        if self.heard_at_ms >= at_ms:
            return NEVER
        if not self.live or self.back_at_ms is None:
            return None
        return max(since_ms, self.back_at_ms) + PATIENCE_MS


class Order:
    """The facts that wait, and what is known of the devices they wait for."""

    def __init__(self, devices: Iterable[str]) -> None:
        self._links = {device: _Link() for device in devices}
        self._waiting: list[Waiting] = []

    def live(self, device: str) -> bool:
        """The device has a link now, and may have something earlier to report."""
        return device in self._links and self._links[device].live

    @property
    def lost(self) -> tuple[str, ...]:
        """The devices that are not connected."""
        return tuple(device for device, link in self._links.items() if not link.live)

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """In the order in which they are going to be applied, as far as is known now."""
        return tuple(self._waiting)

    def start(self, now_ms: int) -> None:
        """A run begins: no device is connected yet."""
        for device in self._links:
            self.link_down(device, now_ms)

    def link_up(self, device: str, now_ms: int) -> None:
        """The device reports from now on."""
        link = self._links[device]
        link.live, link.up_at_ms, link.back_at_ms = True, now_ms, None

    def link_down(self, device: str, now_ms: int) -> None:
        """Nothing comes from the device until its next link."""
        link = self._links[device]
        link.live, link.down_at_ms = False, now_ms

    def heard(self, device: str, word: Heard, now_ms: int) -> None:
        """An answer was given after its question was asked, so the device is past that time by any clock."""
        link = self._links[device]
        asked_at_ms = NEVER if word.asked_at_ms is None else word.asked_at_ms
        reached_ms = min(max(word.at_ms, asked_at_ms), now_ms)
        link.heard_at_ms = max(link.heard_at_ms, reached_ms)
        if link.back_at_ms is None and reached_ms >= link.up_at_ms:
            link.back_at_ms = now_ms

    def stamp(self, device: str, at_ms: int, now_ms: int) -> int:
        """A device's fact at `at_ms`, by what is certain: not after now, not before what the device told earlier.

        Another fact may follow within the same millisecond, so the device is heard up to the one before.
        """
        link = self._links[device]
        stamped_ms = max(0, min(max(at_ms, link.heard_at_ms, link.fact_at_ms), now_ms))
        link.fact_at_ms = stamped_ms
        link.heard_at_ms = max(link.heard_at_ms, stamped_ms - 1)
        return stamped_ms

    def add(self, waiting: Waiting) -> None:
        """A fact waits for its turn."""
        link = self._links.get(waiting.origin.device)
        if link is not None:
            link.fact_at_ms = max(link.fact_at_ms, waiting.fact.at_ms)
        bisect.insort(self._waiting, waiting, key=lambda one: one.sort_key)

    def take(self, now_ms: int) -> Waiting | None:
        """The next fact whose turn has come, or None."""
        if self._given_up(now_ms):
            for place, one in enumerate(self._waiting):
                if not one.from_device:
                    return self._waiting.pop(place)
        if self._waiting:
            first = self._waiting[0]
            due_at_ms = self._due_at_ms(first.fact.at_ms, first.arrived_at_ms, first.origin.device)
            if due_at_ms is not None and due_at_ms <= now_ms:
                return self._waiting.pop(0)
        return None

    def passed(self, at_ms: int, now_ms: int) -> bool:
        """Whether nothing from before `at_ms`, a time that has come, is still waited for."""
        if self._given_up(now_ms):
            return True
        due_at_ms = self._due_at_ms(at_ms, at_ms, "")
        return not self._before(at_ms) and due_at_ms is not None and due_at_ms <= now_ms

    def to_ask(self, limit_at_ms: int | None, now_ms: int) -> tuple[str, ...]:
        """The devices whose word is needed and that were not asked since it is: for the facts waiting, and for a
        time limit once it has come. They count as asked now.
        """
        asked = []
        for device, link in self._links.items():
            since_ms = [
                one.arrived_at_ms
                for one in self._waiting
                if one.origin.device != device and link.heard_at_ms < one.fact.at_ms
            ]
            if limit_at_ms is not None and link.heard_at_ms < limit_at_ms <= now_ms:
                since_ms.append(limit_at_ms)
            if link.live and link.back_at_ms is None:
                since_ms.append(link.up_at_ms)
            if link.live and since_ms and link.asked_at_ms < max(*since_ms, link.up_at_ms):
                link.asked_at_ms = now_ms
                asked.append(device)
        return tuple(asked)

    def wake_at_ms(self, limit_at_ms: int | None, now_ms: int) -> int | None:
        """When `take` or `passed` may have another answer though nothing was heard; None: not before something is."""
        due_at_ms: list[int | None] = []
        if limit_at_ms is not None and limit_at_ms > now_ms:
            due_at_ms.append(limit_at_ms)
        elif limit_at_ms is not None and not self._before(limit_at_ms):
            due_at_ms.append(self._due_at_ms(limit_at_ms, limit_at_ms, ""))
        if self._waiting:
            first = self._waiting[0]
            due_at_ms.append(self._due_at_ms(first.fact.at_ms, first.arrived_at_ms, first.origin.device))
        if (limit_at_ms is not None and limit_at_ms <= now_ms) or not all(one.from_device for one in self._waiting):
            due_at_ms.append(self._gives_up_at_ms())
        return min((at_ms for at_ms in due_at_ms if at_ms is not None), default=None)

    def _gives_up_at_ms(self) -> int | None:
        """When people and the shell wait no longer for a device that is lost; None while none is."""
        return min((link.down_at_ms + GRACE_MS for link in self._links.values() if not link.live), default=None)

    def _given_up(self, now_ms: int) -> bool:
        at_ms = self._gives_up_at_ms()
        return at_ms is not None and at_ms <= now_ms

    def _before(self, at_ms: int) -> bool:
        return bool(self._waiting) and self._waiting[0].fact.at_ms <= at_ms

    def _due_at_ms(self, at_ms: int, since_ms: int, but: str) -> int | None:
        """When every device except `but` is past `at_ms` for certain; None while one of them is out of reach."""
        latest_ms = NEVER
        for device, link in self._links.items():
            if device != but:
                certain_at_ms = link.certain_at_ms(at_ms, since_ms)
                if certain_at_ms is None:
                    return None
                latest_ms = max(latest_ms, certain_at_ms)
        return latest_ms
