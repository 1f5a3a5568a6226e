"""Sessions that share compiled rules decide as guards of their own would."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from random import Random

import pytest

import lawtrace
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.events import Event
from lawtrace.solver.guard.decisions import Allow, Decision
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.guard.shield import Shields
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.component import CompiledComponent, compile_components
from tests.support.guard_worlds import World, letter

X, Y = "x", "y"
WORLDS = {
    "order": World(("G(A -> F B)", "G(B -> !O C)", "G(C -> X A)"), [letter(tool) for tool in "ABC"], 6, 2),
    "objects": World(
        ("forall k: G(A(p == k) -> F B(p == k))", "forall k: G(C(p == k) -> G !B(p == k))", "G(count(C) <= 2)"),
        [letter(tool, p=value) for tool in "ABC" for value in (X, Y)],
        5,
        2,
        (X, Y),
    ),
    "deadlines": World(
        ("G(A -> F[<= 2s] B)", "G(A -> G[<= 3s] !C)", "forall k: G(C(p == k) -> F[<= 4s] B(p == k))"),
        [letter(tool, delay=delay, p=X) for tool in "ABC" for delay in (0, 1, 3)],
        6,
        2,
        (X,),
    ),
}


class Walk:
    """A session in which random calls are offered, and those that are allowed happen."""

    def __init__(self, world: World, guard: Guard, seed: int) -> None:
        self.world, self.guard = world, guard
        self.random, self.time = Random(seed), 0
        self.decisions: list[Decision] = []

    def step(self) -> None:
        tool, arguments, result, delay = self.random.choice(self.world.letters)
        call = lawtrace.Call(tool, arguments)
        self.time += delay
        self.decisions.append(self.guard.before(call, time=self.time))
        if isinstance(self.decisions[-1], Allow):
            self.guard.after(call, result)

    @property
    def outcome(self) -> tuple[object, ...]:
        return self.decisions, self.guard.finish(time=self.time), self.guard.lost, self.guard.snapshot()


def played(world: World, guard: Guard, seed: int) -> tuple[object, ...]:
    walk = Walk(world, guard, seed)
    for _ in range(world.length):
        walk.step()
    return walk.outcome


@cache
def alone(name: str, seed: int) -> tuple[object, ...]:
    """The outcome of a session whose guard is its own."""
    return played(WORLDS[name], WORLDS[name].guard(), seed)


@pytest.mark.parametrize("name", WORLDS)
def test_sessions_that_take_turns_decide_as_guards_of_their_own(name: str) -> None:
    world = WORLDS[name]
    compiled = world.guard()
    shared = [Walk(world, compiled.open_session(), seed) for seed in range(3)]
    for _ in range(world.length):
        for walk in shared:
            walk.step()
    assert [walk.outcome for walk in shared] == [alone(name, seed) for seed in range(3)]
    assert len({repr(walk.decisions) for walk in shared}) > 1


@pytest.mark.parametrize("name", WORLDS)
def test_a_session_starts_anew_after_others_have_ended(name: str) -> None:
    compiled = WORLDS[name].guard()
    for seed in range(3):
        assert played(WORLDS[name], compiled.open_session(), seed) == alone(name, seed)


def test_sessions_may_run_in_threads() -> None:
    world = WORLDS["objects"]
    sessions, seeds = world.guard(), [0, 1, 2] * 2
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(played, world, sessions.open_session(), seed) for seed in seeds]
        found = [one.result() for one in running]
    assert found == [alone("objects", seed) for seed in seeds]


def test_a_session_goes_on_from_the_snapshot_of_another() -> None:
    world = WORLDS["objects"]
    first = Walk(world, world.guard(), 3)
    for _ in range(5):
        first.step()
    second = first.guard.open_session()
    assert second.snapshot() != first.guard.snapshot()
    second.load(first.guard.snapshot())
    assert second.snapshot() == first.guard.snapshot()


def test_an_event_that_cannot_be_processed_leaves_no_trace_in_other_sessions() -> None:
    rule = Rule(id="r", formula="forall k: G(A(p == k) -> G !B(p == k))")
    compiled = Guard([rule], ["A", "B"], clock=lambda: 0)
    broken = compiled.open_session()
    with pytest.raises((TypeError, AttributeError)):
        broken.see(Event("A", None))  # type: ignore[arg-type]
    other = compiled.open_session()
    other.see(Event("B", {"p": "x"}))
    assert other.lost == ()


def test_sessions_have_their_own_clocks_and_logs(tmp_path: object) -> None:
    log = lawtrace.GuardLog(f"{tmp_path}/guard.jsonl", "first")
    compiled = Guard([Rule(id="late", formula="G(A -> F[<= 2s] B)")], ["A", "B"], clock=lambda: 0, log=log)
    early, late = compiled.open_session(), compiled.open_session(clock=lambda: 9)
    for guard in (early, late):
        guard.see(Event("A", {}, time=5))
    assert (early.lost, late.lost) == ((), ())
    assert isinstance(late.before(lawtrace.Call("B")), Allow)
    assert (early.lost, late.lost) == ((), ("late",))
    log.close()
    with pytest.raises(OperationalError):
        compiled.before(lawtrace.Call("A"))
    early.before(lawtrace.Call("A"))


def test_shields_compile_a_rule_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def compiled(rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> tuple[CompiledComponent, ...]:
        made.extend(rules)
        return compile_components(rules, tools)

    monkeypatch.setattr("lawtrace.solver.guard.guard.compile_components", compiled)
    bank = lawtrace.load_environment("banking")
    rules = lawtrace.load_rules(bank.rules_file, bank)
    shields = Shields(bank.environment, bank.regulation)
    first, second = shields.open(rules, "refuse"), shields.open([*rules], "refuse")
    assert first is not None
    assert second is not None
    assert first.guard is not second.guard
    assert len(made) == len(rules)
    assert shields.open(rules, "off") is None
