"""How long schedules take: ``.venv/bin/python -m benchmarks.schedules [CASES ...]``.

The cases of a small desk: each is studied for half an hour, discussed with a colleague, of which there are two talks in
two hours at most, and answered, an urgent one within 150 minutes. The last two are urgent. Processor seconds until a
schedule is found, and until it is shown that none begins the cases in the listed order, with the matters that show it.
"""

import sys
import time

from lawtrace.solver.planner.schedules import NoSchedule, ScheduleSearch
from lawtrace.solver.search.problem import Found
from tests.support.case_desk import DESK, QUEUE, RULES, cases, handling

CASES = (3, 5, 10, 15)


def measure(number: int) -> None:
    initial = cases(["plain"] * (number - 2) + ["urgent"] * 2)
    matters = {name: handling(name) for name in (f"C-{place:02}" for place in range(1, number + 1))}
    search = ScheduleSearch(DESK, RULES)
    started = time.process_time()
    answer = search.find(initial, QUEUE, matters)
    found = time.process_time()
    listed = search.find(initial, QUEUE, matters, order=list(matters))
    ended = time.process_time()
    lasts = answer.trace.trace.calls[-1].event.time if isinstance(answer, Found) else None
    hours = "none" if lasts is None else f"{(lasts - DESK.clock.start(initial)) / 3600:.1f} h"
    shown = ", ".join(listed.order) if isinstance(listed, NoSchedule) else type(listed).__name__
    print(f"{number:5} {found - started:7.1f} s {hours:>9} {ended - found:9.1f} s  {shown}", flush=True)


def main() -> None:
    print("cases     found     takes  excluded     by the order of")
    for number in map(int, sys.argv[1:] or CASES):
        measure(number)


if __name__ == "__main__":
    main()
