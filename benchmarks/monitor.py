"""Cost of formulas and monitors: medians over repeated runs.

    python benchmarks/monitor.py [--repeat 9]

The seven rules are those of payment services law over eight banking tools. The forty overlapping rules are a chain of
twenty restrictions and twenty obligations in which neighbours share tools.
"""

import argparse
import random
import tracemalloc
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter

from lawtrace.environments.events import Event, Json
from lawtrace.solver.ltlf import And, Automaton, Formula, Monitor, body_of, compile_formula, parse

OPERATIONS = ("TransferFunds", "PayBill", "GetAccountStatement")
SEVEN = (
    *(f"NOT ((NOT CheckAuthorization) UNTIL {tool})" for tool in OPERATIONS),
    *(f"ALWAYS ({tool} IMPLIES EVENTUALLY(RecordAuditEvent))" for tool in OPERATIONS),
    "NOT ((NOT SearchPayee) UNTIL PayBill)",
)
CONDITIONED = (
    "G(TransferFunds(amount > 1000) -> F RecordAuditEvent)",
    "!(!CheckAuthorization(result.authorized) U TransferFunds)",
)
FORTY = (
    *(f"!(!Tool{i} U Tool{i + 1})" for i in range(20)),
    *(f"G(Tool{i} -> F Tool{i + 2})" for i in range(20)),
)
CHANGES = ("LockDoor", "UnlockDoor", "AddGuest", "DeleteGuest", "GrantAccess", "RevokeAccess", "MakeCode", "RevokeCode")
HEALTH = ("Consult", "UserInfo", "MedicalHistory", "Prescriptions", "RequestPrescription", "Schedule", "Manage")
PUBLISHED = {  # the shapes of the three published rule sets, with our tool names
    "payments": SEVEN,
    "smart lock": (
        *(f"!((!CheckAuthorization) U {tool})" for tool in ("UnlockDoor", "GrantAccess", "MakeCode")),
        "!((!(AddGuest | SearchGuests)) U GrantAccess)",
        "G(DeleteGuest -> F RevokeAccess)",
        f"G(({' | '.join(CHANGES)}) -> F RecordAuditEvent)",
    ),
    "telehealth": (
        f"!((!CheckAuthorization) U ({' | '.join(HEALTH)}))",
        f"G(({' | '.join(HEALTH)}) -> F RecordAuditEvent)",
        "!((!Consult) U RequestPrescription)",
        "!((!(Consult | Schedule)) U SendMessage)",
    ),
}
SAME_ACCOUNT = ("forall a: G(TransferFunds(account == a) -> F RecordAuditEvent(account == a))",)
TOOLS = (*OPERATIONS, "CheckAuthorization", "RecordAuditEvent", "SearchPayee", "GetBalance", "ListAccounts")
EVENTS = 100_000


def timed(action: Callable[[], object], repeat: int) -> float:
    """Median seconds of an action."""
    seconds: list[float] = []
    for _ in range(repeat):
        start = perf_counter()
        action()
        seconds.append(perf_counter() - start)
    return median(seconds)


def compiled(rules: tuple[str, ...]) -> Mapping[str, Automaton]:
    return {rule: compile_formula(parse(rule)) for rule in rules}


def compile_afresh(formulas: tuple[Formula, ...]) -> None:
    compile_formula.cache_clear()
    for formula in formulas:
        compile_formula(formula)


def parse_afresh(rules: tuple[str, ...]) -> None:
    parse.cache_clear()
    for rule in rules:
        parse(rule)


def events(tools: tuple[str, ...], seed: int) -> list[Event]:
    rng = random.Random(seed)
    arguments: dict[str, Json] = {"amount": 500}
    result: dict[str, Json] = {"authorized": True}
    return [Event(rng.choice(tools), arguments, result=result) for _ in range(EVENTS)]


def events_about(values: int, seed: int) -> list[Event]:
    """Calls with this number of different accounts."""
    rng = random.Random(seed)
    return [Event(rng.choice(TOOLS), {"account": rng.randrange(values)}) for _ in range(EVENTS)]


def feed_all(monitor: Monitor, trace: list[Event]) -> None:
    for event in trace:
        monitor.feed(event)


def growth(rules: tuple[str, ...], trace: list[Event]) -> int:
    """Bytes by which a monitor grows after the first thousand events."""
    monitor = Monitor(compiled(rules))
    feed_all(monitor, trace[:1000])
    tracemalloc.start()
    feed_all(monitor, trace[1000:])
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return grown


def show(what: str, seconds: float, *, per: int = 1, unit: str = "") -> None:
    text = f"{1e3 * seconds:9.2f} ms"
    if per > 1:
        text += f"  = {1e9 * seconds / per:6.0f} ns and {per / seconds:12,.0f} {unit}/s"
    print(f"{what:<52}{text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    repeat: int = parser.parse_args().repeat

    parse_afresh(SEVEN)  # builds the grammar
    seven, forty = tuple(map(parse, SEVEN)), tuple(map(parse, FORTY))
    show("parse seven rules", timed(lambda: parse_afresh(SEVEN), repeat))
    show("compile seven rules, apart", timed(lambda: compile_afresh(seven), repeat))
    show("compile seven rules, as one automaton", timed(lambda: compile_afresh((And(*map(body_of, seven)),)), repeat))
    show("compile forty overlapping rules, apart", timed(lambda: compile_afresh(forty), repeat))

    for name, rules in PUBLISHED.items():
        formulas = tuple(map(parse, rules))
        show(f"compile the published set for {name}, apart", timed(lambda f=formulas: compile_afresh(f), repeat))

    banking, chain = events(TOOLS, seed=1), events(tuple(f"Tool{i}" for i in range(22)), seed=1)
    for name, rules, trace in (
        ("seven rules", SEVEN, banking),
        ("nine rules, two with conditions", SEVEN + CONDITIONED, banking),
        ("forty rules", FORTY, chain),
    ):
        automata = compiled(rules)
        show(f"make a monitor, {name}", timed(lambda a=automata: Monitor(a), repeat))
        bulk = timed(lambda a=automata, t=trace: Monitor(a).run(t), repeat)
        show(f"run {EVENTS:,} events, {name}", bulk, per=EVENTS, unit="events")
        single = timed(lambda a=automata, t=trace: feed_all(Monitor(a), t), repeat)
        show(f"feed them one by one, {name}", single, per=EVENTS, unit="events")
    for values in (10, 1_000, 100_000):
        trace, automata = events_about(values, seed=1), compiled(SAME_ACCOUNT)
        seconds = timed(lambda a=automata, t=trace: Monitor(a).run(t), repeat)
        show(f"one quantified rule, {values:,} values", seconds, per=EVENTS, unit="events")
    print(f"{'a monitor grows by, seven rules, ' + f'{EVENTS:,} events':<52}{growth(SEVEN, banking):9,} bytes")
    with_history = timed(lambda: Monitor(compiled(SEVEN), history=True).run(banking), repeat)
    show("run with the states after each event, seven rules", with_history, per=EVENTS, unit="events")


if __name__ == "__main__":
    main()
