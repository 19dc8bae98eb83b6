"""The deal of a round: cards, groups and counts as they are told, and when and how the deal ends."""

from collections.abc import Mapping
from typing import Final

from drivers.facts import CardDrawn, Place
from firmware_bridge.core.events import CardDealt, DealOver
from firmware_bridge.core.table.card_batch import OpenFlag
from firmware_bridge.core.table.count_check import CountCheck
from firmware_bridge.core.table.deal import Arrival, Deal, Misplaced
from firmware_bridge.core.table.exposure import Exposure
from firmware_bridge.core.table.irregularities import EVERYWHERE, Irregularities, OpenHold
from firmware_bridge.core.table.round_state import DEALER, RoundState
from firmware_bridge.core.terms import Irregularity, Ruling


class Dealing:
    """From a round's first card on. `lies_there`: what sensors counted before it."""

    def __init__(
        self, state: RoundState, irregularities: Irregularities, exposure: Exposure, lies_there: Mapping[Place, int]
    ) -> None:
        self._state: Final = state
        self._irregularities: Final = irregularities
        self._exposure: Final = exposure
        self.deal: Final = Deal(state.order, state.setup.deal, sensors=state.setup.sensors)
        for place, cards in lies_there.items():
            self.deal.at(place).now = cards
        self._count_check: Final = CountCheck(state, self.deal, irregularities)
        self._dealer_closed = False

    # Facts

    def card_drawn(self, fact: CardDrawn, missing: int, *, gap: bool) -> None:
        """One card left; `missing` draws before it were not told of. `gap`: that is to be flagged."""
        deal, irregularities, at_ms = self.deal, self._irregularities, fact.at_ms
        self._further_card(at_ms)
        arrivals = deal.draw(fact.card, missing)
        seat = deal.drawing_for
        if gap and not self._state.void:
            doubtful = frozenset({seat}) if deal.rig == "group" and seat is not None else EVERYWHERE
            irregularities.flag(Irregularity.FACT_GAP, None, at_ms, touches=doubtful)
        if fact.card is None and not self._state.void:
            self._mark(irregularities.flag(Irregularity.UNREAD_CARD, seat, at_ms))
        if fact.face == "up" and not self._state.void:
            deal.drawn_last.boxed.append(fact.card)
            self._mark(self._exposure.boxed(seat, at_ms, by_reader=True))
        if self._state.deck.draw(fact.card, missing):
            irregularities.flag(Irregularity.DUPLICATE_CARD, seat, at_ms)
        for arrival in arrivals:
            self._arrived(arrival, at_ms)
        self.look(at_ms)

    def group_ready(self, number: int, cards: int, lost: int, at_ms: int) -> None:
        """Group `number` lies in the tray, after `lost` groups that nobody told of."""
        if lost:
            self.deal.groups_lost(number - lost, lost, cards)
            for arrival in self.deal.group_taken(number - 1):
                self._arrived(arrival, at_ms)
        batch = self.deal.group_ready(number, cards)
        if batch.read == len(batch.cards) and batch.read != cards:
            self._state.deck.machine_counted(cards, batch.read)
        self.look(at_ms)

    def group_taken(self, number: int, at_ms: int) -> None:
        """The dealer took group `number` out of the tray."""
        for arrival in self.deal.group_taken(number):
            self._arrived(arrival, at_ms)
        self.look(at_ms)

    def seat_count(self, place: Place, cards: int, at_ms: int) -> None:
        """The sensor of a place shows `cards` from now on."""
        deal = self.deal
        open_before = [wrong for wrong in deal.misplaced if not wrong.put_right]
        came = deal.seat_count(place, cards)
        for wrong in open_before:
            if wrong.put_right and wrong.batch is not None and wrong.turn is not None:
                self._tell_dealt(Arrival(wrong.batch, wrong.turn))
        if isinstance(came, Arrival):
            self._arrived(came, at_ms)
        elif came is not None and not self._state.void:
            self._irregularities.note(self._names(came), place, at_ms, Ruling.CONTINUE)
        self.look(at_ms)

    def seat_checked(self, place: Place, cards: int, at_ms: int) -> None:
        """A person counted `cards` at the place; that overrules every sensor."""
        self.deal.seat_checked(place, cards)
        self.look(at_ms)

    def accept(self, hold: OpenHold) -> None:
        """The floor let the round go on with what this hold put in question."""
        self._count_check.accept(hold)

    # What follows

    def _mark(self, flag: OpenFlag) -> None:
        self.deal.drawn_last.flags.append(flag)

    def _further_card(self, at_ms: int) -> None:
        """A further card goes out: what lies wrong and was not put right is for the floor now."""
        for wrong in self.deal.misplaced:
            if wrong.put_right or wrong.stands or self._state.void:
                continue
            self.deal.let_stand(wrong)
            self._irregularities.flag(self._names(wrong), wrong.place, at_ms, touches=wrong.touches)
        if self.deal.at(DEALER).batches and not self._is_astray(DEALER) and not self._state.void:
            self._find_skipped(at_ms)

    def _find_skipped(self, at_ms: int) -> None:
        """The dealer was served in turn, and the deal goes on: seats in play that have no card were passed over."""
        for place in self.deal.order if not self.deal.over else ():
            if place == DEALER or place in self._state.passed_over or self.deal.is_on_its_way(place):
                continue
            if self.deal.seen_empty(place) and self._irregularities.find(Irregularity.SKIPPED_SEAT, place) is None:
                touches = frozenset({place})
                self._irregularities.flag(Irregularity.SKIPPED_SEAT, place, at_ms, touches=touches)

    def _arrived(self, arrival: Arrival, at_ms: int) -> None:
        self._tell_dealt(arrival)
        if self._state.void:
            return
        for flag in arrival.batch.flags:
            if flag.seat != arrival.place and self._irregularities.find(flag.irregularity, arrival.place) is None:
                flag.seat = arrival.place
        wrong = next((wrong for wrong in self.deal.misplaced if wrong.batch is arrival.batch), None)
        if wrong is not None:
            self._irregularities.note(self._names(wrong), arrival.place, at_ms, Ruling.CONTINUE)
        for card in arrival.batch.boxed:
            self._exposure.boxed_arrives(arrival.place, card, at_ms)

    def _names(self, wrong: Misplaced) -> Irregularity:
        in_play = wrong.place in self.deal.order
        return Irregularity.WRONG_SEAT if in_play else Irregularity.EMPTY_SEAT_DEALT

    def _tell_dealt(self, arrival: Arrival) -> None:
        there = self.deal.at(arrival.place).batches
        before = sum(batch.size for batch in there if batch is not arrival.batch)
        for index in range(1, arrival.batch.size + 1):
            self._state.events.append(CardDealt(seat=arrival.place, index=before + index))

    # The end of the deal

    def look(self, at_ms: int) -> None:
        """See whether the deal is over by now, and judge what can be judged."""
        if self._state.void:
            return
        if not self.deal.over and self._is_complete():
            self.end(at_ms)
        else:
            self.judge(at_ms)

    @property
    def _dealer_waits(self) -> bool:
        """The dealer's group stays in the machine until the players have decided."""
        setup = self._state.setup
        return setup.deal == "group" and setup.dealer_group == "after_decisions"

    @property
    def _last_place(self) -> Place:
        order = self.deal.order
        return order[-2] if self._dealer_waits and len(order) > 1 else DEALER

    @property
    def _all_taken(self) -> bool:
        return self._is_whole_deal(sum(batch.taken for batch in self.deal.batches))

    @property
    def _all_landed(self) -> bool:
        return self._is_whole_deal(sum(batch.place is not None for batch in self.deal.batches))

    def _is_whole_deal(self, groups: int) -> bool:
        return groups > self.deal.order.index(self._last_place)

    def _is_complete(self) -> bool:
        """The last place of the order has its cards."""
        deal, last = self.deal, self._last_place
        if deal.rig == "rotation":
            return deal.sensors and all(deal.sensed_hand(place) for place in deal.order)
        return deal.complete(last) and (self._all_landed or not self._is_astray(last))

    def _is_astray(self, place: Place) -> bool:
        """Cards lie there that were meant for another place."""
        return any(wrong.place == place and not wrong.put_right for wrong in self.deal.misplaced)

    @property
    def can_end(self) -> bool:
        """Cards have begun to arrive at the last place: whoever goes on from there says that the deal is over."""
        last = self._last_place
        if self.deal.over or self.deal.rig == "rotation" or not self.deal.begun(last):
            return False
        return self._all_landed or not self._is_astray(last)

    @property
    def can_be_called_done(self) -> bool:
        """The dealer may say that all cards are out."""
        return not self.deal.over and (self.deal.rig == "rotation" or self._all_taken or self.can_end)

    @property
    def dealer_has_cards(self) -> bool:
        """Cards lie at the dealer's place or are on their way there."""
        return self.deal.begun(DEALER) or any(batch.turn == DEALER for batch in self.deal.batches if batch.taken)

    def end(self, at_ms: int) -> None:
        """The deal is over, and its counts are judged; nothing where it is over already."""
        if self.deal.over:
            return
        self.deal.end()
        self._state.events.append(DealOver())
        self.judge(at_ms)

    def end_if_begun(self, at_ms: int) -> None:
        """The same, where cards have reached the last place: what comes next says that it is over."""
        if self.can_end:
            self.end(at_ms)

    def close_dealer(self, at_ms: int) -> None:
        """The dealer's hand is shown: it has all the cards that it will have."""
        self._dealer_closed = True
        self.judge(at_ms)

    def judge(self, at_ms: int) -> None:
        """Judge every count that is complete, once the deal is over."""
        deal = self.deal
        if not deal.over or self._state.void:
            return
        places = self.complete_places
        if self._dealer_waits and DEALER in places:
            deal.at(DEALER).read_sensor()
        self._count_check.judge(places, at_ms)

    @property
    def complete_places(self) -> tuple[Place, ...]:
        """Places of the order that have all the cards they will get; none before the deal is over."""
        order = self.deal.order if self.deal.over else ()
        if self._dealer_waits and not (self._dealer_closed or self.deal.complete(DEALER)):
            return tuple(place for place in order if place != DEALER)
        return order

    def hands(self) -> tuple[Place, ...]:
        """Places that have a hand by now: those of the order once served, and others where cards lie."""
        deal = self.deal
        served = [place for place in deal.order if deal.begun(place) or deal.at(place).batches]
        if deal.over:
            waits = self._dealer_waits and DEALER not in served
            served = [place for place in deal.order if place != DEALER or not waits]
        strays = [p for p, state in deal.places.items() if p not in deal.order and (state.batches or state.checked)]
        return (*served, *strays)
