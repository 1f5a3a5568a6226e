"""How long a contrast pair takes: ``.venv/bin/python -m benchmarks.pairs [PAIRS] [ENVIRONMENT ...]``.

For each environment with facts: processor seconds for a pair (median and longest), queries to Z3, and the share of the
time that is spent in Z3. Requests that give no pair count for the next one that does.
"""

import statistics
import sys
import time

from lawtrace.runs.stages.traces_stage import contrast_pairs
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.solver.rules import load_rules
from tests.support.z3_use import counted_z3_use

PAIRS = 20


def measure(name: str, count: int) -> None:
    domain = load_domain(name)
    seconds: list[float] = []
    started = time.process_time()
    with counted_z3_use() as use:
        for _ in contrast_pairs(domain.environment, load_rules(domain.rules_file), numbers=range(count), seed=1):
            ended = time.process_time()
            seconds.append(ended - started)
            started = ended
    share = use.seconds / sum(seconds)
    print(
        f"{name:15} {count:5} {statistics.median(seconds):7.1f} {max(seconds):8.1f} "
        f"{use.queries / count:12.0f} {share:6.0%}",
        flush=True,
    )


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else PAIRS
    named = sys.argv[2:] or [name for name in BUILT_IN_DOMAINS if load_domain(name).environment.facts]
    print("environment     pairs  median  longest queries/pair  in Z3")
    for name in named:
        measure(name, count)


if __name__ == "__main__":
    main()
