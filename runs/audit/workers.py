"""An audit of many records: found one after the other, read and judged on all cores, written in order."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Self, cast

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.tool_schemas.schemas import ToolSchema, make_environment
from lawtrace.runs.audit.all_sessions import AllSessions
from lawtrace.runs.audit.annotations import Annotations
from lawtrace.runs.audit.judging import TranscriptAuditor
from lawtrace.runs.audit.labels import DEFAULT_CHOICE, LabelChoice
from lawtrace.runs.audit.monpoly.log_audit import LogAuditor
from lawtrace.runs.audit.monpoly.logs import MonpolyLog
from lawtrace.runs.audit.monpoly.mfotl_signature import LogSignature
from lawtrace.runs.audit.predicates import Asked
from lawtrace.runs.audit.sources.reading import AnyTranscript, read_transcript
from lawtrace.runs.audit.summary import AuditSummary, Tally
from lawtrace.runs.audit.versions import compare_rules
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.solver.rules import Rule, rules_across

BATCH = 64
"""How many transcripts a process judges at a time."""
MIN_BYTES = 16 * 2**20
"""Smaller files are judged in one process: to start others takes longer."""

AuditUnit = AnyTranscript | AllSessions | MonpolyLog
"""What has a verdict of its own."""
AuditedTools = Domain | Environment | str | tuple[ToolSchema, ...] | LogSignature
"""An environment, its name or folder; the schemas of tools; or the signature of logs."""


@dataclass(frozen=True, slots=True)
class JudgedBatch:
    """The rows of some records as lines of JSON, and their counts."""

    lines: list[str]
    tally: Tally


BatchJudge = Callable[[list[AuditUnit]], JudgedBatch]


@dataclass(frozen=True, slots=True)
class AuditJob:
    """What an audit judges by.

    Attributes:
        complete: whether the records are whole.
        against: an older version of the rules; None if the audit compares with none.
        label: the label of the source that rules are compared with.
        annotations: what people say of findings; None without any.
        time_unit: the unit of the timestamps of logs, in seconds.
        says: what a model answered to predicates of the rules.
    """

    tools: AuditedTools
    rules: tuple[Rule, ...]
    complete: bool = False
    against: tuple[Rule, ...] | None = None
    label: LabelChoice = DEFAULT_CHOICE
    annotations: Annotations | None = None
    time_unit: int = 1
    says: Mapping[Asked, bool] = field(default_factory=dict[Asked, bool])

    @property
    def environment(self) -> Environment:
        """The environment of the tools that conversations call; logs have none."""
        tools = load_domain(self.tools) if isinstance(self.tools, str) else self.tools
        assert not isinstance(tools, LogSignature)
        if isinstance(tools, tuple):
            return make_environment("tools", tools)
        return tools.environment if isinstance(tools, Domain) else tools

    def auditor(self) -> Callable[[AuditUnit], AuditRow]:
        """What judges a record. Raises FormulaError if a rule does not fit the signature of logs."""
        if isinstance(self.tools, LogSignature):
            logs = LogAuditor(
                self.tools, self.rules, time_unit=self.time_unit, complete=self.complete, against=self.against
            )
            return lambda unit: logs.audit(cast("MonpolyLog", unit))  # `find_units` gives a signature nothing else
        apart, together = (
            TranscriptAuditor(
                self.environment,
                rules_across(self.rules, across=across),
                complete=self.complete,
                against=None if self.against is None else rules_across(self.against, across=across),
                joined=across,
                says=self.says,
            )
            for across in (False, True)
        )

        def judge(unit: AuditUnit) -> AuditRow:
            if isinstance(unit, AllSessions):
                return together.audit(unit.read())
            return apart.audit(read_transcript(cast("AnyTranscript", unit)))

        return judge

    def summary(self) -> AuditSummary:
        changes = None if self.against is None else compare_rules(self.against, self.rules)
        return AuditSummary([rule.id for rule in self.rules], changes, self.label, self.annotations)

    def batch_judge(self) -> BatchJudge:
        """What judges the records of a batch in one process."""
        auditor = self.auditor()

        def judge(units: list[AuditUnit]) -> JudgedBatch:
            summary = self.summary()
            lines: list[str] = []
            for row in map(auditor, units):
                summary.add(row)
                lines.append(row.model_dump_json())
            return JudgedBatch(lines, summary.tally)

        return judge

    def portable(self) -> Self:
        """The job for another process: with rules as they were read, and an environment by its name or folder."""
        rules, older = (
            None if some is None else tuple(Rule.model_validate(rule.model_dump()) for rule in some)
            for some in (self.rules, self.against)
        )
        tools = self.tools
        if isinstance(tools, Domain):
            name = tools.environment.name
            tools = name if name in BUILT_IN_DOMAINS else str(tools.folder.resolve())
        return replace(self, tools=tools, rules=rules or (), against=older)


def judge_batches(job: AuditJob, units: Iterable[AuditUnit], size: int) -> Iterator[JudgedBatch]:
    """Judge the records in order, in batches. ``size``: of the files in bytes; it decides how many processes."""
    batches = _batches(units)
    processes = os.cpu_count() or 1 if size >= MIN_BYTES else 1
    if processes == 1:
        yield from map(job.batch_judge(), batches)
        return
    # A new interpreter for each: a fork would copy the threads of this one in an unknown state.
    with ProcessPoolExecutor(processes, get_context("spawn"), _prepare, (job.portable(),)) as pool:
        waiting: deque[Future[JudgedBatch]] = deque()
        for batch in batches:
            waiting.append(pool.submit(_judge_prepared, batch))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _batches(units: Iterable[AuditUnit]) -> Iterator[list[AuditUnit]]:
    """Transcripts together, a log by itself."""
    batch: list[AuditUnit] = []
    for unit in units:
        batch.append(unit)
        if len(batch) == BATCH or isinstance(unit, MonpolyLog):
            yield batch
            batch = []
    if batch:
        yield batch


_prepared: list[BatchJudge] = []
"""What judges in this process, if it is one that `judge_batches` started."""


def _prepare(job: AuditJob) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the process that started it says that it was stopped
    _prepared.append(job.batch_judge())


def _judge_prepared(units: list[AuditUnit]) -> JudgedBatch:
    return _prepared[0](units)
