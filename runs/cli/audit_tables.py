"""What ``lawtrace audit`` prints: notes, findings, tables, and the comparison with an older version of the rules."""

from collections.abc import Sequence
from pathlib import Path

from lawtrace.runs.audit.rates import RateTable
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.audit.tally import Examples
from lawtrace.runs.audit.versions import DIFFERENCES, SIDES, VersionComparison
from lawtrace.runs.cli.output import make_table, print_note, print_result
from lawtrace.runs.report.text import counted, cut, percent, show_interval, visible
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.solver.rules import Rule

SHOWN_EXAMPLES = 3
"""How many examples of a difference are printed for each rule."""
SHOWN_CHARACTERS = 1_000
"""A longer finding is cut."""


def print_summary(summary: AuditSummary, rules: Sequence[Rule]) -> None:
    """The notes, findings and tables of an audit."""
    for kind in ("notes", "broken", "undetermined", "invalid"):
        _print_examples(summary.examples(kind), kind)
    print_result("Conversations by rule and verdict, and the events that trigger each rule:")
    table = make_table("rule", "kept", "broken", "undetermined", "never triggered", "triggering events")
    for rule in rules:
        counts = summary.of(rule.id)
        numbers = (counts.kept, counts.broken, counts.undetermined, counts.never, counts.triggers)
        table.add_row(rule.id, *map(str, numbers))
    print_result(table)
    if rewards := summary.told_rewards:
        demanded = ("at a call the task demands",) if summary.at_reference else ()
        table = make_table("rule", *(f"broken, reward {reward}" for reward in rewards), *demanded)
        for rule in (rule for rule in rules if summary.of(rule.id).broken):
            cells = (summary.of(rule.id, reward) for reward in rewards)
            numbers = [f"{counts.broken} of {counts.judged}" for counts in cells]
            table.add_row(rule.id, *numbers, *(str(summary.of(rule.id).at_reference) for _ in demanded))
        print_result(table)
    counted = ", ".join(
        f"{summary.outcomes.get(outcome, 0)} {outcome}" for outcome in ("kept", "broken", "undetermined", "invalid")
    )
    print_result(f"{summary.conversations} conversations ({summary.calls} calls): {counted}")


def _print_examples(examples: Examples, kind: str) -> None:
    for text in examples.first:
        shown = visible(cut(text, SHOWN_CHARACTERS))
        print_note(f"{kind}: {shown}" if kind != "notes" else f"  {shown}")
    if examples.count > len(examples.first):
        more = examples.count - len(examples.first)
        print_note(f"... and {more} more {kind}; the output file has all of them")


def print_rates(tables: Sequence[RateTable]) -> None:
    """Precision and recall of the rules, with intervals of 95 %."""
    for rates in tables:
        for text in rates.sentences:
            print_result(visible(text))
        if not rates.rates:
            continue
        table = make_table("rule", "findings", "confirmed", "precision", "recall", title="95 % intervals in brackets")
        for one in rates.rates:
            numbers = (f"{one.flagged}", f"{one.confirmed}")
            precision = _rate(one.precision, one.precision_interval)
            table.add_row(visible(one.rule), *numbers, precision, _rate(one.recall, one.recall_interval))
        print_result(table)


def _rate(share: float | None, interval: Interval | None) -> str:
    return percent(share) + ("" if interval is None else f" ({show_interval(interval, digits=0)})")


def print_versions(versions: VersionComparison, against: Path) -> None:
    """What two versions of the rules say of the same conversations: the rules that differ, with examples."""
    sides = SIDES.values()
    for what, numbers in (
        ("Conversations with a broken rule", [versions.conversations(old=old, new=new) for old, new in sides]),
        ("Findings (a rule broken in a conversation)", [versions.findings(old=old, new=new) for old, new in sides]),
    ):
        both, old, new = numbers
        print_result(
            f"{what}: {both} by both versions, {old} only by {visible(str(against))}, {new} only by the new rules"
        )
    columns = ("rule", "change", "both", "only old", "only new", "undetermined")
    table = make_table(*columns, title="Rules that differ: conversations in which they are broken, or undetermined")
    for name, compared in versions.rules.items():
        if compared.differs:
            broken = (str(compared.count(old=old, new=new)) for old, new in sides)
            table.add_row(visible(name), compared.change, *broken, " -> ".join(map(str, compared.undetermined)))
    if table.row_count:
        print_result(table)
    if same := len(versions.rules) - table.row_count:
        print_result(f"{counted(same, 'rule')} without a difference")
    for name, compared in versions.rules.items():
        for difference in DIFFERENCES:
            found = compared.examples[difference]
            for text in found.first[:SHOWN_EXAMPLES]:
                print_note(visible(cut(f"{difference}: {name}: {text}", SHOWN_CHARACTERS)))
            if found.count > SHOWN_EXAMPLES:
                print_note(f"... and {found.count - SHOWN_EXAMPLES} more {difference} of {visible(name)}")
