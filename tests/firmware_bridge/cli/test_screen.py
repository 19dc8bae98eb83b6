import io

import pytest

from firmware_bridge.cli.screen import Screen


def test_brackets_are_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(highlight=False).print("[red]alarm[/red] [1] [/")
    assert capsys.readouterr().out == "[red]alarm[/red] [1] [/\n"


def test_what_is_said_of_a_mistake_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(stderr=True, highlight=False).print("wrong")
    assert capsys.readouterr() == ("", "wrong\n")


def test_no_colours_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().print("42", style="red")
    assert capsys.readouterr().out == "42\n"


class ReaderGone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


def test_a_reader_that_went_away_ends_the_command() -> None:
    screen = Screen()
    screen.file = ReaderGone()
    with pytest.raises(BrokenPipeError):
        screen.print("anything")
    assert screen.quiet
