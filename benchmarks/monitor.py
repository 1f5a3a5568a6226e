"""Cost of formulas and monitors in processor time: medians over repeated runs.

    python benchmarks/monitor.py [--repeat 9] [--long]

The seven rules are those of payment services law over eight banking tools. The forty overlapping rules are a chain of
twenty restrictions and twenty obligations in which neighbours share tools.

The rules with time are the three published GDPR formulas, with their log, from `../shared/data/temporal`. The log is
followed as `lawtrace audit` does, by time points; then as calls of a session, one time point each. For the growth it is
repeated: later, with the same persons and data, and with new ones in each repetition.
"""

import argparse
import random
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time

from lawtrace.runs.audit.monpoly.logs import LogStep, MonpolyLog
from lawtrace.runs.audit.monpoly.mfotl import import_mfotl
from lawtrace.runs.audit.monpoly.mfotl_signature import parse_signature
from lawtrace.runs.scoring.judge import RuleJudge
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import And, Formula, body_of
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.monitoring.monitor import Monitor

TASKS = Path(__file__).parents[1] / "tests" / "data" / "tasks" / "clinic.jsonl"

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
FORTY = (*(f"!(!Tool{i} U Tool{i + 1})" for i in range(20)), *(f"G(Tool{i} -> F Tool{i + 2})" for i in range(20)))
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
PUBLISHED_LOG = Path(__file__).parents[2] / "shared" / "data" / "temporal" / "gdpr.log"
DAY = 86_400
GROWTH = (10_000, 100_000, 1_000_000)


def timed(action: Callable[[], object], repeat: int) -> float:
    """Median processor seconds of an action."""
    seconds: list[float] = []
    for _ in range(repeat):
        start = process_time()
        action()
        seconds.append(process_time() - start)
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


def read_published() -> tuple[list[LogStep], dict[str, FirstOrderRule]]:
    """The log and its rules."""
    folder = PUBLISHED_LOG.parent
    signature = parse_signature((folder / "gdpr_signature.sig").read_text(encoding="utf-8"))
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("gdpr_*.mfotl"))}
    rules = {
        name.removeprefix("gdpr_"): FirstOrderRule(import_mfotl(text, signature, time_unit=DAY).rule)
        for name, text in texts.items()
    }
    return list(MonpolyLog(PUBLISHED_LOG).steps(signature, time_unit=DAY)), rules


def feed_steps(monitor: FirstOrderMonitor, log: Sequence[LogStep], delay: int = 0) -> None:
    for step in log:
        monitor.feed_step(step.time + delay, step.events)


def repeated(log: Sequence[LogStep], events: int, *, renamed: bool) -> Iterator[Sequence[LogStep]]:
    """The log again and again, with this number of events; `renamed`: each time with new persons and data."""
    for number in count():
        part = [_renamed(step, number) for step in log] if renamed else log
        for place, step in enumerate(part):
            events -= len(step.events)
            if events <= 0:
                yield part[: place + 1]
                return
        yield part


def _renamed(step: LogStep, number: int) -> LogStep:
    def changed(event: Event) -> Event:
        return replace(event, arguments={name: f"{value}/{number}" for name, value in event.arguments.items()})

    return replace(step, events=tuple(map(changed, step.events)))


def follow(monitor: FirstOrderMonitor, log: Sequence[LogStep], events: int, *, renamed: bool) -> float:
    """Processor seconds of a monitor for the repeated log."""
    span = log[-1].time - log[0].time
    seconds = 0.0
    for number, part in enumerate(repeated(log, events, renamed=renamed)):
        start = process_time()
        feed_steps(monitor, part, number * span)
        seconds += process_time() - start
    return seconds


def size_after(rule: FirstOrderRule, log: Sequence[LogStep], events: int, *, renamed: bool) -> int:
    """Bytes of a monitor after the repeated log."""
    tracemalloc.start()
    monitor = FirstOrderMonitor(rule)
    follow(monitor, log, events, renamed=renamed)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


def measure_rules_with_time(repeat: int, growth: tuple[int, ...]) -> None:
    if not PUBLISHED_LOG.exists():
        print("The rules with time are left out: ../shared/data/temporal/gdpr.log is missing.")
        return
    log, rules = read_published()
    calls = [event for step in log for event in step.events]
    for name, rule in rules.items():
        what = f"the GDPR log, {len(calls):,} events, rule on {name}"
        in_bulk = timed(lambda r=rule: feed_steps(FirstOrderMonitor(r), log), repeat)
        show(f"{what}, in bulk", in_bulk, per=len(calls), unit="events")
        single = timed(lambda r=rule: feed_all(Monitor({"rule": r}), calls), repeat)
        show(f"{what}, one by one", single, per=len(calls), unit="events")
    for renamed in (False, True):
        print(f"the GDPR log repeated, with {'new' if renamed else 'the same'} persons and data:")
        for name, rule in rules.items():
            for events in growth:
                seconds = follow(FirstOrderMonitor(rule), log, events, renamed=renamed)
                size = size_after(rule, log, events, renamed=renamed)
                what = f"  rule on {name}, {events:,} events"
                print(f"{what:<52}{1e9 * seconds / events:6.0f} ns an event, the monitor has {size:12,} bytes")


def measure_judging(repeat: int) -> None:
    """An attempt of eight calls by the 73 rules of the clinic: with monitors made for it, and with kept ones."""
    tasks, _ = read_tasks(TASKS)
    task = max(tasks[:20], key=lambda task: len(task.calls))
    trace = [row.event for row in task.calls][:8]
    kept = RuleJudge(task.rules)
    what = f"judge {len(trace)} events by {len(task.rules)} rules"
    show(f"{what}, new monitors", timed(lambda: RuleJudge(task.rules).judge(trace), 3 * repeat))
    show(f"{what}, kept ones", timed(lambda: kept.judge(trace), 3 * repeat))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--long", action="store_true", help="Follow a million events with each rule, for minutes.")
    options = parser.parse_args()
    repeat: int = options.repeat

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
    measure_judging(repeat)
    measure_rules_with_time(repeat, GROWTH if options.long else GROWTH[:-1])


if __name__ == "__main__":
    main()
