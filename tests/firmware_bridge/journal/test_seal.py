"""A card that lies face down cannot be read out of the file, nor guessed from it."""

import sqlite3
from pathlib import Path

import pytest

from drivers.cards import FULL_DECK, Card
from drivers.facts import CardDrawn, CardExposed
from firmware_bridge.core.facts import CardIdentified, CardTurnedDown
from firmware_bridge.journal.errors import JournalDamaged
from firmware_bridge.journal.rows import Receive, checksum
from firmware_bridge.journal.seal import CARD_FACTS, Seal
from firmware_bridge.journal.store import Store
from tests.firmware_bridge.journal.facts_and_events import KEYS, OTHER_KEYS, draw, open_store, origin


def test_the_facts_that_may_carry_a_card_are_known() -> None:
    assert {CardDrawn, CardExposed, CardIdentified, CardTurnedDown} == CARD_FACTS


def test_no_file_of_the_journal_holds_a_card(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number, card in enumerate(FULL_DECK, 1):
        fact = CardIdentified(at_ms=1, seat=1, index=1, card=card) if number % 2 else draw(number, card)
        store.commit([Receive(number, origin(number), fact, 1)])
    files = [file for file in tmp_path.iterdir() if "journal" in file.name]
    assert len(files) >= 3
    stored = b"".join(file.read_bytes() for file in files)
    assert b"card_drawn" in stored
    assert not [card for card in FULL_DECK if f':"{card.value}"'.encode() in stored]
    assert b'"card"' not in stored
    assert [row.fact for row in store.pending()][1] == draw(2, FULL_DECK[1])


@pytest.mark.parametrize("make", [lambda card: draw(1, card), lambda card: CardExposed(at_ms=1, seat=1, card=card)])
def test_the_length_does_not_tell_the_card_nor_whether_it_was_read(tmp_path: Path, make: object) -> None:
    store = open_store(tmp_path)
    cards = [None, *FULL_DECK]
    assert callable(make)
    store.commit([Receive(n, origin(n), make(card), 1) for n, card in enumerate(cards, 1)])
    with sqlite3.connect(tmp_path / "table.journal") as connection:
        rows = connection.execute("SELECT length(body), key_id, body FROM facts").fetchall()
    assert {row[:2] for row in rows} == {(rows[0][0], KEYS.key_id)}
    assert len({row[2][:12] for row in rows}) == len(cards)


def test_bodies_of_different_lengths_are_sealed_to_one() -> None:
    seal = Seal(KEYS)
    assert len({len(seal.close(origin(1), b"{" + b" " * length + b"}")) for length in range(120)}) == 1


def test_the_same_fact_is_never_sealed_to_the_same_bytes() -> None:
    seal = Seal(KEYS)
    assert seal.close(origin(1), b"{}") != seal.close(origin(1), b"{}")


def test_a_sealed_fact_opens_for_its_origin_and_key_alone() -> None:
    sealed = Seal(KEYS).close(origin(1), b'{"a":1}')
    assert Seal(KEYS).open(origin(1), sealed) == b'{"a":1}'
    assert Seal(KEYS).open(origin(2), sealed) is None
    assert Seal(OTHER_KEYS).open(origin(1), sealed) is None
    assert Seal(KEYS).open(origin(1), sealed[:5]) is None
    assert Seal(KEYS).open(origin(1), sealed[:-1] + bytes([sealed[-1] ^ 1])) is None


def test_a_swapped_ciphertext_is_told(tmp_path: Path) -> None:
    """Somebody who exchanges two sealed facts and mends the checksums is found out by the seal."""
    store = open_store(tmp_path)
    store.commit([Receive(n, origin(n), draw(n, card), 1) for n, card in ((1, Card.ACE_OF_CLUBS), (2, None))])
    store.close()
    connection = sqlite3.connect(tmp_path / "table.journal")
    first, second = (row[0] for row in connection.execute("SELECT body FROM facts ORDER BY received"))
    for number, body in ((1, second), (2, first)):
        check = checksum((number, *origin(number), None), body)
        connection.execute("UPDATE facts SET body = ?, checksum = ? WHERE received = ?", (body, check, number))
    connection.commit()
    connection.close()
    with pytest.raises(JournalDamaged, match="fact 1 is not what was sealed"):
        list(Store.open(tmp_path / "table.journal", KEYS).pending())
