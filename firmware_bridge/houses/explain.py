"""A house told back in sentences, and several houses side by side."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from firmware_bridge.core.rules.house import House, Provenance, Schedule
from firmware_bridge.core.terms import Irregularity, Phase, Ruling, Who

RULINGS: Final = {
    Ruling.CONTINUE: "is noted and the round goes on",
    Ruling.VOID_SEAT: "voids the seat: its wagers go back",
    Ruling.VOID_ROUND: "voids the round: all wagers go back",
    Ruling.HOLD: "holds the round until the floor rules",
    Ruling.FORFEIT_SEAT: "ends the seat's hand and its wagers are lost",
}
RANK_NAMES: Final = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


def explain(house: House) -> list[str]:
    """Every rule of the house as a sentence, with where it comes from."""
    return [f"{sentence} [{_where(house.sources.get(path))}]" for path, sentence in _sentences(house)]


def _where(told: Provenance | None) -> str:
    if told is None:
        return "no source"
    return f"the document is silent: {told.reason}" if told.silent else str(told.source)


def _sentences(house: House) -> Iterable[tuple[str, str]]:
    yield from _deal(house)
    yield from _wagers(house)
    yield from _settlement(house)
    for place, schedule in enumerate(house.schedules):
        yield f"schedules[{place}]", f"Schedule {schedule.number} pays {_pays(schedule)}."
    if house.position is not None:
        yield from _position(house)
    counted = "counted face down" if house.folds.counted else "not counted"
    yield "folds.counted", f"A folded hand is {counted} as it is collected."
    seen = "whoever asks for it" if house.folds.seen_by == "anyone" else "the floor alone"
    yield "folds.seen_by", f"A hand that did not come to the showdown may be seen later by {seen}."
    yield from _policy(house)


def _deal(house: House) -> Iterable[tuple[str, str]]:
    deal = house.deal
    yield "deal.decks_min", f"At least {_counted(deal.decks_min, 'deck')} must be used."
    yield "deal.decks_max", f"At most {_counted(deal.decks_max, 'deck')} may be used."
    yield "deal.places", f"There are {deal.places} places."
    often = "before every round" if deal.shuffle == "each_round" else "when the shoe is dealt out"
    yield "deal.shuffle", f"The cards are shuffled {often}."
    cuts = {
        "after_shuffle": "are cut after the shuffle",
        "never_by_players": "are never cut by players",
        "free": "may be cut or not",
    }
    yield "deal.cut", f"The cards {cuts[deal.cut]}."
    yield "deal.dealer_face_up", f"Of the dealer's three cards {deal.dealer_face_up or 'none'} lie face up."
    closes = "when no more bets is announced"
    if deal.bets_close == "first_card":
        closes += ", at the latest when the first card is dealt"
    yield "deal.bets_close", f"The bets are closed {closes}."
    yield "deal.ace_low", f"The ace is high, and low in {deal.ace_low} alone."


def _wagers(house: House) -> Iterable[tuple[str, str]]:
    wagers = house.wagers
    yield "wagers.offered", f"Before the deal one may wager on {_listed(wagers.offered)}."
    demanded = _listed(wagers.required, "and") if wagers.required else "any one of them"
    yield "wagers.required", f"To be dealt in one needs {demanded}."
    tips = f"may be wagered: {_listed(wagers.tips)}" if wagers.tips else "are not wagered"
    yield "wagers.tips", f"Tips for the dealer {tips}."
    above = "goes back" if wagers.above_maximum == "excess_returned" else "refuses the whole wager"
    yield "wagers.above_maximum", f"What is above the table's maximum {above}."
    minutes = wagers.limits_notice_ms / 60_000
    notice = f"{minutes:g} minutes' notice" if minutes else "no notice"
    yield "wagers.limits_notice_ms", f"A change of the limits takes {notice}."
    yield "wagers.fee", "A flat fee is collected." if wagers.fee == "flat" else "No fee is collected."
    tiers = "; ".join(f"{tier.fee} on an ante up to {tier.ante_up_to}" for tier in wagers.fee_tiers)
    yield "wagers.fee_tiers", f"The fee is {tiers}." if tiers else "The file lists no amounts of fees."
    yield (
        "wagers.fee_on_misdeal",
        f"The fee of a seat that was misdealt, or of a void round, is {wagers.fee_on_misdeal}.",
    )


def _settlement(house: House) -> Iterable[tuple[str, str]]:
    terms = house.settlement
    high = RANK_NAMES.get(terms.qualifies_with, terms.qualifies_with)
    yield "settlement.qualifies_with", f"The dealer qualifies with {high} high or better."
    antes = {
        "paid": "every ante is paid 1 to 1",
        "compare": "an ante is paid 1 to 1 if it beats the dealer, and pushes otherwise",
        "compare_lose": "an ante is paid 1 to 1 if it beats the dealer, lost if it is beaten",
    }
    yield "settlement.nonqualify_ante", f"If the dealer does not qualify, {antes[terms.nonqualify_ante]}."
    options = _listed(terms.nonqualify_ante_options)
    yield "settlement.nonqualify_ante_options", f"A table may choose for that: {options}."
    play = "pushes" if terms.nonqualify_play == "push" else "is returned"
    yield "settlement.nonqualify_play", f"If the dealer does not qualify, the play wager {play}."
    for wager, lost in (("pair_plus", terms.fold_forfeits_pair_plus), ("six_card", terms.fold_forfeits_six_card)):
        what = "loses" if lost else "leaves in action"
        yield f"settlement.fold_forfeits_{wager}", f"Folding {what} the {wager.replace('_', ' ')} wager."
    one = "one stack" if terms.stacked else "two wagers"
    yield "settlement.stacked", f"Against a dealer who qualifies, ante and play are {one}."
    yield "settlement.order", f"Within a seat the order is {', '.join(terms.order)}."
    seats = {
        "highest_first": "After the folded seats, seats are settled from the highest number down.",
        "lowest_first": "After the folded seats, seats are settled from the lowest number up.",
        "action": "Seats are settled clockwise from the action seat.",
    }
    yield "settlement.seats", seats[terms.seats]


def _position(house: House) -> Iterable[tuple[str, str]]:
    position = house.position
    if position is None:
        return
    used = {
        "gross": "each unit won or lost uses it up",
        "bankroll": "losses paid shrink it and wagers won refill it",
    }
    yield (
        "position.coverage",
        f"The player-dealer's wager covers the others as far as it goes: {used[position.coverage]}.",
    )
    yield "position.coverage_options", f"A table may choose for that: {_listed(position.coverage_options)}."
    turn = "takes its turn in action order" if position.folded_antes == "in_turn" else "is collected before all others"
    yield "position.folded_antes", f"A folded ante {turn}."
    hands = _counted(position.consecutive_hands, "hand")
    yield "position.consecutive_hands", f"After {hands} in a row the position is offered to all others."


def _policy(house: House) -> Iterable[tuple[str, str]]:
    faces = house.policy.boxed_cards_deck_out
    yield "policy.boxed_cards_deck_out", f"{faces} cards face up in one round put the deck out."
    exposed = [f"the {who.value}'s" for who in house.policy.boxed_also_exposed]
    where = f"at {_listed(exposed)} place is an exposed card too" if exposed else "is no exposed card anywhere"
    yield "policy.boxed_also_exposed", f"A card that comes face up out of the machine {where}."
    for place, row in enumerate(house.policy.rows):
        named = _listed([irregularity.value for irregularity in row.irregularities])
        where = f" at a {_listed([who.value for who in row.who])}" if row.who else ""
        when = f" while {_listed([phase.value for phase in row.phases])}" if row.phases else ""
        out = ", and the deck is out" if row.deck_out else ""
        yield f"policy.rows[{place}]", f"{named}{where}{when} {RULINGS[row.ruling]}{out}."


def _pays(schedule: Schedule) -> str:
    tables = []
    for name, pays in (
        ("ante bonus", {hand.value: pay for hand, pay in schedule.ante_bonus.items()}),
        ("pair plus", {hand.value: pay for hand, pay in schedule.pair_plus.items()}),
        ("6 card bonus", {hand.value: pay for hand, pay in schedule.six_card.items()}),
    ):
        if pays:
            tables.append(f"{name} " + ", ".join(f"{hand} {pay} to 1" for hand, pay in pays.items()))
    return "; ".join(tables) or "nothing but even money"


def _listed(names: Sequence[str], word: str = "or") -> str:
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else names[0]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def side_by_side(houses: Mapping[str, House]) -> dict[str, dict[str, str]]:
    """Rules by which the houses differ: rule to house to what it says there, "-" where it says nothing."""
    told = {name: _flat(house) for name, house in houses.items()}
    rules = dict.fromkeys(rule for flat in told.values() for rule in flat)
    table = {rule: {name: flat.get(rule, "-") for name, flat in told.items()} for rule in rules}
    return {rule: row for rule, row in table.items() if len(set(row.values())) > 1}


def _flat(house: House) -> dict[str, str]:
    flat: dict[str, str] = {}
    for section in ("deal", "wagers", "settlement", "folds", "position"):
        rules = getattr(house, section)
        if rules is not None:
            for key in rules.__struct_fields__:
                flat[f"{section}.{key}"] = _value(getattr(rules, key))
    for schedule in house.schedules:
        flat[f"schedule {schedule.number}"] = _pays(schedule)
    for irregularity in Irregularity:
        for who in Who:
            flat[f"policy.{irregularity.value}.{who.value}"] = _consequence(house, irregularity, who)
    return flat


def _consequence(house: House, irregularity: Irregularity, who: Who) -> str:
    """The ruling, phase by phase where it changes with the phase."""
    told: dict[str, list[str]] = {}
    for phase in Phase:
        found = house.policy.consequence(irregularity, phase, who)
        text = found.ruling.value + (" + deck_out" if found.deck_out else "")
        told.setdefault(text, []).append(phase.value)
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"{text} ({', '.join(phases)})" for text, phases in told.items())


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(item) for item in value) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
