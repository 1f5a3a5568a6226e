"""What ``lawtrace audit`` prints: notes, findings, tables, and the comparison with an older version of the rules."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType

from lawtrace.runs.audit.rates import RateTable
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.audit.tally import Examples
from lawtrace.runs.audit.versions import DIFFERENCES, SIDES, VersionComparison
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.report.command_result import Note
from lawtrace.runs.report.text import counted, cut, percent, show_interval, visible
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.solver.rules import Rule

SHOWN_EXAMPLES = 3
"""How many examples of a difference are printed for each rule."""
SHOWN_CHARACTERS = 1_000
"""A longer finding is cut."""


def summary_shown(summary: AuditSummary, rules: Sequence[Rule]) -> Iterator[RenderableType]:
    """The notes, findings and tables of an audit."""
    for kind in ("notes", "broken", "undetermined", "invalid"):
        yield from _example_notes(summary.examples(kind), kind)
    yield "Conversations by rule and verdict, and the events that trigger each rule:"
    demanded = ("at a call the task demands",) if summary.at_reference else ()
    table = make_table("rule", "kept", "broken", "undetermined", "never triggered", "triggering events", *demanded)
    for rule in rules:
        counts = summary.of(rule.id)
        table.add_row(rule.id, *map(str, counts if demanded else counts[:-1]))
    yield table
    counted = ", ".join(
        f"{summary.outcomes.get(outcome, 0)} {outcome}" for outcome in ("kept", "broken", "undetermined", "invalid")
    )
    yield f"{summary.conversations} conversations ({summary.calls} calls): {counted}"


def _example_notes(examples: Examples, kind: str) -> Iterator[Note]:
    for text in examples.first:
        shown = visible(cut(text, SHOWN_CHARACTERS))
        yield Note(f"{kind}: {shown}" if kind != "notes" else f"  {shown}")
    if examples.count > len(examples.first):
        more = examples.count - len(examples.first)
        yield Note(f"... and {more} more {kind}; the output file has all of them")


def rates_shown(tables: Sequence[RateTable]) -> Iterator[RenderableType]:
    """Precision and recall of the rules, with intervals of 95 %."""
    for rates in tables:
        for text in rates.sentences:
            yield visible(text)
        if not rates.rates:
            continue
        table = make_table("rule", "findings", "confirmed", "precision", "recall", title="95 % intervals in brackets")
        for one in rates.rates:
            numbers = (f"{one.flagged}", f"{one.confirmed}")
            precision = _rate(one.precision, one.precision_interval)
            table.add_row(visible(one.rule), *numbers, precision, _rate(one.recall, one.recall_interval))
        yield table


def _rate(share: float | None, interval: Interval | None) -> str:
    return percent(share) + ("" if interval is None else f" ({show_interval(interval, digits=0)})")


def versions_shown(versions: VersionComparison, against: Path) -> Iterator[RenderableType]:
    """What two versions of the rules say of the same conversations: the rules that differ, with examples."""
    sides = SIDES.values()
    for what, numbers in (
        ("Conversations with a broken rule", [versions.conversations(old=old, new=new) for old, new in sides]),
        ("Findings (a rule broken in a conversation)", [versions.findings(old=old, new=new) for old, new in sides]),
    ):
        both, old, new = numbers
        yield (f"{what}: {both} by both versions, {old} only by {visible(str(against))}, {new} only by the new rules")
    columns = ("rule", "change", "both", "only old", "only new", "undetermined")
    table = make_table(*columns, title="Rules that differ: conversations in which they are broken, or undetermined")
    for name, compared in versions.rules.items():
        if compared.differs:
            broken = (str(compared.count(old=old, new=new)) for old, new in sides)
            table.add_row(visible(name), compared.change, *broken, " -> ".join(map(str, compared.undetermined)))
    if table.row_count:
        yield table
    if same := len(versions.rules) - table.row_count:
        yield f"{counted(same, 'rule')} without a difference"
    for name, compared in versions.rules.items():
        for difference in DIFFERENCES:
            found = compared.examples[difference]
            for text in found.first[:SHOWN_EXAMPLES]:
                yield Note(visible(cut(f"{difference}: {name}: {text}", SHOWN_CHARACTERS)))
            if found.count > SHOWN_EXAMPLES:
                yield Note(f"... and {found.count - SHOWN_EXAMPLES} more {difference} of {visible(name)}")
