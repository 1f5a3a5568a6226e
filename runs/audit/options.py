"""The options of ``lawtrace audit``, as shards record them, and the rows of an audit, a shard, or merged shards."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from lawtrace.runs.audit.audit import Audit, audit
from lawtrace.runs.audit.sources.reading import find_files
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.audit.workers import AuditUnit
from lawtrace.runs.store.shards import FoundShard, Shard, ShardRecord, merged_lines
from lawtrace.runs.store.stage_files import file_digest, write_lines
from lawtrace.runs.store.stage_store import stage_key
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.models import StrictModel
from lawtrace.solver.declarations.loader import load_domain


class AuditOptions(StrictModel):
    """The options of the command that its result depends on. A merge audits by them."""

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
    redact: bool = False
    predicates: Path | None = None
    mapping: Path | None = None

    def open(self, *, merged: bool = False) -> Audit:
        """The audit; see `lawtrace.audit`. ``merged``: there are rows already, so that no source is needed."""
        tools = [*map(Path, self.tools)] if self.tools else load_domain(self.env)
        others = self.model_dump(
            include={"complete", "against", "label", "marks", "time_unit", "mapping", "predicates"}
        )
        return audit(self.rules, [] if merged else self.sources, tools, **others)

    def key(self) -> str:
        """A hash over the options and the files that they name."""
        files = [
            *find_files(self.sources),
            *filter(None, (self.rules, self.against, self.marks, self.mapping, self.predicates)),
        ]
        files += [path for path in map(Path, self.tools or ()) if path.is_file()]
        domain = None if self.tools else load_domain(self.env).digest
        return stage_key("audit", version("lawtrace"), self, domain, [file_digest(path) for path in files])


Step = Callable[[], None]
"""Called for each row."""


def judged_lines(audit: Audit, units: Iterable[AuditUnit], summary: AuditSummary, step: Step) -> Iterator[str]:
    """The rows of the records as lines; ``summary`` counts them."""
    for batch in audit.judge(units):
        summary.tally.merge(batch.tally)
        for line in batch.lines:
            yield line
            step()


def merged_rows(shards: Sequence[FoundShard], summary: AuditSummary, step: Step) -> Iterator[str]:
    """The rows of all shards as lines; ``summary`` counts them."""
    for line in merged_lines(shards):
        summary.add(AuditRow.model_validate_json(line))
        yield line
        step()


def write_shard(
    audit: Audit, options: AuditOptions, shard: Shard, out: Path, summary: AuditSummary, step: Step
) -> None:
    """Judge the records of a shard, and write their rows and its record.

    All files are parsed, since nothing else shows where a conversation begins. Those of other shards are not read.
    """
    units = 0

    def chosen() -> Iterator[AuditUnit]:
        nonlocal units
        for unit in audit.units():
            if units % shard.count == shard.number - 1:
                yield unit
            units += 1

    write_lines(out, judged_lines(audit, chosen(), summary, step))
    ShardRecord.of("audit", shard, out).finish(out, key=options.key(), units=units, options=options)
