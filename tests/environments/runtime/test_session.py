"""Sessions: calls with JSON text and with decoded arguments give the same events."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import simulate_call

INITIAL = ENVIRONMENT.populate(Random(1))
TEXT = st.text('aé"{}[]:,\\1\ud800 ', max_size=20)
WHOLE = st.text('aé"{}[]:,\\1 ', max_size=20)


@given(tool=st.sampled_from(sorted(ENVIRONMENT.tools)) | TEXT, text=TEXT | st.just("{}"))
def test_any_argument_text_gives_an_event(tool: str, text: str) -> None:
    session = Session(ENVIRONMENT, INITIAL)
    answer = session.call_written(tool, text)
    assert session.events == [answer.event]
    assert answer.text


@given(
    arguments=st.dictionaries(
        st.sampled_from(["keywords", "account_type", "amount", "other"]),
        st.integers() | WHOLE | st.lists(WHOLE) | st.none(),
    ),
    tool=st.sampled_from(sorted(ENVIRONMENT.tools)),
)
def test_arguments_as_json_text_equal_decoded_arguments(arguments: dict[str, str], tool: str) -> None:
    session = Session(ENVIRONMENT, INITIAL)
    event = session.call_written(tool, json.dumps(arguments, ensure_ascii=False)).event
    assert (event, session.state) == simulate_call(
        ENVIRONMENT, INITIAL, tool, arguments, ENVIRONMENT.clock.start(INITIAL)
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{'keywords': ['x']}", "not strict JSON"),
        ('{"keywords": ["x"]', "not strict JSON"),
        ('["x"]', "not a JSON object"),
        ('{"keywords": ["x"], "keywords": ["y"]}', "the same key twice"),
        ('{"keywords": [NaN]}', "NaN is not a JSON number"),
        ('{"keywords": ["\\ud800"]}', "surrogates not allowed"),
        ("[" * 10_000, "not strict JSON"),
    ],
)
def test_invalid_argument_text_rejects_the_call(text: str, reason: str) -> None:
    session = Session(ENVIRONMENT, INITIAL)
    event = session.call_written("SearchPayee", text).event
    assert (event.outcome, event.arguments, session.state) == ("rejected", {}, INITIAL)
    assert event.error is not None
    assert event.error.startswith("InvalidCallError: ")
    assert reason in event.error


def test_empty_argument_text_means_no_arguments() -> None:
    assert Session(ENVIRONMENT, INITIAL).call_written("CheckAuthorization", "").event.completed
