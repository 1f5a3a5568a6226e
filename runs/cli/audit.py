"""``lawtrace audit``: judge recorded conversations against a rule set."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from lawtrace.runs.audit.exports import FinishedAudit, Provenance, export_audit, export_file
from lawtrace.runs.audit.options import AuditOptions, judged_lines, merged_rows, write_shard
from lawtrace.runs.audit.predicates import predicate_rates, read_answers
from lawtrace.runs.audit.rates import RateTable
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.audit.tally import Examples
from lawtrace.runs.audit.versions import DIFFERENCES, SIDES, VersionComparison
from lawtrace.runs.cli.options import (
    EnvironmentOption,
    ForceOption,
    OutOption,
    RulesOption,
    ShardOption,
    TimeUnitOption,
)
from lawtrace.runs.cli.output import make_table, print_shown
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import counted, cut, percent, show_interval, visible
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.runs.store.shards import FoundShard, Shard, record_path
from lawtrace.runs.store.stage_files import write_lines
from lawtrace.schemas.choices import AUDIT_FORMATS, AuditFormat
from lawtrace.schemas.errors import InputError
from lawtrace.solver.guard.log import verify_log
from lawtrace.solver.rules import Rule

RULE_FAILURES = ("broken", "undetermined")
FAILURES = (*RULE_FAILURES, "unlawful", "arguable", "invalid")
"""Outcomes of rules, and of conversations, on which the command fails unless told otherwise."""
SHOWN_EXAMPLES = 3
"""How many examples of a difference are printed for each rule."""
SHOWN_CHARACTERS = 1_000
"""A longer finding is cut."""


def audit(
    sources: Annotated[
        list[Path],
        typer.Argument(help="Files or folders of recorded conversations, or MonPoly logs (docs/sources.md)."),
    ],
    env: EnvironmentOption = "banking",
    rules: RulesOption = None,
    against: Annotated[Path | None, typer.Option(help="Older rule file to compare with.")] = None,
    label: Annotated[
        str | None, typer.Option(metavar="<name>[<condition>]", help="Label that rules are compared with: 'reward<1'.")
    ] = None,
    marks: Annotated[Path | None, typer.Option(help="File of findings marked right or wrong.")] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="The records are whole: open duties are broken.")
    ] = False,
    tools: Annotated[
        list[str] | None,
        typer.Option(metavar="<file>", help="Tool schemas instead of --env, or MonPoly's signature. Repeatable."),
    ] = None,
    time_unit: TimeUnitOption = "1s",
    mapping: Annotated[
        Path | None, typer.Option("--map", help="Mapping file: how to read JSON lines of no known form.")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", metavar=f"[{'|'.join(AUDIT_FORMATS)}]", help="Also write this format. Repeatable."),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(metavar="<outcome>[:<rule>]", help="Fail on this outcome; default: on all of these. Repeatable."),
    ] = None,
    predicates: Annotated[
        Path | None, typer.Option(help="File of what messages say, and of labels; --model appends to it.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model that judges what messages say.")] = None,
    redact: Annotated[bool, typer.Option("--redact", help="Write digests for texts, except to --out.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Only check the chain of a guard's log.")] = False,
    shard: ShardOption = None,
    out: OutOption = Path("audit.jsonl"),
    force: ForceOption = False,
) -> CommandResult:
    """Judge recorded conversations or logs against rules.

    Exit code 1 if a rule is broken or undetermined, or if nothing is judged; see --fail-on.
    """
    if verify:
        return _verify(sources)
    options = AuditOptions(
        sources=sources,
        env=env,
        rules=rules,
        against=against,
        label=label,
        marks=marks,
        complete=complete,
        tools=tools,
        time_unit=time_unit,
        formats=formats,
        fail_on=fail_on,
        redact=redact,
        mapping=mapping,
        predicates=predicates,
    )
    if model is not None:
        if predicates is None:
            raise InputError("--model: name the file for the answers with --predicates")
        from lawtrace.runs.cli.audit_predicates import ask_model  # imports autogen

        ask_model(options.open(), model, predicates)
    return audit_by(options, out, None if shard is None else Shard.parse(shard), force=force)


def _verify(logs: Sequence[Path]) -> CommandResult:
    """Whether each line of logs of guards follows the line before it."""
    chains = {str(path): verify_log(path) for path in logs}
    why = "does not follow the line before it: one was changed, or lines between them are missing"
    shown = [f"{path}: line {number} {why}" for path, chain in chains.items() for number in chain.breaks]
    for path, chain in chains.items():
        shown.append(f"{path}: {chain.lines} lines, {len(chain.breaks)} breaks; sha256 of the last: {chain.last}")
    code = 1 if any(chain.breaks or not chain.lines for chain in chains.values()) else 0
    return CommandResult({"logs": {path: asdict(chain) for path, chain in chains.items()}}, shown, exit_code=code)


def audit_by(
    options: AuditOptions, out: Path, part: Shard | None = None, merged: Sequence[FoundShard] = (), *, force: bool
) -> CommandResult:
    """Audit by the options of the command. ``merged``: the shards that have the verdicts already."""
    formats: list[AuditFormat] = [_format(text) for text in options.formats or ()]
    audit = options.open(merged=bool(merged))
    check_output(out, *((record_path(out),) if part else ()), force=force)
    for form in formats:
        check_output(export_file(out, form), force=force)
    rules = audit.job.rules
    failing = _failing(options.fail_on or FAILURES, rules)
    summary = audit.job.summary()
    provenance = Provenance.of(audit, options, datetime.now(UTC))
    with ProgressBars().stage("conversations", None, lambda: f"{summary.outcomes.get('unlawful', 0)} unlawful") as step:
        if part is not None:
            write_shard(audit, options, part, out, summary, step)
        elif merged:
            write_lines(out, merged_rows(merged, summary, step))
        else:
            write_lines(out, judged_lines(audit, audit.units(), summary, step))
    if part is not None:
        shown = f"{summary.conversations} conversations (shard {part}). `lawtrace merge` joins all shards."
        return CommandResult({**summary.as_json(), "shard": str(part)}, [shown], out)
    print_shown(_summary_shown(summary, rules))
    print_shown(_rates_shown(summary.rates))
    said = _predicate_rates(options, rules)
    print_shown(_rates_shown(said))
    if summary.versions is not None and options.against is not None:
        print_shown(_versions_shown(summary.versions, options.against))
    finished = FinishedAudit(out, audit, provenance, redacted=options.redact)
    exported = [export_audit(finished, form, summary, options) for form in formats]
    judged_nothing = summary.conversations and not summary.triggered
    return CommandResult(
        {
            **summary.as_json(),
            **({"predicates": said[0].as_json()} if said else {}),
            "out": str(out),
            "exports": [*map(str, exported)],
        },
        [Note(f"Written: {', '.join(map(str, (out, *exported)))}")],
        notes=["Nothing was judged: the recorded calls trigger none of the rules."] if judged_nothing else [],
        exit_code=0 if summary.triggered and not any(_count(summary, *one) for one in failing) else 1,
    )


def _predicate_rates(options: AuditOptions, rules: Sequence[Rule]) -> list[RateTable]:
    """How far the model agrees with labels of predicates."""
    if options.predicates is None or not options.predicates.exists():
        return []
    asked = sorted({text for rule in rules for _, text in rule.predicates})
    table = predicate_rates(read_answers(options.predicates).values(), asked)
    return [] if table is None else [table]


def _format(text: str) -> AuditFormat:
    if text not in AUDIT_FORMATS:
        raise InputError(f"--format {text!r}: choose {', '.join(AUDIT_FORMATS)}")
    return text


def _failing(texts: Sequence[str], rules: Sequence[Rule]) -> list[tuple[str, str]]:
    """What the command fails on: outcomes, each with a rule or with an empty text for any."""
    found: list[tuple[str, str]] = []
    for text in texts:
        outcome, _, rule = text.partition(":")
        if outcome not in FAILURES or (rule and outcome not in RULE_FAILURES):
            raise InputError(f"--fail-on {text!r}: write {', '.join(FAILURES)}, or broken:RULE, undetermined:RULE")
        if rule and rule not in {one.id for one in rules}:
            nearest = get_close_matches(rule, [one.id for one in rules], 1)
            meant = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise InputError(f"--fail-on {text!r}: there is no rule {rule!r}{meant}")
        found.append((outcome, rule))
    return found


def _count(summary: AuditSummary, outcome: str, rule: str) -> int:
    """How many conversations have the outcome, or the rule has it in."""
    if outcome not in RULE_FAILURES:
        return summary.outcomes.get(outcome, 0)
    counts = [summary.of(rule)] if rule else [*map(summary.of, summary.rules)]
    return sum(one.broken if outcome == "broken" else one.undetermined for one in counts)


def _summary_shown(summary: AuditSummary, rules: Sequence[Rule]) -> Iterator[RenderableType]:
    """The notes, findings and tables of an audit."""
    conversations = ("unlawful", "arguable", "undetermined", "invalid")
    for kind in ("notes", "against instructions", *conversations):
        yield from _example_notes(summary.examples(kind), kind)
    yield "Conversations by rule and verdict, and the events that trigger each rule:"
    demanded = ("at a call the task demands",) if summary.at_reference else ()
    columns = ("rule", "kept", "broken", "undetermined", "never triggered", "triggering events", *demanded)
    yield make_table(columns, ((rule.id, *summary.of(rule.id))[: len(columns)] for rule in rules))
    found = {outcome: summary.outcomes.get(outcome, 0) for outcome in ("lawful", *conversations)}
    counted = ", ".join(f"{count} {outcome}" for outcome, count in found.items() if count or outcome != "arguable")
    yield f"{summary.conversations} conversations ({summary.calls} calls): {counted}"


def _example_notes(examples: Examples, kind: str) -> Iterator[Note]:
    for text in examples.first:
        shown = visible(cut(text, SHOWN_CHARACTERS))
        yield Note(f"{kind}: {shown}" if kind != "notes" else f"  {shown}")
    if examples.count > len(examples.first):
        more = examples.count - len(examples.first)
        yield Note(f"... and {more} more {kind}; the output file has all of them")


def _rates_shown(tables: Sequence[RateTable]) -> Iterator[RenderableType]:
    """Precision and recall of the rules, with intervals of 95 %."""
    for rates in tables:
        for text in rates.sentences:
            yield visible(text)
        if not rates.rates:
            continue
        rows = (
            (one.rule, one.flagged, one.confirmed, _rate(one.precision, one.precision_interval), recall)
            for one in rates.rates
            for recall in (_rate(one.recall, one.recall_interval),)
        )
        columns = ("rule", "findings", "confirmed", "precision", "recall")
        yield make_table(columns, rows, title="95 % intervals in brackets")


def _rate(share: float | None, interval: Interval | None) -> str:
    return percent(share) + ("" if interval is None else f" ({show_interval(interval, digits=0)})")


def _versions_shown(versions: VersionComparison, against: Path) -> Iterator[RenderableType]:
    """What two versions of the rules say of the same conversations: the rules that differ, with examples."""
    sides = SIDES.values()
    for what, numbers in (
        ("Conversations with a broken rule", [versions.conversations(old=old, new=new) for old, new in sides]),
        ("Findings (a rule broken in a conversation)", [versions.findings(old=old, new=new) for old, new in sides]),
    ):
        both, old, new = numbers
        yield (f"{what}: {both} by both versions, {old} only by {visible(str(against))}, {new} only by the new rules")
    rows = [
        (
            name,
            one.change,
            *(one.count(old=old, new=new) for old, new in sides),
            " -> ".join(map(str, one.undetermined)),
        )
        for name, one in versions.rules.items()
        if one.differs
    ]
    columns = ("rule", "change", "both", "only old", "only new", "undetermined")
    if rows:
        title = "Rules that differ: conversations in which they are broken, or undetermined"
        yield make_table(columns, rows, title=title)
    if same := len(versions.rules) - len(rows):
        yield f"{counted(same, 'rule')} without a difference"
    for name, compared in versions.rules.items():
        for difference in DIFFERENCES:
            found = compared.examples[difference]
            for text in found.first[:SHOWN_EXAMPLES]:
                yield Note(visible(cut(f"{difference}: {name}: {text}", SHOWN_CHARACTERS)))
            if found.count > SHOWN_EXAMPLES:
                yield Note(f"... and {found.count - SHOWN_EXAMPLES} more {difference} of {visible(name)}")
