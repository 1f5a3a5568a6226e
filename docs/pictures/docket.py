"""Draws the timeline of docs/dockets.md: the lawful schedule of a docket, and its matters in the listed order.

python docs/pictures/docket.py
"""

# pyright: reportUnknownMemberType=false

from pathlib import Path

from matplotlib.figure import Figure

from lawtrace.environments.runtime.simulation import call_duration
from lawtrace.runs.dockets import planned_matters
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.tasks import trace_of
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.schedules import ScheduleSearch
from lawtrace.solver.rules import load_rules

ROOT = Path(__file__).parents[2]
DAY = 24 * 3600


def main() -> None:
    domain = load_domain(str(ROOT / "examples" / "permit_office"))
    row = read_rows(ROOT / "tests" / "data" / "dockets" / "permits.traces.jsonl", TraceRow)[0]
    assert row.docket is not None
    environment, trace = domain.environment, trace_of(row, domain.environment)
    start = environment.clock.start(trace.initial)
    matters = planned_matters(trace.calls, row.docket)
    latest = ScheduleSearch(environment, load_rules(domain.rules_file)).latest(trace.initial, trace.calls[:1], matters)
    takes = {key: sum(call_duration(environment, call.event) for call in calls) for key, calls in matters.items()}
    begins = {one.key: (trace.calls[one.calls[0]].event.time or start) - start for one in row.docket.matters}
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, title, order in (
        (above, "lawful schedule", sorted(begins, key=begins.__getitem__)),
        (below, "in the listed order", [*matters]),
    ):
        now = 0
        for place, key in enumerate(order):
            due = (latest[key] - start) / DAY
            late = now / DAY > due
            axes.barh(
                place,
                max(takes[key] / DAY, 0.08),
                left=now / DAY,
                color="#c44e52" if late else "#4c72b0",
                hatch="///" if late else "",
                edgecolor="white",
            )
            axes.plot([due, due], [place - 0.4, place + 0.4], color="black", linewidth=1.5)
            now += takes[key]
        axes.set_yticks(range(len(order)), order)
        axes.invert_yaxis()
        axes.set_title(title, loc="left", fontsize=10)
    below.axvline(row.docket.length / DAY, color="grey", linestyle="--", linewidth=1)
    above.axvline(row.docket.length / DAY, color="grey", linestyle="--", linewidth=1)
    below.set_xlabel("days since the session began; black: begin by; dashed: the session ends")
    figure.savefig(Path(__file__).with_name("docket.png"), dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
