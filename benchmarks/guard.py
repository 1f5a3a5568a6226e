"""Latency of a guard's decisions by number of rules and of past events, beside an evaluator that replays the history.

    python -m benchmarks.guard [--rules 5 10 25 50] [--events 0 100 1000 10000] [--calls 1000]

A desk handles cases: each is opened, checked, worked on and closed, three at a time. The rules are of five kinds in
turn: a check before work on the same case; closing what was opened; an answer within three days; a limit of uses a
day; no work after closing. Each decision is timed with `before` and `after`, without the searches for advice: of the
last `--calls` calls after the given number of events. One call in fifty is one that has to be refused. The other
evaluator feeds the past events and the call to new monitors, and objects if a rule is broken for good.
"""

import argparse
import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from statistics import quantiles

from lawtrace.schemas.events import Event
from lawtrace.solver.guard.decisions import Call, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule

KINDS = (
    "forall c: G(Work{n}(case == c) -> O Check{n}(case == c, result.passed))",
    "forall c: G(Open{n}(case == c) -> F Close{n}(case == c))",
    "forall c: G(Open{n}(case == c) -> F[<= 3d] Answer{n}(case == c))",
    "forall c, k: G(Work{n}(case == c, kind == k) -> count(Work{n}(case == c, kind == k) [<= 1d]) <= 3)",
    "forall c: G(Close{n}(case == c) -> G !Work{n}(case == c))",
)


@dataclass(frozen=True)
class Wanted:
    """A call with its result, and whether it must be refused."""

    call: Call
    result: dict[str, bool] | None
    time: int
    forbidden: bool = False


def make_rules(count: int) -> list[Rule]:
    return [
        Rule(id=f"rule-{number}", formula=KINDS[number % len(KINDS)].format(n=number // len(KINDS)))
        for number in range(count)
    ]


def calls(desks: int, seed: int) -> Iterator[Wanted]:
    """The calls of three cases at a time, at one of several desks with tools of their own."""
    random, now, number = Random(seed), 0, 0
    running: list[list[tuple[str, dict[str, bool] | None]]] = []
    cases: list[tuple[int, str]] = []
    while True:
        while len(running) < 3:
            number += 1
            steps = ["Open", "Check", *["Work"] * random.randrange(4), "Answer", "Close"]
            running.append([(step, {"passed": True} if step == "Check" else None) for step in steps])
            cases.append((random.randrange(desks), f"case-{number}"))
        now += random.randrange(60)
        which = random.randrange(3)
        (desk, case), (step, result) = cases[which], running[which].pop(0)
        arguments = {"case": case, **({"kind": random.choice("abc")} if step == "Work" else {})}
        if random.random() < 0.02:
            yield Wanted(Call(f"Work{desk}", {"case": f"unknown-{number}", "kind": "a"}), None, now, forbidden=True)
        yield Wanted(Call(f"{step}{desk}", dict(arguments)), result, now)
        if not running[which]:
            del running[which], cases[which]


def guarded(rules: list[Rule], past: int, count: int) -> list[float]:
    """Seconds of each decision."""
    desks = -(-len(rules) // len(KINDS))
    tools = [f"{step}{desk}" for desk in range(desks) for step in ("Open", "Check", "Work", "Answer", "Close")]
    guard = Guard(rules, tools, clock=lambda: 0, advice=False)
    seconds: list[float] = []
    gc.collect()
    gc.freeze()
    for number, wanted in enumerate(calls(desks, 1)):
        if number == past + count:
            return seconds
        begin = time.thread_time()
        decision = guard.before(wanted.call, time=wanted.time)
        if not isinstance(decision, Refuse):
            guard.after(wanted.call, dict(wanted.result) if wanted.result else None)
        if number >= past:
            seconds.append(time.thread_time() - begin)
        if isinstance(decision, Refuse) != wanted.forbidden:
            raise SystemExit(f"call {number}, {wanted}: {decision}")
    return seconds


def replayed(rules: list[Rule], past: int, count: int) -> list[float]:
    """Seconds of each decision by monitors that see the whole history again."""
    compiled = {rule.id: rule.compiled for rule in rules}
    history: list[Event] = []
    seconds: list[float] = []
    for number, wanted in enumerate(calls(-(-len(rules) // len(KINDS)), 1)):
        if number == past + count:
            return seconds
        event = Event(wanted.call.tool, wanted.call.arguments, result=wanted.result, time=wanted.time)  # type: ignore[arg-type]
        if number >= past:
            begin = time.thread_time()
            monitor = Monitor(compiled)
            monitor.run([*history, event])
            broken = any(at is not None for at in monitor.first_irreparable.values())
            seconds.append(time.thread_time() - begin)
            if broken and not wanted.forbidden:
                raise SystemExit(f"call {number}, {wanted}: broken")
        if not wanted.forbidden:
            history.append(event)
    return seconds


def percentiles(seconds: list[float]) -> tuple[float, float, float]:
    """Median, 99th percentile and maximum in milliseconds."""
    cuts = quantiles(seconds, n=100)
    return cuts[49] * 1000, cuts[98] * 1000, max(seconds) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=int, nargs="+", default=[5, 10, 25, 50])
    parser.add_argument("--events", type=int, nargs="+", default=[0, 100, 1000, 10_000])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--replays", type=int, default=20)
    options = parser.parse_args()
    print("rules  events   guard ms: median    p99     max   replay ms: median    p99")
    for count in options.rules:
        rules = make_rules(count)
        for past in options.events:
            median, high, most = percentiles(guarded(rules, past, options.calls))
            slow, slowest, _ = percentiles(replayed(rules, past, max(2, options.replays)))
            print(
                f"{count:5} {past:7}            {median:6.3f} {high:6.3f} {most:7.3f}              "
                f"{slow:8.2f} {slowest:7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
