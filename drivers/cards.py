"""Cards as every part of the project names them: rank, suit and the two-character text ("Qh", "Td")."""

import enum
from typing import Final

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
DECK_SIZE: Final = 52


class Card(enum.Enum):
    """One of the 52 cards; the value is its text, rank `23456789TJQKA` then suit `cdhs`.

    `rank` counts from 0 (deuce) to 12 (ace), `suit` from 0 (clubs) to 3 (spades), `index` = rank * 4 + suit.
    `Card("Qh")` reads the text and raises ValueError for anything else.
    """

    rank: int
    suit: int
    index: int

    def __init__(self, text: str) -> None:
        self.rank = RANKS.index(text[0])
        self.suit = SUITS.index(text[1])
        self.index = self.rank * 4 + self.suit

    def __str__(self) -> str:
        return str(self.value)

    TWO_OF_CLUBS = "2c"
    TWO_OF_DIAMONDS = "2d"
    TWO_OF_HEARTS = "2h"
    TWO_OF_SPADES = "2s"
    THREE_OF_CLUBS = "3c"
    THREE_OF_DIAMONDS = "3d"
    THREE_OF_HEARTS = "3h"
    THREE_OF_SPADES = "3s"
    FOUR_OF_CLUBS = "4c"
    FOUR_OF_DIAMONDS = "4d"
    FOUR_OF_HEARTS = "4h"
    FOUR_OF_SPADES = "4s"
    FIVE_OF_CLUBS = "5c"
    FIVE_OF_DIAMONDS = "5d"
    FIVE_OF_HEARTS = "5h"
    FIVE_OF_SPADES = "5s"
    SIX_OF_CLUBS = "6c"
    SIX_OF_DIAMONDS = "6d"
    SIX_OF_HEARTS = "6h"
    SIX_OF_SPADES = "6s"
    SEVEN_OF_CLUBS = "7c"
    SEVEN_OF_DIAMONDS = "7d"
    SEVEN_OF_HEARTS = "7h"
    SEVEN_OF_SPADES = "7s"
    EIGHT_OF_CLUBS = "8c"
    EIGHT_OF_DIAMONDS = "8d"
    EIGHT_OF_HEARTS = "8h"
    EIGHT_OF_SPADES = "8s"
    NINE_OF_CLUBS = "9c"
    NINE_OF_DIAMONDS = "9d"
    NINE_OF_HEARTS = "9h"
    NINE_OF_SPADES = "9s"
    TEN_OF_CLUBS = "Tc"
    TEN_OF_DIAMONDS = "Td"
    TEN_OF_HEARTS = "Th"
    TEN_OF_SPADES = "Ts"
    JACK_OF_CLUBS = "Jc"
    JACK_OF_DIAMONDS = "Jd"
    JACK_OF_HEARTS = "Jh"
    JACK_OF_SPADES = "Js"
    QUEEN_OF_CLUBS = "Qc"
    QUEEN_OF_DIAMONDS = "Qd"
    QUEEN_OF_HEARTS = "Qh"
    QUEEN_OF_SPADES = "Qs"
    KING_OF_CLUBS = "Kc"
    KING_OF_DIAMONDS = "Kd"
    KING_OF_HEARTS = "Kh"
    KING_OF_SPADES = "Ks"
    ACE_OF_CLUBS = "Ac"
    ACE_OF_DIAMONDS = "Ad"
    ACE_OF_HEARTS = "Ah"
    ACE_OF_SPADES = "As"


FULL_DECK: Final = tuple(Card)
