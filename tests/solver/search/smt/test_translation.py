"""Simulator and encoding agree on each declaration, and planted bugs are detected."""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.simulation import CandidateRows, CompiledTool, Transition, compile_tool
from lawtrace.environments.spec.logic import Logic
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import CallOutcome
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, PAPER_DOMAINS, load_domain
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic
from tests.support.translation_check import SHARES, Openness, disagreements, draw_case, sequence_disagreements

SETTLED = frozenset({"session"})
CASES = 6
OUTCOMES: tuple[CallOutcome, ...] = ("completed", "failed", "raised")


TOOLS = [
    pytest.param(where, name, marks=[] if where in PAPER_DOMAINS else pytest.mark.slow)
    for where in BUILT_IN_DOMAINS
    for name in load_domain(where).environment.tools
]


@pytest.mark.parametrize(
    "openness", [share if share == "mixed" else pytest.param(share, marks=pytest.mark.slow) for share in SHARES]
)
@pytest.mark.parametrize(("where", "name"), TOOLS)
def test_simulator_and_encoding_agree_on_every_tool(where: str, name: str, openness: Openness) -> None:
    environment = load_domain(where).environment
    settled = SETTLED & environment.entities.keys()
    for number in range(CASES if where == "banking" else 1):
        random = Random(f"{name}/{openness}/{number}")
        case = draw_case(environment, environment.tools[name], random, settled)
        assert disagreements(environment, case, openness, random, settled=settled) == [], f"case {number}: {case}"


@pytest.mark.slow
@pytest.mark.parametrize("where", BUILT_IN_DOMAINS)
def test_models_of_a_few_open_calls_run_as_planned(where: str) -> None:
    environment = load_domain(where).environment
    for number in range(15 if where == "banking" else 4):
        random = Random(f"sequence/{number}")
        tools = random.choices(list(environment.tools.values()), k=4)
        wanted: list[tuple[Tool, CallOutcome]] = [(tool, random.choice(OUTCOMES)) for tool in tools]
        found, events = sequence_disagreements(environment, environment.populate(random), wanted, random)
        assert found == [], f"sequence {number}: {events}"


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("name", ["TransferFunds", "PayBill"])
def test_models_show_every_outcome(name: str, outcome: CallOutcome) -> None:
    random = Random(f"{name}/{outcome}")
    wanted: list[tuple[Tool, CallOutcome]] = [
        (ENVIRONMENT.tools["TransferFunds"], OUTCOMES[0]),
        (ENVIRONMENT.tools[name], outcome),
    ]
    found, events = sequence_disagreements(ENVIRONMENT, ENVIRONMENT.populate(random), wanted, random)
    assert (found, [event.outcome for event in events]) == ([], ["completed", outcome])


# Planted bugs: each changes the symbolic encoding in one place, and the check above must find it.


class AnyAsAll(SymbolicLogic):
    def any(self, truths: Iterable[Value]) -> Value:
        return super().all(truths)


class AllAsAny(SymbolicLogic):
    def all(self, truths: Iterable[Value]) -> Value:
        return super().any(truths)


class NegationLost(SymbolicLogic):
    def negate(self, truth: Value) -> Value:
        return truth


class NegationLostWhereOpen(SymbolicLogic):
    def negate(self, truth: Value) -> Value:
        return not truth if isinstance(truth, bool) else truth


class ChoiceSwapped(SymbolicLogic):
    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        return super().choose(condition, otherwise, then)


class ChoiceSwappedWhereOpen(SymbolicLogic):
    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        pair = (then, otherwise) if isinstance(condition, bool) else (otherwise, then)
        return super().choose(condition, *pair)


class IndexOffByOne(SymbolicLogic):
    """Concrete strings are compared with open ones by the wrong index."""

    def equal(self, left: Value, right: Value) -> Value:
        if isinstance(left, str) is isinstance(right, str):
            return super().equal(left, right)
        return super().equal(*(self._next(side) if isinstance(side, str) else side for side in (left, right)))

    def _next(self, text: str) -> str:
        self.index(text)
        return self.word((self.index(text) + 1) % (self.index("the last word") + 1))


class PartsReversed(SymbolicLogic):
    """Tests whether the part contains the whole."""

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        return super().apply(function, *reversed(texts))


class FirstWordOnly(SymbolicLogic):
    """Uses the value of the first word of the pool for all words."""

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        return function(*(text if isinstance(text, str) else self.word(0) for text in texts))


class EffectsUnguarded(CompiledTool):
    """A refused call changes the state."""

    def transition(self, state: State, arguments: Mapping[str, Value], now: Value, *, succeeded: Value) -> Transition:
        after = super().transition(state, arguments, now, succeeded=True).state
        return Transition(after, super().transition(state, arguments, now, succeeded=succeeded).results)


class PresenceForgotten(CompiledTool):
    """Absent rows are listed like present ones."""

    def transition(self, state: State, arguments: Mapping[str, Value], now: Value, *, succeeded: Value) -> Transition:
        transition = super().transition(state, arguments, now, succeeded=succeeded)
        results = {
            name: CandidateRows(tuple((True, row) for _, row in value.listed), value.parts)
            if isinstance(value, CandidateRows)
            else value
            for name, value in transition.results.items()
        }
        return Transition(transition.state, results)


class ResultsOfTheStateAfter(CompiledTool):
    """Results are read from the state after the call."""

    def transition(self, state: State, arguments: Mapping[str, Value], now: Value, *, succeeded: Value) -> Transition:
        after = super().transition(state, arguments, now, succeeded=succeeded).state
        return Transition(after, super().transition(after, arguments, now, succeeded=succeeded).results)


BROKEN: dict[str, tuple[type[SymbolicLogic], Callable[[Tool, Logic], CompiledTool]]] = {
    **{
        logic.__name__: (logic, compile_tool)
        for logic in (
            AnyAsAll,
            AllAsAny,
            NegationLost,
            NegationLostWhereOpen,
            ChoiceSwapped,
            ChoiceSwappedWhereOpen,
            IndexOffByOne,
            PartsReversed,
            FirstWordOnly,
        )
    },
    **{
        compiler.__name__: (SymbolicLogic, compiler)
        for compiler in (EffectsUnguarded, PresenceForgotten, ResultsOfTheStateAfter)
    },
}


@pytest.mark.parametrize("bug", BROKEN)
def test_a_planted_bug_is_found(bug: str) -> None:
    logic, compiler = BROKEN[bug]

    def finds(name: str, openness: Openness, number: int) -> bool:
        random = Random(f"{name}/{openness}/{number}")
        case = draw_case(ENVIRONMENT, ENVIRONMENT.tools[name], random, SETTLED)
        options: dict[str, Any] = {"logic": logic(), "compiler": compiler, "settled": SETTLED}
        return bool(disagreements(ENVIRONMENT, case, openness, random, **options))

    # With the cases of the first test, which would fail.
    assert any(
        finds(name, openness, number)
        for number in range(CASES)
        for name in ENVIRONMENT.tools
        for openness in ("mixed", "symbolic", "concrete")
    )
