"""Guards under open questions, against a search for each interpretation by itself."""

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from random import Random

import pytest

from lawtrace.schemas.choices import OnArguable
from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.guard.decisions import Allow, Call, Decision, PermissionRequest, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.interpretations import enumerate_interpretations, is_active, question_groups
from lawtrace.solver.rules import Rule
from tests.support.guard_worlds import UNTIMED, A, B, C, World

LETTERS = [A, B, C]
QUESTIONS = [
    Question(
        id=name,
        provisions=("Article 1",),
        asks=f"What does {name} mean?",
        readings=(Reading(id="narrow", means=f"little of {name}"), Reading(id="wide", means=f"much of {name}")),
    )
    for name in ("p", "q")
]


class DisputedWorld(World):
    """A world in which some rules hold under some readings only."""

    @cached_property
    def rules(self) -> list[Rule]:
        random = Random(repr(self.formulas))
        return [under_some_reading(rule, random) for rule in super().rules]

    @cached_property
    def interpretations(self) -> list[World]:
        """What is left of the world under each interpretation."""
        every = enumerate_interpretations(question_groups(self.rules))
        active = [tuple(rule.formula for rule in self.rules if is_active(rule, taken)) for taken in every]
        return [World(formulas, self.letters, self.length, self.more) for formulas in active]


def under_some_reading(rule: Rule, random: Random) -> Rule:
    question = random.choice([None, *QUESTIONS])
    if question is None:
        return rule
    reading = random.choice(question.readings).id
    return rule.model_copy(update={"under": {question.id: (reading,)}, "questions": (question,)})


def verdict_on(decision: Decision) -> str:
    if isinstance(decision, Allow):
        return "allowed"
    return "arguable" if decision.finding.arguable else "refused"


@pytest.mark.parametrize("number", range(len(UNTIMED)))
def test_a_call_is_refused_if_it_is_under_all_interpretations(number: int) -> None:
    world = DisputedWorld(UNTIMED[number], LETTERS, 4, 3)
    assert all(one.alive(()) for one in world.interpretations)
    for numbers in Random(number).sample(list(product(range(3), repeat=world.length)), 8):
        guard, happened = world.guard(), tuple[int, ...]()
        for letter in numbers:
            alive = [one.alive((*happened, letter)) for one in world.interpretations]
            expected = "allowed" if all(alive) else "arguable" if any(alive) else "refused"
            before = guard.snapshot()
            time = world.trace((*happened, letter))[-1].time
            assert verdict_on(guard.before(world.call(letter), time=time)) == expected, (world.rules, happened, letter)
            if expected == "allowed":
                guard.after(world.call(letter))
                happened = (*happened, letter)
            else:
                guard = Guard.restore(before, world.rules, world.tools)


def guard_of(
    on_arguable: OnArguable, answers: Sequence[bool] = (), asked: list[PermissionRequest] | None = None
) -> Guard:
    rules = [
        Rule(
            id="b-first",
            formula="G(A -> O B)",
            rationale="B comes first.",
            under={"p": ("narrow",)},
            questions=(QUESTIONS[0],),
        )
    ]
    answer = iter(answers)

    def ask(question: PermissionRequest) -> bool:
        assert asked is not None
        asked.append(question)
        return next(answer)

    return Guard(rules, ["A", "B"], on_arguable=on_arguable, ask=ask if answers else None, clock=lambda: 0)


def test_what_is_arguable_is_asked_or_decided_by_choice() -> None:
    call, asked = Call("A"), list[PermissionRequest]()
    assert isinstance(guard_of("allow").before(call), Allow)
    refused = guard_of("refuse").before(call)
    assert isinstance(refused, Refuse)
    assert (
        "Article 1 is open: What does p mean? The call is ruled out if little of p; allowed if much" in refused.reason
    )
    assert isinstance(guard_of("ask").before(call), Refuse)
    assert isinstance(guard_of("ask", [True], asked).before(call), Allow)
    assert isinstance(guard_of("ask", [False], asked).before(call), Refuse)
    assert [question.finding.rules for question in asked] == [("b-first",)] * 2


def test_a_duty_says_under_which_readings_it_is_open() -> None:
    rule = Rule(id="then-b", formula="G(A -> F B)", under={"p": ("wide",)}, questions=(QUESTIONS[0],))
    guard = Guard([rule], ["A", "B"], clock=lambda: 0)
    guard.before(Call("A"))
    guard.after(Call("A"))
    (duty,) = guard.finish()
    assert (duty.rule, duty.under, [step.call.tool for step in duty.steps if step.call]) == (
        "then-b",
        {"p": ("wide",)},
        ["B"],
    )
