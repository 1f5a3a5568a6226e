"""Cost and result of a coverage analysis: ``.venv/bin/python -m benchmarks.coverage [ENVIRONMENT...]``.

Default: every built-in environment with its published and its curated rules, and a synthetic one of thirteen tools.
Both trace modes, 40 traces of 8 calls: suite, certificates, rules. One process on one core; processor and wall
seconds.
"""

import sys
import time
from collections.abc import Iterator, Sequence

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.trace_options import TRACE_MODES
from lawtrace.solver.coverage.coverage_analysis import analyse_coverage
from lawtrace.solver.declarations.loader import PAPER_DOMAINS, load_domain
from lawtrace.solver.rules import Rule, load_rules


def subjects(names: Sequence[str]) -> Iterator[tuple[str, Environment, Sequence[Rule]]]:
    for name in names or PAPER_DOMAINS:
        domain = load_domain(name)
        for rules in (domain.gold_file, domain.rules_file):
            yield f"{name}, {rules.stem}", domain.environment, load_rules(rules)


def main() -> None:
    print(f"{'environment, rules, trace mode':<34}{'feasible':>12}{'suite':>8}{'wall s':>9}{'cpu s':>8}")
    for name, environment, rules in subjects(sys.argv[1:]):
        for mode in TRACE_MODES:
            wall, processor = time.perf_counter(), time.process_time()
            found = analyse_coverage(environment, rules, mode=mode, length=8, count=40, seed=1)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            feasible = f"{len(found.feasible)}/{found.suite.all_pairs}"
            suite = str(found.needed) if found.needed else f">{found.suite.traces}"
            label = f"{name}, {mode}"
            print(f"{label:<34}{feasible:>12}{suite:>8}{wall:>9.1f}{processor:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
