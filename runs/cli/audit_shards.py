"""The verdicts of ``lawtrace audit``: of all conversations, of a shard of them, or of merged shards."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import typer
from pydantic import BaseModel, ConfigDict

from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.errors import InputError
from lawtrace.runs.cli.output import print_outcome
from lawtrace.runs.ingest.audit_run import AuditJob, judge_batches
from lawtrace.runs.ingest.audit_summary import AuditSummary
from lawtrace.runs.ingest.sources.reading import AnyTranscript, find_files, find_transcripts
from lawtrace.runs.ingest.transcript_audit import AuditRow
from lawtrace.runs.ingest.transcripts import Transcript
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.store.shards import FoundShard, Shard, begin_record, end_record, merged_lines
from lawtrace.runs.store.stage_files import file_digest, write_lines
from lawtrace.runs.store.stage_store import stage_key


class AuditArguments(BaseModel):
    """The arguments of the command that its result depends on. A merge audits by them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: list[Path]
    env: str
    rules: Path | None
    against: Path | None
    label: str | None
    marks: Path | None
    complete: bool
    tools: list[str] | None
    time_unit: str
    formats: list[str] | None
    fail_on: list[str] | None

    def key(self) -> str:
        """A hash over the arguments and the files that they name."""
        files = [*find_files(self.sources), *(path for path in (self.rules, self.against, self.marks) if path)]
        files += [path for path in map(Path, self.tools or ()) if path.is_file()]
        domain = None if self.tools else load_domain(self.env).digest
        return stage_key("audit", version("lawtrace"), self, domain, [file_digest(path) for path in files])


def read_all(files: Sequence[Path]) -> Iterator[AnyTranscript]:
    """The transcripts of all files. An unreadable file among several counts as one invalid conversation."""
    for path in files:
        try:
            yield from find_transcripts(path)
        except InputError as error:
            if len(files) == 1:
                raise
            yield Transcript(str(path), path.name, (), str(error).removeprefix(f"{path}: "))


def judged_audit(
    job: AuditJob,
    transcripts: Iterable[AnyTranscript],
    files: Sequence[Path],
    summary: AuditSummary,
    step: Callable[[], None],
    cluster: Cluster | None = None,
) -> Iterator[str]:
    """The rows of the transcripts as lines; ``summary`` counts them."""
    for batch in judge_batches(job, transcripts, sum(file.stat().st_size for file in files), cluster):
        summary.merge(batch.summary)
        for line in batch.lines:
            yield line
            step()


def merged_audit(shards: Sequence[FoundShard], summary: AuditSummary, step: Callable[[], None]) -> Iterator[str]:
    """The rows of all shards as lines; ``summary`` counts them."""
    for line in merged_lines(shards):
        summary.add(AuditRow.model_validate_json(line))
        yield line
        step()


def write_shard(
    arguments: AuditArguments, shard: Shard, job: AuditJob, out: Path, summary: AuditSummary, step: Callable[[], None]
) -> None:
    """Judge the conversations of a shard, and write their rows and its record.

    All files are parsed, since nothing else shows where a conversation begins. Those of other shards are not read.
    """
    files, units = find_files(arguments.sources), 0

    def chosen() -> Iterator[AnyTranscript]:
        nonlocal units
        for transcript in read_all(files):
            if units % shard.count == shard.number - 1:
                yield transcript
            units += 1

    write_lines(out, judged_audit(job, chosen(), files, summary, step))
    record = begin_record("audit", shard, out)
    end_record(record, out, key=arguments.key(), units=units, options=arguments.model_dump(mode="json"))


def end_shard(summary: AuditSummary, shard: Shard, out: Path, *, as_json: bool) -> NoReturn:
    """Print how many conversations a shard has, and end."""
    shown = f"{summary.conversations} conversations (shard {shard}). `lawtrace merge` joins all shards."
    print_outcome({**summary.as_json(), "shard": str(shard)}, shown, as_json=as_json, out=out)
    raise typer.Exit(0)
