"""What happens without a call has the same meaning in the simulator and in the encoding."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.runtime.simulation import CompiledAgenda
from lawtrace.environments.spec.agenda import Happening
from lawtrace.environments.spec.logic import PLAIN, Logic
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import CallOutcome
from lawtrace.solver.search.problem import Found, Impossible
from lawtrace.solver.search.smt.sequence_encoding import SequenceEncoding
from tests.support import translation_check
from tests.support.proof_desk import PROOF_DESK, desk_state
from tests.support.random_declarations import PLANNED, random_agenda
from tests.support.translation_check import SHARES, Openness, disagreements, draw_case, sequence_disagreements

SEEDS = st.integers(0, 2**32)


def solved(initial: State, *tools: str) -> bool:
    """Whether there are arguments with which all calls complete."""
    answer = SequenceEncoding(PROOF_DESK, {}, initial).solve(tools, [{} for _ in tools])
    assert isinstance(answer, Found | Impossible)
    if isinstance(answer, Impossible):
        assert [obstacle.text for obstacle in answer.core if obstacle.kind == "precondition"] == [
            "SendLetter is refused: The identity is not proven."
        ]
    return isinstance(answer, Found)


def test_what_the_initial_state_starts_makes_a_call_possible_during_a_slow_one() -> None:
    assert not solved(desk_state(), "FindCase", "Study", "SendLetter")
    assert solved(desk_state(proofs=[("C-2", 29)]), "FindCase", "Study", "SendLetter")
    assert not solved(desk_state(proofs=[("C-2", 31)]), "FindCase", "Study", "SendLetter")


def test_what_comes_due_in_the_second_in_which_a_call_begins_is_seen_by_it() -> None:
    from_nine = desk_state(proofs=[("C-1", 0)])
    assert solved(from_nine, "FindCase", "SendLetter")
    session = ["FindCase", *["ReadCase"] * 59, "SendLetter"]  # begins at 09:01:00
    assert solved(desk_state(proofs=[("C-1", 1)]), *session)
    assert not solved(desk_state(proofs=[("C-1", 1)]), *session[:-2], "SendLetter")


def test_what_a_call_starts_makes_another_one_possible() -> None:
    assert not solved(desk_state(), "FindCase", "AskForProof", "Study", "SendLetter")
    assert solved(desk_state(), "FindCase", "AskForProof", "Study", "Study", "SendLetter")


@pytest.mark.parametrize(("proof", "withdrawal", "possible"), [(5, 10, False), (10, 5, True), (5, 5, False)])
def test_of_two_happenings_on_one_row_the_later_decides(proof: int, withdrawal: int, possible: bool) -> None:
    initial = desk_state(proofs=[("C-1", proof)], withdrawals=[("C-1", withdrawal)])
    assert solved(initial, "FindCase", "Study", "SendLetter") is possible


def differs(seed: int, openness: Openness) -> list[str]:
    """The disagreements on a call before which random things happen, often in the second in which it begins."""
    environment, random = random_agenda(seed), Random(seed)
    case = draw_case(environment, environment.tools["Do"], random)
    now = case.now - case.now % 60 if seed % 2 else case.now
    return disagreements(environment, replace(case, now=now), openness, random)


@settings(max_examples=30)
@given(SEEDS, st.sampled_from(list(SHARES)))
def test_simulator_and_encoding_agree_on_what_happens_before_a_call(seed: int, openness: Openness) -> None:
    assert differs(seed, openness) == []


@pytest.mark.slow
@settings(max_examples=15)
@given(SEEDS)
def test_models_of_any_agenda_run_as_planned(seed: int) -> None:
    """With one row of each planned thing at first: where the order is open, each further row multiplies the terms."""
    environment, random = random_agenda(seed), Random(seed)
    initial = environment.populate(random)
    for name in PLANNED:
        initial = initial.with_table(name, tuple(initial.tables[name][:1]))
    do = environment.tools["Do"]
    wanted: list[tuple[Tool, CallOutcome]] = [(do, "completed"), (do, random.choice(("completed", "failed")))]
    found, _ = sequence_disagreements(environment, initial, wanted, random)
    assert found == []


OUTCOMES: tuple[CallOutcome, ...] = ("completed", "completed", "raised")


@pytest.mark.parametrize("seed", range(8))
def test_models_of_open_calls_run_as_planned(seed: int) -> None:
    random = Random(f"agenda/{seed}")
    slow = [PROOF_DESK.tools[name] for name in ("Study", "AskForProof", "ScheduleLetter")]
    tools = [*random.choices(slow, k=3), *random.choices([*PROOF_DESK.tools.values()], k=3)]
    wanted: list[tuple[Tool, CallOutcome]] = [(tool, random.choice(OUTCOMES)) for tool in tools]
    found, events = sequence_disagreements(PROOF_DESK, PROOF_DESK.populate(random), wanted, random)
    assert found == [], events


class SeenASecondLate(CompiledAgenda):
    """The encoding sees what is due only in the second after."""

    def state_at(self, state: State, now: Value, between: tuple[int, int] | None = None) -> State:
        return super().state_at(state, now - 1, between)


class TwoHappenAtOnce(CompiledAgenda):
    """In the encoding each kind of what is due happens apart, as if its order did not matter."""

    def __init__(self, agenda: Sequence[Happening], logic: Logic) -> None:
        super().__init__(agenda, logic)
        self.parts = [CompiledAgenda([one], logic) for one in agenda]

    def state_at(self, state: State, now: Value, between: tuple[int, int] | None = None) -> State:
        for part in self.parts:
            state = part.state_at(state, now, between)
        return state


@pytest.mark.parametrize("bug", [SeenASecondLate, TwoHappenAtOnce])
def test_a_planted_bug_is_found(bug: type[CompiledAgenda], monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(agenda: Sequence[Happening], logic: Logic) -> CompiledAgenda:
        return (CompiledAgenda if logic is PLAIN else bug)(agenda, logic)

    monkeypatch.setattr(translation_check, "compile_agenda", compiled)
    assert any(differs(seed, openness) for seed in range(40) for openness in SHARES)
