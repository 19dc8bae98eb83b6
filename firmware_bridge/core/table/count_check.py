"""The counts of a deal that is over, judged by the house's policy."""

from typing import Final

from drivers.facts import Place
from firmware_bridge.core.table.deal import HAND, Deal
from firmware_bridge.core.table.irregularities import EVERYWHERE, Irregularities, OpenHold
from firmware_bridge.core.table.round_state import DEALER, RoundState
from firmware_bridge.core.terms import Irregularity, Ruling

COUNTING: Final = frozenset(
    {
        Irregularity.COUNT_CONFLICT,
        Irregularity.SKIPPED_SEAT,
        Irregularity.WRONG_SEAT,
        Irregularity.EMPTY_SEAT_DEALT,
        Irregularity.FACT_GAP,
        Irregularity.DEVICE_LOST,
    }
)


class CountCheck:
    """Every place's count, judged once and again whenever it changes; what an open hold touches waits."""

    def __init__(self, state: RoundState, deal: Deal, irregularities: Irregularities) -> None:
        self._state: Final = state
        self._deal: Final = deal
        self._irregularities: Final = irregularities
        self._judged: dict[Place, tuple[Irregularity, int]] = {}
        self._by_count: set[int] = set()
        self._total_accepted = False

    def judge(self, places: tuple[Place, ...], at_ms: int) -> None:
        """Judge these places, except seats that take no further part by the floor's word."""
        if not self._total_fits(at_ms):
            return
        for place in places:
            if place in self._state.passed_over:
                continue
            if self._is_skipped(place):
                self._found(Irregularity.SKIPPED_SEAT, place, 0, at_ms)
            elif not self._irregularities.touched(place):
                self._judge(place, at_ms)
        for place, state in self._deal.places.items():
            if place in self._deal.order or self._irregularities.touched(place) or state.accepted:
                continue
            if (state.checked or 0) > state.expected:
                self._found(Irregularity.EMPTY_SEAT_DEALT, place, state.checked or 0, at_ms)
            elif state.checked is None and (state.read or 0) > state.expected:
                self._found(Irregularity.COUNT_CONFLICT, place, state.read or 0, at_ms)

    def accept(self, hold: OpenHold) -> None:
        """The floor let the round go on: the counts that this hold put in question count as they are."""
        if hold.irregularity not in COUNTING:
            return
        if hold.irregularity is Irregularity.COUNT_CONFLICT and hold.touches is EVERYWHERE:
            self._total_accepted = True
        for place, state in self._deal.places.items():
            state.accepted = state.accepted or hold.touches is EVERYWHERE or place in hold.touches

    def _total_fits(self, at_ms: int) -> bool:
        """Draws alone cannot say which seat of a rotation is wrong, only that the number of them is."""
        deal = self._deal
        if deal.rig == "group" or deal.sensors or self._total_accepted:
            return True
        if self._irregularities.everything_waits:
            return False
        least, most = deal.drawn()
        whole = HAND * len(deal.order)
        checked = all(deal.at(place).checked is not None for place in deal.order)
        if whole == least < most:
            deal.drop_missing()
            return True
        if least <= whole <= most or checked:
            return True
        self._irregularities.flag(Irregularity.COUNT_CONFLICT, None, at_ms, touches=EVERYWHERE)
        if self._irregularities.holds or self._state.void:
            return False
        self._total_accepted = True
        return True

    def _is_skipped(self, place: Place) -> bool:
        """The dealer is served, and there are sensors that never saw a card at this seat."""
        return place != DEALER and self._deal.seen_empty(place) and not self._deal.at(place).accepted

    def _judge(self, place: Place, at_ms: int) -> None:
        deal = self._deal
        count = deal.count(place)
        if count is None:
            self._found(Irregularity.COUNT_CONFLICT, place, -1, at_ms)
            count = deal.count(place)
            if count is None:
                return
        if count < HAND:
            self._found(Irregularity.SHORT_HAND, place, count, at_ms)
        elif count > HAND:
            self._found(Irregularity.LONG_HAND, place, count, at_ms)
        else:
            self._judged.pop(place, None)
            if isinstance(place, int) and place in self._by_count:
                self._by_count.discard(place)
                self._state.voided_by_policy.discard(place)

    def _found(self, irregularity: Irregularity, place: Place, count: int, at_ms: int) -> None:
        if self._judged.get(place) == (irregularity, count):
            return
        self._judged[place] = (irregularity, count)
        before = set(self._state.voided_by_policy)
        touches = frozenset({place}) if irregularity in COUNTING else frozenset()
        flag = self._irregularities.flag(irregularity, place, at_ms, touches=touches)
        self._by_count |= self._state.voided_by_policy - before
        if irregularity in COUNTING and flag.ruling is Ruling.CONTINUE:
            self._deal.at(place).accepted = True
