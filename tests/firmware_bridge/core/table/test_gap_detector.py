from firmware_bridge.core.table.gap_detector import GapDetector, Step


def test_numbers_go_on_or_start_at_one_between_rounds() -> None:
    numbers = GapDetector(from_one=False)
    assert [numbers.take(number) for number in (41, 42)] == [Step(0, gap=False)] * 2
    assert numbers.take(45) == Step(2, gap=True)
    assert numbers.take(1) == Step(0, gap=True)
    numbers.round_opens()
    assert numbers.take(2) == Step(0, gap=False)
    numbers.round_opens()
    assert numbers.take(1) == Step(0, gap=False)
    numbers.round_opens()
    assert numbers.take(3) == Step(1, gap=True)


def test_numbers_wrap_and_are_forgiven_once() -> None:
    numbers = GapDetector(from_one=False)
    numbers.take(2**32 - 1)
    assert numbers.take(0) == Step(0, gap=False)
    numbers.forgive()
    assert numbers.take(5) == Step(4, gap=False)
    assert numbers.take(9) == Step(3, gap=True)


def test_groups_start_at_one() -> None:
    assert GapDetector(from_one=True).take(2) == Step(1, gap=True)
