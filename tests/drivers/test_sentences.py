"""Sentences: one full stop, and nothing that steers a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.sentences import clause, printable, sentence


@given(st.text())
def test_what_is_printable_is_one_line_as_long_as_the_text_was(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown) == len(text)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P"])))
def test_what_can_be_shown_is_left_alone(text: str) -> None:
    assert printable(text) == text


def test_control_characters_become_question_marks() -> None:
    assert printable("S-1\x1b[2J\r\n") == "S-1?[2J??"


@pytest.mark.parametrize("text", ["the disk is full", "the disk is full.", "the disk is full.."])
def test_an_error_is_a_sentence_with_one_full_stop(text: str) -> None:
    assert sentence(ValueError(text)) == "the disk is full."
    assert clause(ValueError(text)) == "the disk is full"
