"""An audit: records, and what they are judged by.

The command line, its shards and the public function begin here.
"""

# pyright: reportMissingTypeStubs=false

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.tool_schemas.given_tools import read_given_tools
from lawtrace.environments.tool_schemas.reading import is_tool_source, read_tool_schemas
from lawtrace.runs.audit.all_sessions import AllSessions
from lawtrace.runs.audit.annotations import read_annotations
from lawtrace.runs.audit.judging import TranscriptAuditor
from lawtrace.runs.audit.labels import DEFAULT_CHOICE, read_label_choice
from lawtrace.runs.audit.monpoly.import_rules import seconds_of
from lawtrace.runs.audit.monpoly.log_audit import prepare_rules
from lawtrace.runs.audit.monpoly.logs import MonpolyLog, is_monpoly_log
from lawtrace.runs.audit.monpoly.mfotl_signature import LogSignature, read_signature
from lawtrace.runs.audit.predicates import Asked, known_answers
from lawtrace.runs.audit.sources.mapped_lines import LogMapping, read_mapping
from lawtrace.runs.audit.sources.reading import find_files, find_transcripts, read_transcripts
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.runs.audit.workers import AuditedTools, AuditJob, AuditUnit, JudgedBatch, judge_batches
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.errors import InputError, LawtraceError
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.rules import Rule, check_rules, load_rules, rules_across

if TYPE_CHECKING:
    from pandas import DataFrame

Source = str | PathLike[str]

Tools = Domain | Environment | str | PathLike[str] | Mapping[str, Any] | Iterable[Any]
"""An environment, its name or folder; a file of tool schemas, or with the signature of MonPoly logs; or what
`read_given_tools` reads: schemas, functions, names."""

COLUMNS: Final = (
    "conversation",
    "place",
    "reward",
    "outcome",
    "rule",
    "provisions",
    "verdict",
    "readings",
    "triggering_events",
    "call",
    "message",
    "at_reference",
    "reason",
)
"""Of the table of CSV and Parquet files and of data frames."""


@dataclass(frozen=True, slots=True)
class Audit(Iterable[AuditRow]):
    """The verdicts on recorded conversations or logs.

    Iterating reads and judges the records one after the other, each time anew; nothing is kept, so memory does not grow
    with their number.

    Attributes:
        files: the files of the records.
        job: what they are judged by.
        environment: the name of the environment, or what stands for one.
        regulation: what the rules rest on, if it is at hand.
        rules_file: where the rules are from; None if they were given.
        mapping: how the files are read; None if they are of known forms.
    """

    files: tuple[Path, ...]
    job: AuditJob
    environment: str
    regulation: Regulation | None
    rules_file: Path | None
    mapping: LogMapping | None = None

    def __iter__(self) -> Iterator[AuditRow]:
        return map(self.job.auditor(), self.units())

    def summary(self) -> AuditSummary:
        """Counts by outcome and rule, examples, and the comparisons that were asked for."""
        summary = self.job.summary()
        for row in self:
            summary.add(row)
        return summary

    def to_pandas(self) -> "DataFrame":
        """One row a record and rule, with the columns of the CSV file of ``lawtrace audit``.

        Needs pandas: ``pip install lawtrace[bench]``. Raises InputError without it.
        """
        try:
            import pandas
        except ImportError as error:
            raise InputError("to_pandas() needs pandas: pip install 'lawtrace[bench]'") from error
        return pandas.DataFrame(flat_records(self), columns=[*COLUMNS])

    def units(self) -> Iterator[AuditUnit]:
        """The records of all files, unread. A file that cannot be read, among several, counts as one invalid record."""
        if isinstance(self.job.tools, LogSignature):
            yield from (MonpolyLog(path, alone=len(self.files) == 1) for path in self.files)
            return
        across = rules_across(self.job.rules, across=True)
        for path in () if across and len(across) == len(self.job.rules) else self.files:
            try:
                yield from find_transcripts(path, self.mapping)
            except InputError as error:
                if len(self.files) == 1:
                    raise
                yield Transcript(str(path), path.name, (), str(error).removeprefix(f"{path}: "))
        if across:
            yield AllSessions.of(self.files, across, self.mapping)

    def unanswered(self) -> list[Asked]:
        """What a model has to be asked about the messages of all records."""
        auditor = TranscriptAuditor(self.job.environment, self.job.rules, against=self.job.against, says=self.job.says)
        found: dict[Asked, None] = {}
        for path in self.files:
            for transcript in read_transcripts(path, self.mapping):
                found.update(dict.fromkeys(auditor.unanswered(transcript)))
        return [*found]

    def judge(self, units: Iterable[AuditUnit]) -> Iterator[JudgedBatch]:
        """The rows of some of its records, judged on all cores."""
        return judge_batches(self.job, units, sum(file.stat().st_size for file in self.files))


def audit(
    rules: Iterable[Rule] | Source | None,
    sources: Source | Iterable[Source],
    tools: Tools,
    *,
    complete: bool = False,
    against: Iterable[Rule] | Source | None = None,
    label: str | None = None,
    marks: Source | None = None,
    time_unit: str = "1s",
    predicates: Source | None = None,
    mapping: Source | None = None,
) -> Audit:
    """Judge recorded conversations, or logs in MonPoly's format, as ``lawtrace audit`` does.

    Nothing is judged before the audit is iterated over, and no row is kept: ``for row in lawtrace.audit(...)`` needs no
    more memory for a large log than for a small one. Each row is an `AuditRow`: the place and id of a conversation, its
    outcome, the reason, the verdict on each rule with its evidence, and the judged events.

    Args:
        rules: each with its own id, or a rule file; None for those of the environment.
        sources: files and folders (docs/sources.md).
        tools: what the rules are about: an environment, its name or folder; a file of tool schemas; schemas, functions
            or names; for logs the file with their signature.
        complete: whether the records are all that happened. A duty that is open at the end of a complete record is
            broken; at the end of another one, its rule is undetermined.
        against: an older version of the rules. Rows have its verdicts, and the summary compares both.
        label: the label of the sources that the summary compares rules with, such as ``reward<1``.
        marks: a file of findings marked right or wrong, which the summary compares rules with.
        time_unit: the unit of the timestamps of logs: ``1d``, ``1h``, ``1min`` or ``1s``.
        predicates: a file of what a model answered to predicates of rules; without an answer a rule is undetermined.
        mapping: a file that says where the parts of events stand in JSON lines of no known form.

    Raises:
        InputError: naming a file that is missing or cannot be read, or a rule that does not fit the tools. A
            conversation that cannot be judged is a row with the outcome ``invalid``.
    """
    named = [sources] if isinstance(sources, str | PathLike) else sources
    files = tuple(find_files([*map(Path, named)]))
    opened = _open_tools(tools, files)
    domain = opened if isinstance(opened, Domain) else None
    regulation = None if domain is None else domain.regulation
    if rules is None:
        if domain is None:
            raise InputError("name the rules with --rules: tool schemas have none")
        rules = domain.rules_file
    chosen, older = _read_rules(rules), None if against is None else _read_rules(against)
    job = AuditJob(
        opened,
        chosen,
        complete,
        older,
        DEFAULT_CHOICE if label is None else read_label_choice(label),
        None if marks is None else read_annotations(Path(marks)),
        seconds_of(time_unit),
        {} if predicates is None else known_answers(Path(predicates)),
    )
    if isinstance(opened, LogSignature):
        name, check = "log", partial(prepare_rules, signature=opened)
    else:
        environment = job.environment
        name, check = environment.name, partial(check_rules, environment=environment, regulation=regulation)
    check(chosen)
    if older is not None:
        try:
            check(older)
        except LawtraceError as error:
            raise InputError(f"{against}: {error}" if isinstance(against, str | PathLike) else str(error)) from error
    rules_file = Path(rules) if isinstance(rules, str | PathLike) else None
    return Audit(files, job, name, regulation, rules_file, None if mapping is None else read_mapping(Path(mapping)))


def _read_rules(rules: Iterable[Rule] | Source) -> tuple[Rule, ...]:
    return load_rules(Path(rules)) if isinstance(rules, str | PathLike) else tuple(rules)


def _open_tools(tools: Tools, files: Sequence[Path]) -> AuditedTools:
    if isinstance(tools, str | PathLike):
        tools = [Path(tools)] if Path(tools).is_file() else load_domain(str(tools))
    paths = [entry for entry in tools if isinstance(entry, Path)] if isinstance(tools, Sequence) else []
    if len(paths) == 1 and not is_tool_source(str(paths[0])):
        if other := next((file for file in files if not is_monpoly_log(file)), None):
            raise InputError(
                f"--tools {paths[0]}: no tool schemas (JSON or Python); the signature of a MonPoly log needs such a "
                f"log, with lines such as `@100 pay(5);`, and {other} is none"
            )
        return read_signature(paths[0])
    if log := next(filter(is_monpoly_log, files), None):
        raise InputError(f"{log}: for a MonPoly log, name the signature with --tools and the rules with --rules")
    if isinstance(tools, Domain | Environment):
        return tools
    return tuple(read_tool_schemas([*map(str, paths)]) if paths else read_given_tools(tools))


def flat_records(rows: Iterable[AuditRow]) -> Iterator[dict[str, Json]]:
    """A record for each conversation and rule; for an invalid conversation one without a rule."""
    for row in rows:
        common: dict[str, Json] = {
            "conversation": row.conversation,
            "place": row.place,
            "reward": row.labels.get("reward"),
            "outcome": row.outcome,
        }
        if row.outcome == "invalid":
            yield {**dict.fromkeys(COLUMNS), **common, "verdict": "invalid", "reason": row.reason}
        for rule in row.rules:
            yield {
                **common,
                "rule": rule.rule,
                "provisions": "; ".join(rule.provisions),
                "verdict": rule.name,
                "readings": rule.readings,
                "triggering_events": rule.triggers,
                "call": rule.call,
                "message": rule.message,
                "at_reference": rule.rule in row.at_reference,
                "reason": rule.explanation or rule.undetermined,
            }
