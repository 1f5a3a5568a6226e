"""Trace search compared with two fuzzers: ``.venv/bin/python -m benchmarks.synthesis``.

The fuzzers follow the description of the peer's generator (uniform choice, rejection of whole attempts, initial state
and arguments drawn for every attempt) over our declaration:

- *uniform with rejection*: any tool at each step, with arguments drawn blindly; an attempt is dropped when a call
  does not complete, or at the end if a rule is broken;
- *precondition-aware*: a tool is tried only where the caller can know its arguments, and an attempt ends when a rule
  can no longer be kept.

Neither backtracks. Fuzzers and search get the published rules of banking in trace mode *tasks*. Also measured: the
search with rules that read arguments and results, with quantified rules, with the curated rules of each environment,
and with rules on time, sums and objects in a small bank, with the use of Z3.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from random import Random

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import RowsResult
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.trace_options import TraceMode
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.declarations.loader import PAPER_DOMAINS, load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import TraceSpec
from lawtrace.solver.rules import Rule, load_rules
from tests.support.payment_desk import HARD, PAYMENT_DESK
from tests.support.z3_use import counted_z3_use

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
                    arguments[parameter.name] = parameter.type.encode(domain.draw(random, state))
            case FromLookup(entity):
                arguments[parameter.name] = random.choice([row.values[entity.key] for row in state.rows(entity.table)])
            case FromTrace(_, function):
                arguments[parameter.name] = parameter.type.encode(function(ENVIRONMENT.tools, tuple(events)))
    return arguments


def known_tables(events: list[Event]) -> set[str]:
    """The tables with a row already shown by a look-up."""
    known: set[str] = set()
    for event in events:
        for result in ENVIRONMENT.tools[event.tool].results:
            if isinstance(result, RowsResult) and isinstance(event.result, dict) and event.result.get(result.name):
                known.add(result.entity.table)
    return known


def attempt(random: Random, *, aware: bool) -> bool:
    """Try once to find a compliant trace; return success."""
    session = Session(ENVIRONMENT, ENVIRONMENT.populate(random))
    states = [automaton.initial for automaton in AUTOMATA]
    for _ in range(LENGTH):
        tools = TOOLS
        if aware:
            known = known_tables(session.events)
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
        event = session.call(name, draw_arguments(random, session.state, session.events, name)).event
        if not event.completed:
            return False
        states = [a.step(s, a.alphabet.event_letter(event)) for a, s in zip(AUTOMATA, states, strict=True)]
        if aware and not all(automaton.can_accept(here) for automaton, here in zip(AUTOMATA, states, strict=True)):
            return False
    return all(accepts(automaton, here) for automaton, here in zip(AUTOMATA, states, strict=True))


def accepts(automaton: Automaton, state: int) -> bool:
    return state in automaton.accepting


def fuzz(seed: int, count: int, *, aware: bool) -> float:
    """Traces per processor second."""
    random, found, attempts = Random(seed), 0, 0
    start = time.process_time()
    while found < count:
        attempts += 1
        found += attempt(random, aware=aware)
    return found / (time.process_time() - start)


def search(
    seed: int, count: int, length: int = LENGTH, rules: Sequence[Rule] = RULES, environment: Environment = ENVIRONMENT
) -> float:
    """Traces per processor second."""
    start = time.process_time()
    list(synthesize(environment, rules, count=count, length=length, seed=seed))
    return count / (time.process_time() - start)


def with_solver_use(count: int, rules: Sequence[Rule], environment: Environment, mode: TraceMode = "tasks") -> str:
    """Traces per processor second, queries to Z3 for each trace, and the share of time that Z3 takes."""
    list(synthesize(environment, rules, count=1, length=LENGTH, seed=0, mode=mode))
    rates: list[float] = []
    queries: list[float] = []
    shares: list[float] = []
    for seed in range(1, ROUNDS + 1):
        start = time.process_time()
        with counted_z3_use() as use:
            list(synthesize(environment, rules, count=count, length=LENGTH, seed=seed, mode=mode))
        taken = time.process_time() - start
        rates.append(count / taken)
        queries.append(use.queries / count)
        shares.append(use.seconds / taken)
    rate, asked, share = map(statistics.median, (rates, queries, shares))
    return f"{rate:>10.1f} traces/s {asked:>6.1f} queries a trace {share:>6.1%} of the time in Z3"


def median(measure: Callable[[int], float]) -> float:
    return statistics.median(measure(seed) for seed in range(1, ROUNDS + 1))


def main() -> None:
    ours = median(lambda seed: search(seed, 300))
    uniform = median(lambda seed: fuzz(seed, 3, aware=False))
    aware = median(lambda seed: fuzz(seed, 20, aware=True))
    print(f"medians of {ROUNDS} rounds, banking, trace mode tasks, {LENGTH} calls per trace")
    print(f"{'search, 300 traces':<32}{ours:>10.0f} traces/s")
    print(f"{'uniform with rejection':<32}{uniform:>10.1f} traces/s {ours / uniform:>9.0f} x")
    print(f"{'precondition-aware':<32}{aware:>10.1f} traces/s {ours / aware:>9.0f} x")
    for formula in LOOKING:
        rules = (*RULES, Rule(id="looking", formula=formula))
        search(0, 1, rules=rules)  # builds the transition system once
        print(f"{median(lambda seed, rules=rules: search(seed, 100, rules=rules)):>10.0f} traces/s with {formula}")
    for name in PAPER_DOMAINS:
        setting = load_domain(name)
        rules, world = load_rules(setting.rules_file), setting.environment
        print(f"{with_solver_use(100, rules, world)} with the {len(rules)} curated rules of {name}")
    for what, formulas in HARD.items():
        rules = [Rule(id=formula, formula=formula) for formula in formulas]
        print(f"{with_solver_use(10, rules, PAYMENT_DESK, 'coverage')} with {what}")
    for count, length in ((40, 20), (10, 100)):
        rates = [search(seed, count, length) for seed in range(1, ROUNDS + 1)]
        print(f"{f'search, {count} of {length} calls':<32}{count / statistics.median(rates):>10.2f} s")


if __name__ == "__main__":
    main()
