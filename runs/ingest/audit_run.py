"""An audit of many transcripts: found one after the other, read and judged on all cores, written in order."""

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

from lawtrace.environments.domains.loader import environment_files, is_folder, load_domain
from lawtrace.environments.tool_schemas.schemas import ToolSchema, make_environment
from lawtrace.runs.ingest.audit_summary import AuditSummary
from lawtrace.runs.ingest.label_rates import DEFAULT_CHOICE, LabelChoice
from lawtrace.runs.ingest.marks import Marks, read_marks
from lawtrace.runs.ingest.sources.reading import AnyTranscript, read_transcript
from lawtrace.runs.ingest.transcript_audit import TranscriptAuditor
from lawtrace.runs.stages.cluster_jobs import Cluster, ModelAccess, Unit
from lawtrace.runs.stages.sent_files import SentFiles
from lawtrace.solver.rules import load_rules

BATCH = 64
"""How many transcripts a process judges at a time."""
MIN_BYTES = 16 * 2**20
"""Smaller files are judged in one process: to start others takes longer."""


@dataclass(frozen=True, slots=True)
class AuditJob:
    """What an audit judges by, in a form that other processes can load.

    Attributes:
        environment: name or folder; or, without either, the schemas of tools.
        rules: the rule file.
        complete: whether the records are whole.
        against: the rule file of an older version; None if the audit compares with none.
        label: the label of the source that rules are compared with.
        marks: the file of marks that they are compared with; None without one.
    """

    environment: str | tuple[ToolSchema, ...]
    rules: Path
    complete: bool
    against: Path | None = None
    label: LabelChoice = DEFAULT_CHOICE
    marks: Path | None = None

    def auditor(self) -> TranscriptAuditor:
        """What judges the transcripts."""
        if isinstance(self.environment, str):
            environment = load_domain(self.environment).environment
        else:
            environment = make_environment("tools", self.environment)
        older = None if self.against is None else load_rules(self.against)
        return TranscriptAuditor(environment, load_rules(self.rules), complete=self.complete, against=older)

    def read_marks(self) -> Marks | None:
        """The marks that rules are compared with, if any. Raises InputError naming file and line."""
        return None if self.marks is None else read_marks(self.marks)


@dataclass(frozen=True, slots=True)
class SentAudit:
    """An audit with the files that it judges by, for other machines (`lawtrace.runs.stages.cluster_jobs.Job`).

    Attributes:
        files: those of the job, by the names of its fields. Its paths are those of the process that divides it.
    """

    job: AuditJob
    files: tuple[tuple[str, SentFiles], ...]

    @classmethod
    def of(cls, job: AuditJob) -> Self:
        """The audit with its files. Raises InputError if one cannot be read."""
        named = {"rules": job.rules, "against": job.against, "marks": job.marks}
        files = [(name, SentFiles.of(path)) for name, path in named.items() if path is not None]
        if isinstance(job.environment, str) and is_folder(job.environment):
            files.append(("environment", SentFiles.of(Path(job.environment), environment_files)))
        return cls(job, tuple(files))

    def open(
        self, access: ModelAccess | None, stack: ExitStack
    ) -> Callable[[list[AnyTranscript]], Awaitable["JudgedBatch"]]:
        """See `lawtrace.runs.stages.cluster_jobs.Job`: a unit is a batch of transcripts."""
        folder = Path(stack.enter_context(TemporaryDirectory()))
        paths: dict[str, Any] = {name: files.unpack(folder / name) for name, files in self.files}
        if "environment" in paths:
            paths["environment"] = str(paths["environment"])
        worker = _Worker(replace(self.job, **paths))

        async def judge(transcripts: list[AnyTranscript]) -> JudgedBatch:
            return worker.judge(transcripts)

        return judge


@dataclass(frozen=True, slots=True)
class JudgedBatch:
    """The rows of some transcripts as lines of JSON, and their counts."""

    lines: list[str]
    summary: AuditSummary


def judge_batches(
    job: AuditJob, transcripts: Iterable[AnyTranscript], size: int, cluster: Cluster | None = None
) -> Iterator[JudgedBatch]:
    """Judge the transcripts in order, in batches. ``size``: of the files in bytes; it decides how many processes.
    ``cluster``: other processes that judge them."""
    batches = _batches(transcripts)
    if cluster is not None:
        yield from cluster.stream(SentAudit.of(job), (Unit(batch[0].place, batch) for batch in batches))
        return
    processes = os.cpu_count() or 1 if size >= MIN_BYTES else 1
    if processes == 1:
        worker = _Worker(job)
        yield from (worker.judge(batch) for batch in batches)
        return
    # A new interpreter for each: a fork would copy the threads of this one in an unknown state.
    with ProcessPoolExecutor(processes, get_context("spawn"), _prepare, (job,)) as pool:
        waiting: deque[Future[JudgedBatch]] = deque()
        for batch in batches:
            waiting.append(pool.submit(_judge_prepared, batch))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _batches(transcripts: Iterable[AnyTranscript]) -> Iterator[list[AnyTranscript]]:
    remaining = iter(transcripts)
    while batch := list(islice(remaining, BATCH)):
        yield batch


class _Worker:
    """What one process judges by."""

    def __init__(self, job: AuditJob) -> None:
        self._job: Final = job
        self._auditor: Final = job.auditor()
        self._marks: Final = job.read_marks()

    def judge(self, transcripts: list[AnyTranscript]) -> JudgedBatch:
        auditor = self._auditor
        summary = AuditSummary(auditor.rules, auditor.changes, self._job.label, self._marks)
        lines: list[str] = []
        for transcript in transcripts:
            row = auditor.audit(read_transcript(transcript))
            summary.add(row)
            lines.append(row.model_dump_json())
        if summary.marks is not None:
            summary.marks.detach()
        return JudgedBatch(lines, summary)


_prepared: list[_Worker] = []
"""The worker of this process, if it is one that `judge_batches` started."""


def _prepare(job: AuditJob) -> None:
    _prepared.append(_Worker(job))


def _judge_prepared(transcripts: list[AnyTranscript]) -> JudgedBatch:
    return _prepared[0].judge(transcripts)
