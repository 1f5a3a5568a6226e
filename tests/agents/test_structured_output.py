"""Parsing of structured answers."""

from time import process_time

import pytest
from pydantic import BaseModel

from lawtrace.agents.structured_output import UnusableAnswer, parse_answer


class Opinion(BaseModel):
    accepted: bool
    because: str = ""


@pytest.mark.parametrize(
    "text",
    [
        '{"accepted": true}',
        '  {"accepted": true}\n',
        '```json\n{"accepted": true}\n```',
        'Here you are:\n```\n{"accepted": true}\n```\nDone.',
        'I think {"accepted": true} is right.',
    ],
)
def test_answer_is_found_in_any_wrapping(text: str) -> None:
    assert parse_answer(text, Opinion).accepted is True


def test_last_fenced_block_is_the_answer() -> None:
    text = '```json\n{"accepted": false}\n```\nNo, rather:\n```json\n{"accepted": true}\n```'
    assert parse_answer(text, Opinion).accepted is True


@pytest.mark.parametrize(
    "text",
    [
        'The set {a, b} is small. {"accepted": true}',
        '{"accepted": false} would be rash; {"accepted": true}',
        'I rest on {"passage": "F1"}, so {"accepted": true, "because": "{braces}"} it is {done}',
        '<think>{"accepted": false}</think>{"accepted": true}',
        '{"accepted": true, "because": "two\nlines"}',
        '{"accepted": true,}',
        "{'accepted': true}",
        '{accepted: true, because: "x", /* so */ }',
        'Here:\n```json\n{"accepted": true, // yes\n}\n```\nDone {really}.',
        'I say {"accepted": true, "because": "a, b,",} and no more',
    ],
)
def test_braces_around_it_and_json5_are_accepted(text: str) -> None:
    assert parse_answer(text, Opinion).accepted is True


@pytest.mark.parametrize(
    "text", ['{"accepted": true, "because": "cut of', '{"accepted": true', "```json\n{accepted: true, because: 'no"]
)
def test_truncated_answer_is_not_completed(text: str) -> None:
    with pytest.raises(UnusableAnswer):
        parse_answer(text, Opinion)


@pytest.mark.parametrize("text", ["", "yes", "{", '{"because": "x"}', "[true]", '{"accepted": "perhaps"}', "{" * 5000])
def test_missing_fields_are_not_filled_in(text: str) -> None:
    with pytest.raises(UnusableAnswer, match="Opinion"):
        parse_answer(text, Opinion)


@pytest.mark.parametrize(
    "text",
    [
        "`" * 60_000,
        "``` " * 50_000,
        "```json\n{" * 30_000,
        "<think>" * 30_000,
        "<think>a</think" * 20_000,
        "{" * 60_000,
        '{"' * 50_000,
        '{"a":' * 20_000,
        "[ " * 60_000,
        f'{{"text": {"9" * 50_000}}}',
    ],
    ids=lambda text: text[:20],
)
def test_a_pathological_answer_is_refused_soon(text: str) -> None:
    """Quadratic expressions took 6 to 120 seconds."""
    began = process_time()
    with pytest.raises(UnusableAnswer):
        parse_answer(text, Opinion)
    assert process_time() - began < 4
