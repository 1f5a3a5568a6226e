"""The scripted user: what it tells, when, and that it always ends."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.agents.scripted.user_automaton import ScriptedUser, SessionView, UserLine, questions
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.choices import BEHAVIOURS, Behaviour
from lawtrace.solver.masking.instructions import find_leaks
from lawtrace.solver.masking.omissions import PartialRequest, partial_request
from tests.support.released import tasks_of

FROM_PHRASES = ("banking", "smart_home", "telehealth")
BY_HAND = ("payments", "clinic", "privacy_desk")
Case = tuple[PartialRequest, State]
"""A request and the initial state."""


@cache
def released(name: str) -> tuple[Case, ...]:
    tasks, domain = read_tasks(tasks_of(name), None)
    cases: list[Case] = []
    for task in tasks:
        initial = task.initial(domain.environment)
        requests = (
            partial_request(domain.environment, initial, task.requested, task.instructions[style])
            for style in task.styles
        )
        cases += [(request, initial) for request in requests]
    return tuple(cases)


def make(
    case: Case, behaviours: Collection[Behaviour] = BEHAVIOURS, seed: int = 1, *, acted: bool = True
) -> ScriptedUser:
    return ScriptedUser(*case, SessionView(lambda: acted, lambda: True), behaviours, seed)


def talk(user: ScriptedUser, agent: Callable[[ScriptedUser], str]) -> Iterator[UserLine]:
    yield user.open()
    for _ in range(40):
        line = user.reply(agent(user))
        yield line
        if line.ends:
            return
    raise AssertionError("the dialogue does not end")


def ask_for_the_next(user: ScriptedUser) -> str:
    return f"What is the {user.unsaid[0].kind}?" if user.unsaid else "It is done."


@pytest.mark.parametrize("name", [*FROM_PHRASES, *(pytest.param(name, marks=pytest.mark.slow) for name in BY_HAND)])
def test_the_user_tells_the_request_in_its_own_words(name: str) -> None:
    for request, initial in released(name):
        lines = list(talk(make((request, initial), ()), ask_for_the_next))
        text = "\n".join(line.text for line in lines)
        assert [value for value in request.values if value.lower() not in text.lower()] == []
        assert {*re.findall(r"\d+(?:[.:-]\d+)*", text)} == {*re.findall(r"\d+(?:[.:-]\d+)*", request.text)}
        assert bool(request.omissions) == (request.text not in lines[0].text)


@pytest.mark.parametrize("name", [*FROM_PHRASES, *(pytest.param(name, marks=pytest.mark.slow) for name in BY_HAND)])
def test_the_user_names_no_hidden_step_tool_or_parameter(name: str) -> None:
    for case in released(name)[::3]:
        environment = case[0].environment
        said = {word for line in talk(make(case), ask_for_the_next) for word in re.findall(r"\w+", line.text)}
        assert said.isdisjoint(_identifiers(environment))
        for behaviour in BEHAVIOURS:
            text = "\n".join(line.text for line in talk(make(case, (behaviour,), 2), ask_for_the_next))
            assert find_leaks(environment, text) == [], text


def _identifiers(environment: Environment) -> set[str]:
    parameters = {parameter.name for tool in environment.tools.values() for parameter in tool.parameters}
    return {*environment.tools, *(name for name in parameters if "_" in name)}


def test_the_first_message_leaves_values_out_and_the_answers_tell_them() -> None:
    case = released("banking")[8]
    told = {"64.35", "2026-04-24"}
    users = (make(case, (), seed) for seed in range(60))
    user = next(user for user in users if {user.request.words(one) for one in user.unsaid} == told)
    assert "A bill of a certain amount" in user.open().text
    line = user.reply("Gladly! How much is the bill, and on which day should it be paid?")
    assert line.moves == ("answers",)
    assert {"64.35", "2026-04-24"} <= set(line.values)


def test_a_question_that_is_not_understood_is_answered_by_everything() -> None:
    user = make(released("banking")[0], ())
    user.open()
    assert user.reply("Quo vadis?").moves == ("restates",)
    line = user.reply("Quid dicis?")
    assert line.moves == ("tells_all",)
    assert set(line.values) == set(released("banking")[0][0].values)
    assert not user.unsaid


def test_a_correction_follows_a_doubt_in_the_next_message() -> None:
    seen = 0
    for case in released("banking"):
        doubtful = ""
        for line in talk(make(case, ("changes_mind",)), ask_for_the_next):
            if doubtful:
                seen += 1
                assert line.moves[0] == "corrects"
                assert re.search(rf"I've checked: .*, not .*{re.escape(doubtful)}\.", line.text)
                assert set(line.values) & set(case[0].values)
            doubt = re.search(r"(\S+), I think, but I'm not sure yet", line.text)
            doubtful = doubt[1] if doubt else ""
            assert bool(doubtful) == ("hesitates" in line.moves)
    assert seen > 10


def test_a_user_who_withdraws_does_not_come_back() -> None:
    case = released("banking")[0]
    seed = next(seed for seed in range(20) if make(case, ("withdraws",), seed).behaviour)
    user = make(case, ("withdraws",), seed)
    user.open()
    assert user.reply("Which account?").moves == ("withdraws",)
    assert [user.reply("Are you sure?").moves[0] for _ in range(3)] == ["insists", "insists", "closes"]


def test_the_seed_and_the_instruction_decide_everything() -> None:
    case = released("telehealth")[4]
    assert list(talk(make(case), ask_for_the_next)) == list(talk(make(case), ask_for_the_next))
    scripts = {tuple(line.text for line in talk(make(case, seed=seed), ask_for_the_next)) for seed in range(8)}
    assert len(scripts) > 4
    behaviours = {make(one, seed=seed).behaviour for one in released("telehealth")[:10] for seed in range(4)}
    assert behaviours == {None, *BEHAVIOURS}


MESSAGES = (
    "Which account?",
    "How much?",
    "What would you like?",
    "Shall I go ahead?",
    "I will look that up.",
    "Please tell me the following:\n- the date\n- the doctor",
    "Done. Anything else?",
    "",
    "???",
)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_dialogue_ends(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from([*released("banking")[:6], *released("telehealth")[:6]]))
    user = make(case, seed=data.draw(st.integers(0, 9)), acted=data.draw(st.booleans()))
    lines = list(talk(user, lambda _: data.draw(st.sampled_from(MESSAGES))))
    assert len(lines) <= len(case[0].omissions) + 12


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("I have paid the bill. Is there anything else I can do?", ""),
        ("Done. Let me know if you need more.", ""),
        ("I looked. Which day?", "Which day?"),
        ("I need the amount.", "I need the amount."),
        ("Please tell me:\n- the day\n- the amount", "Please tell me:\n- the day\n- the amount"),
    ],
)
def test_offers_are_not_questions(message: str, asked: str) -> None:
    assert questions(message) == asked
