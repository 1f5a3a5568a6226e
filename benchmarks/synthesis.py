"""Trace search against two fuzzers, in one run: ``.venv/bin/python benchmarks/synthesis.py``.

The fuzzers are rebuilt from the description of the peer's generator (uniform choice, whole attempts rejected, initial
state and arguments drawn for every attempt), over our own declaration:

- *uniform with rejection*: any tool at each step, arguments drawn blindly from what is there; an attempt is dropped
  as soon as a call does not complete, or at the end if a rule is broken;
- *precondition-aware*: as above, but a tool is only tried where the caller could know its arguments, and a rule that
  can no longer be kept ends the attempt at once.

Neither backtracks. Both fuzzers get the published rules of banking and the profile *tasks*; so does the search. Beside
them the search with rules that look at arguments and results, with quantified ones, and with the curated rules of each
environment, which are of all these kinds. Medians of some rounds.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from random import Random

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.events import Event, Json
from lawtrace.environments.runtime.simulation import simulate_call
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import RowsResult
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser
from lawtrace.solver.ltlf import Automaton
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import TraceSpec
from lawtrace.solver.rules import Rule, load_rules

RULES = load_rules(load_domain("banking").gold_file)
AUTOMATA = TraceSpec(ENVIRONMENT, tuple(RULES), "tasks").automata(8)
TOOLS = list(ENVIRONMENT.tools.values())
LENGTH = 8
LOOKING = (
    "!((!CheckAuthorization(result.authorized)) U TransferFunds)",
    'G(PayBill -> F RecordAuditEvent("BILL_PAYMENT" in events))',
    "G(TransferFunds(amount > 400) -> O GetAccountStatement)",
    "forall a: G(TransferFunds(from_account_number == a) -> O GetAccountStatement(account_number == a))",
    "forall p: G(PayBill(payee_id == p) -> WX G !PayBill(payee_id == p))",
)
ROUNDS = 5


def draw_arguments(random: Random, state: State, events: list[Event], name: str) -> dict[str, Json]:
    tool = ENVIRONMENT.tools[name]
    arguments: dict[str, Json] = {}
    for parameter in tool.parameters:
        match parameter.source:
            case FromUser(domain, share):
                if parameter.required or random.random() < share:
                    arguments[parameter.name] = parameter.kind.encode(domain.draw(random, state))
            case FromLookup(entity):
                arguments[parameter.name] = random.choice([row.values[entity.key] for row in state.rows(entity.table)])
            case FromTrace(_, function):
                arguments[parameter.name] = parameter.kind.encode(function(ENVIRONMENT.tools, tuple(events)))
    return arguments


def known_tables(events: list[Event]) -> set[str]:
    """The tables of which some look-up has shown a row."""
    known: set[str] = set()
    for event in events:
        for result in ENVIRONMENT.tools[event.tool].results:
            if isinstance(result, RowsResult) and isinstance(event.result, dict) and event.result.get(result.name):
                known.add(result.entity.table)
    return known


def attempt(random: Random, *, aware: bool) -> bool:
    """One attempt at a compliant trace; whether it succeeded."""
    state, events = ENVIRONMENT.populate(random), list[Event]()
    states = [automaton.initial for automaton in AUTOMATA]
    for _ in range(LENGTH):
        tools = TOOLS
        if aware:
            known = known_tables(events)
            tools = [
                tool
                for tool in TOOLS
                if all(
                    parameter.source.entity.table in known
                    for parameter in tool.parameters
                    if isinstance(parameter.source, FromLookup)
                )
            ]
        name = random.choice(tools).name
        event, state = simulate_call(ENVIRONMENT, state, name, draw_arguments(random, state, events, name))
        if not event.completed:
            return False
        events.append(event)
        states = [a.step(s, a.event_letter(event)) for a, s in zip(AUTOMATA, states, strict=True)]
        if aware and not all(automaton.can_accept(here) for automaton, here in zip(AUTOMATA, states, strict=True)):
            return False
    return all(accepts(automaton, here) for automaton, here in zip(AUTOMATA, states, strict=True))


def accepts(automaton: Automaton, state: int) -> bool:
    return state in automaton.accepting


def fuzz(seed: int, count: int, *, aware: bool) -> float:
    """Traces a second."""
    random, found, attempts = Random(seed), 0, 0
    start = time.perf_counter()
    while found < count:
        attempts += 1
        found += attempt(random, aware=aware)
    return found / (time.perf_counter() - start)


def search(
    seed: int,
    count: int,
    length: int = LENGTH,
    rules: Sequence[Rule] = RULES,
    environment: Environment = ENVIRONMENT,
) -> float:
    start = time.perf_counter()
    list(synthesize(environment, rules, count=count, length=length, seed=seed))
    return count / (time.perf_counter() - start)


def median(measure: Callable[[int], float]) -> float:
    return statistics.median(measure(seed) for seed in range(1, ROUNDS + 1))


def main() -> None:
    ours = median(lambda seed: search(seed, 300))
    uniform = median(lambda seed: fuzz(seed, 3, aware=False))
    aware = median(lambda seed: fuzz(seed, 20, aware=True))
    print(f"medians of {ROUNDS} rounds, banking, profile tasks, {LENGTH} calls a trace")
    print(f"{'search, 300 traces':<32}{ours:>10.0f} traces/s")
    print(f"{'uniform with rejection':<32}{uniform:>10.1f} traces/s {ours / uniform:>9.0f} x")
    print(f"{'precondition-aware':<32}{aware:>10.1f} traces/s {ours / aware:>9.0f} x")
    for formula in LOOKING:
        rules = (*RULES, Rule(id="looking", formula=formula))
        search(0, 1, rules=rules)  # finds out what calls do to the facts, once
        print(f"{median(lambda seed, rules=rules: search(seed, 100, rules=rules)):>10.0f} traces/s with {formula}")
    for name in BUILT_IN_DOMAINS:
        setting = load_domain(name)
        rules, world = load_rules(setting.rules_file), setting.environment
        search(0, 1, rules=rules, environment=world)
        rate = median(
            lambda seed, rules=rules, environment=world: search(seed, 100, rules=rules, environment=environment)
        )
        print(f"{rate:>10.0f} traces/s with the {len(rules)} curated rules of {name}")
    for count, length in ((40, 20), (10, 100)):
        rates = [search(seed, count, length) for seed in range(1, ROUNDS + 1)]
        print(f"{f'search, {count} of {length} calls':<32}{count / statistics.median(rates):>10.2f} s")


if __name__ == "__main__":
    main()
