"""The closed vocabularies of the table."""

import enum


class Irregularity(enum.Enum):
    """One row of "What is checked, and what follows" each."""

    SHORT_HAND = "short_hand"
    LONG_HAND = "long_hand"
    EXPOSED_CARD = "exposed_card"
    BOXED_CARD = "boxed_card"
    BOXED_CARDS = "boxed_cards"
    UNREAD_CARD = "unread_card"
    COUNT_CONFLICT = "count_conflict"
    WRONG_SEAT = "wrong_seat"
    EMPTY_SEAT_DEALT = "empty_seat_dealt"
    SKIPPED_SEAT = "skipped_seat"
    EARLY_REVEAL = "early_reveal"
    BAD_SHUFFLE_COUNT = "bad_shuffle_count"
    SORT_MODE = "sort_mode"
    NOT_SHUFFLED = "not_shuffled"
    DUPLICATE_CARD = "duplicate_card"
    FOREIGN_CARD = "foreign_card"
    STUB_MISMATCH = "stub_mismatch"
    STUB_DUE = "stub_due"
    RESIDUAL_CARDS = "residual_cards"
    NOT_ENOUGH_CARDS = "not_enough_cards"
    JAM = "jam"
    DOOR_OPENED = "door_opened"
    LATE_BET = "late_bet"
    DEALT_BEFORE_NO_MORE_BETS = "dealt_before_no_more_bets"
    FOLD_MISCOUNTED = "fold_miscounted"
    FACT_GAP = "fact_gap"
    DEVICE_LOST = "device_lost"
    DEAL_STALLED = "deal_stalled"
    DEALER_FACE_UP = "dealer_face_up"


class Ruling(enum.Enum):
    """What follows an irregularity. FORFEIT_SEAT is the floor's alone, HOLD the policy's alone."""

    CONTINUE = "continue"
    VOID_SEAT = "void_seat"
    FORFEIT_SEAT = "forfeit_seat"
    VOID_ROUND = "void_round"
    HOLD = "hold"


class Phase(enum.Enum):
    """How far the round is, as the table sees it."""

    BETTING = "betting"
    DEALING = "dealing"
    DECIDING = "deciding"
    REVEALED = "revealed"


class Who(enum.Enum):
    """Whose place an irregularity is at, as policies distinguish it."""

    PLAYER = "player"
    DEALER = "dealer"
    TABLE = "table"


class RoundOutcome(enum.Enum):
    """What the round has come to by now."""

    DEALT = "dealt"
    VOID = "void"
    HELD = "held"
    OPEN = "open"


class HandVerdict(enum.Enum):
    """Whether a hand counts: HELD waits for the floor, UNREAD for a card that nobody has read."""

    OK = "ok"
    MISDEAL = "misdeal"
    HELD = "held"
    UNREAD = "unread"


class Evidence(enum.Enum):
    """How a place is known to have its cards, weakest last."""

    SENSED = "sensed"
    CHECKED = "checked"
    TAKEN = "taken"
    ORDER = "order"


class DeckState(enum.Enum):
    """Whether a deck may be dealt from."""

    IN = "in"
    OUT = "out"


class HandCategory(enum.Enum):
    """Highest first."""

    STRAIGHT_FLUSH = "straight_flush"
    THREE_OF_A_KIND = "three_of_a_kind"
    STRAIGHT = "straight"
    FLUSH = "flush"
    PAIR = "pair"
    HIGH_CARD = "high_card"
