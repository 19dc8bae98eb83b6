"""Whatever is told in whatever order: nothing raises, a refusal changes nothing, replay gives the same bytes."""

import copy
import json

import msgspec
import pytest
from hypothesis import given, settings

from drivers.cards import FULL_DECK
from firmware_bridge.core.bridge import Bridge
from firmware_bridge.core.events import FactRefused, HandReleased
from firmware_bridge.core.facts import read_fact
from tests.firmware_bridge.core.any_facts import KEY, SOUP, Soup, lines, started


def run(soup: Soup) -> bytes:
    bridge = Bridge(KEY)
    events = [*bridge.apply(started(soup[0], soup[1]))]
    for line in lines(soup):
        events += bridge.apply(read_fact(line))
    events += bridge.read_sensors()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return msgspec.json.encode(events)


@given(SOUP)
@settings(max_examples=100, deadline=None)
def test_the_same_facts_give_the_same_bytes(soup: Soup) -> None:
    assert run(soup) == run(soup)


@pytest.mark.long
@pytest.mark.timeout(1200)
@given(SOUP)
@settings(max_examples=2000, deadline=None)
def test_a_long_session_of_it(soup: Soup) -> None:
    assert run(soup) == run(soup)


@given(SOUP)
@settings(max_examples=60, deadline=None)
def test_a_refused_fact_changes_nothing(soup: Soup) -> None:
    bridge = Bridge(KEY)
    bridge.apply(started(soup[0], soup[1]))
    with_refused, without = bridge, copy.deepcopy(bridge)
    for line in lines(soup):
        fact_told = read_fact(line)
        events = with_refused.apply(fact_told)
        if any(isinstance(event, FactRefused) for event in events):
            assert len(events) == 1
        else:
            expected = without.apply(fact_told)
            assert [told(event) for event in events] == [told(event) for event in expected]
        assert with_refused.record == without.record
        assert with_refused.deadline_ms() == without.deadline_ms()


def told(event: msgspec.Struct) -> msgspec.Struct:
    """The event without its place in the order: refusals take a number too."""
    return msgspec.structs.replace(event, seq=0)


@given(SOUP)
@settings(max_examples=60, deadline=None)
def test_cards_stand_in_released_hands_alone(soup: Soup) -> None:
    bridge = Bridge(KEY)
    bridge.apply(started(soup[0], soup[1]))
    for line in lines(soup):
        for event in bridge.apply(read_fact(line)):
            if not isinstance(event, HandReleased):
                body = json.loads(msgspec.json.encode(event))
                assert not {"card", "cards"} & body.keys()
                assert not any(isinstance(value, str) and value in CARD_TEXTS for value in body.values())


CARD_TEXTS = {card.value for card in FULL_DECK}
