import hashlib
import hmac

from drivers.cards import FULL_DECK, Card
from firmware_bridge.core.commitments import SALT_BYTES, commitment, salt

KEY = bytes(range(32))


def test_the_salt_is_the_keyed_hash_of_round_place_and_number() -> None:
    assert salt(KEY, 7, "dealer", 2) == hmac.new(KEY, b"7|dealer|2", hashlib.sha256).digest()[:SALT_BYTES]
    assert salt(KEY, 7, 3, 1).hex() == hmac.new(KEY, b"7|3|1", hashlib.sha256).hexdigest()[: 2 * SALT_BYTES]


def test_no_two_commitments_share_a_salt() -> None:
    salts = {salt(KEY, number, place, again) for number in (1, 11) for place in (1, 11, "dealer") for again in (1, 11)}
    assert len(salts) == 12
    assert salt(bytes(32), 1, 1, 1) not in salts


def test_a_commitment_is_opened_with_salt_and_cards_by_anyone() -> None:
    cards = (Card("As"), None, Card("9d"))
    assert commitment(b"s" * 16, cards) == hashlib.sha256(b"s" * 16 + b"As??9d").hexdigest()
    assert commitment(b"s" * 16, ()) == hashlib.sha256(b"s" * 16).hexdigest()


def test_every_card_and_their_order_count() -> None:
    salted = b"s" * 16
    assert len({commitment(salted, (card,)) for card in (*FULL_DECK, None)}) == 53
    assert commitment(salted, FULL_DECK[:2]) != commitment(salted, FULL_DECK[1::-1])
