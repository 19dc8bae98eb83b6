from drivers.commands import CommandKind, Outcome


def test_commands_that_move_cards_are_those_that_must_not_be_sent_twice() -> None:
    assert {kind for kind in CommandKind if kind.moves_cards} == {CommandKind.SHUFFLE, CommandKind.DISPENSE_GROUP}


def test_an_outcome_is_final_where_no_other_follows() -> None:
    assert {outcome for outcome in Outcome if not outcome.is_final} == {Outcome.ACCEPTED, Outcome.STARTED}
