"""Rule mutants of the dense environments: how many are separated by a trace or proved equal, and how long that takes.

    python benchmarks/separation.py                      # 20 mutants of each environment, seed 1
    python benchmarks/separation.py --count 100 --env clinic --list

The rest of the rule set is the context: a separating trace keeps it. Times are processor seconds a mutant.
"""

import time
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random

from lawtrace.solver.coverage.rule_mutants import rule_mutants
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules
from lawtrace.solver.search.problem import Found, Proof
from lawtrace.solver.separation.answers import Separation
from lawtrace.solver.separation.separation import Separator

DENSE = ("payments", "clinic", "privacy_desk")
COLUMNS = ("separated", "equal", "equal in context", "unknown")


def column(answer: Separation) -> str:
    """Where an answer is counted."""
    if isinstance(answer, Found):
        return "separated"
    return "unknown" if not isinstance(answer, Proof) else "equal in context" if answer.core else "equal"


def print_row(name: str, answers: Sequence[str], seconds: Iterable[float]) -> None:
    """A row of the table: how many answers of each kind, and how long they took."""
    counts, times = Counter(answers), sorted(seconds)
    numbers = "".join(f"{counts[one]:>{len(one) + 2}}" for one in COLUMNS)
    quantiles = "".join(f"{times[int(len(times) * part)]:>9.2f}" for part in (0.5, 0.95)) + f"{times[-1]:>9.2f}"
    print(f"{name:40}{len(answers):>8}{numbers}{quantiles}")


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--env", action="append", help="environment; default: the three dense ones")
    parser.add_argument("--count", type=int, default=20, help="mutants of each environment")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--skip", type=int, default=0, help="mutants of the sample to leave out first")
    parser.add_argument("--list", action="store_true", help="list what is not separated")
    options = parser.parse_args()
    print(f"{'environment, kind':40}{'mutants':>8}{''.join(f'  {one}' for one in COLUMNS)}   median     95 %  longest")
    rows = defaultdict[str, list[tuple[str, float]]](list)
    for name in options.env or DENSE:
        domain = load_domain(name)
        rules = load_rules(domain.rules_file)
        mutants = [(rule, mutant) for rule in rules for mutant in rule_mutants(domain.environment, rule)]
        sample = Random(options.seed).sample(mutants, min(len(mutants), options.skip + options.count))
        separator = Separator(domain.environment, rules)
        for rule, mutant in sample[options.skip :]:
            begun = time.process_time()
            answer = separator.separate([rule], [mutant.rule])
            result = column(answer), time.process_time() - begun
            for row in (name, mutant.kind, "all"):
                rows[row].append(result)
            if options.list and not isinstance(answer, Found):
                why = answer.shown if isinstance(answer, Proof) else answer.why
                print(f"  {result[0]} ({result[1]:.1f} s), {mutant.rule.id}, {mutant.kind}: {mutant.change} {why}")
        print_row(name, *zip(*rows[name], strict=True))
    for row, results in rows.items():
        if row not in (options.env or DENSE):
            print_row(row, *zip(*results, strict=True))


if __name__ == "__main__":
    main()
