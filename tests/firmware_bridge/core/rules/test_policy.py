import itertools

import pytest

from firmware_bridge.core.rules.policy import Consequence, Policy, PolicyRow
from firmware_bridge.core.terms import Irregularity, Phase, Ruling, Who

SHORT = Irregularity.SHORT_HAND
POLICY = Policy(
    boxed_cards_deck_out=2,
    boxed_also_exposed=(),
    rows=(
        PolicyRow(irregularities=(SHORT,), ruling=Ruling.HOLD, who=(Who.DEALER,), phases=(Phase.DECIDING,)),
        PolicyRow(irregularities=(SHORT, Irregularity.JAM), ruling=Ruling.VOID_ROUND, who=(Who.DEALER,), deck_out=True),
        PolicyRow(irregularities=(SHORT,), ruling=Ruling.VOID_SEAT),
    ),
)


@pytest.mark.parametrize(
    ("irregularity", "phase", "who", "row"),
    [
        (SHORT, Phase.DECIDING, Who.DEALER, 0),
        (SHORT, Phase.DEALING, Who.DEALER, 1),
        (SHORT, Phase.DECIDING, Who.PLAYER, 2),
        (SHORT, Phase.BETTING, Who.TABLE, 2),
        (Irregularity.JAM, Phase.BETTING, Who.DEALER, 1),
        (Irregularity.JAM, Phase.BETTING, Who.TABLE, None),
    ],
)
def test_the_first_row_that_covers_a_question_answers_it(
    irregularity: Irregularity, phase: Phase, who: Who, row: int | None
) -> None:
    assert POLICY.row(irregularity, phase, who) == row
    if row is not None:
        answer = POLICY.consequence(irregularity, phase, who)
        assert answer == Consequence(POLICY.rows[row].ruling, POLICY.rows[row].deck_out)


def test_a_question_without_a_row_is_an_error_with_its_name() -> None:
    with pytest.raises(LookupError, match="no row for jam, betting, table"):
        POLICY.consequence(Irregularity.JAM, Phase.BETTING, Who.TABLE)


def test_gaps_are_all_questions_that_no_row_answers() -> None:
    answered = {
        question for question in itertools.product(Irregularity, Phase, Who) if POLICY.row(*question) is not None
    }
    assert set(POLICY.gaps()).isdisjoint(answered)
    assert len(POLICY.gaps()) + len(answered) == len(Irregularity) * len(Phase) * len(Who)
    assert (SHORT, Phase.DEALING, Who.PLAYER) in answered
