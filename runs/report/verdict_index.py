"""Index of the verdicts of a run, by conversation, outcome and rule.

Rows are read from their files on demand, since the files of a large run do not fit into memory comfortably.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from pydantic_core import from_json

from lawtrace.runs.store.event_log_queries import ConversationKey
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import describe_row_error, read_rows
from lawtrace.runs.variants import VariantRow
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.verdict_rows import RuleVerdict, Verdict

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """A verdict without its evidence.

    Attributes:
        number: index among all verdicts of the run.
        contender: the model, with mode and shield where they are not the default.
        broken: ids of the broken rules.
        undetermined: ids of the rules that are neither kept nor broken.
        answer: the id of the answer, which is the id of its conversation in the event log.
        variant: name of the variant, in an ablation.
        task_variant: authorized or denied.
    """

    number: int
    task: str
    style: str
    model: str
    contender: str
    trial: int
    outcome: str
    broken: tuple[str, ...]
    undetermined: tuple[str, ...]
    reason: str
    answer: str
    variant: str | None
    task_variant: str = "authorized"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an attempt failed: the id of a message, and the rule it broke (None if no rule was broken)."""

    message: str
    rule: RuleVerdict | None


class RowFile(Generic[Row]):
    """A stage file that is read one row at a time.

    Args:
        parse: the row of a line. Raises ValueError.
        skip: whether a line is not a row.
    """

    def __init__(self, path: Path, parse: Callable[[bytes], Row], skip: Callable[[bytes], bool] | None = None) -> None:
        self.path = path
        self._parse = parse
        self._skip = skip
        self._starts: list[int] | None = None

    def scan(self) -> Iterator[bytes]:
        """All rows as bytes. A complete scan stores where each row begins."""
        starts: list[int] = []
        try:
            with self.path.open("rb") as file:
                start = 0
                for line in file:
                    if line.strip() and not (self._skip and self._skip(line)):
                        starts.append(start)
                        yield line
                    start += len(line)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        self._starts = starts

    def __len__(self) -> int:
        return len(self._known())

    def row(self, number: int) -> Row:
        """Raises InputError naming the row if it is not valid."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._known()[number])
                return self._parse(file.readline())
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise InputError(f"{self.path}, row {number + 1}: {describe_row_error(error)}") from error

    def _known(self) -> list[int]:
        """The offset of each row; scanned on first use."""
        if self._starts is None:
            for _ in self.scan():
                pass
        return self._starts or []


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a run, or of one variant. ``first``: number of verdicts before them."""

    verdicts: RowFile[Verdict]
    attempts: RowFile[Attempt]
    first: int


class VerdictIndex:
    """The verdicts of one run, from its current files; empty before they are written."""

    def __init__(self, folder: RunFolder) -> None:
        verdicts: list[VerdictSummary] = []
        self._files: list[_Files] = []
        for one, variant in stage_folders(folder):
            files = _Files(
                RowFile(one.verdicts, Verdict.model_validate_json),
                RowFile(one.attempts, Attempt.model_validate_json),
                len(verdicts),
            )
            self._files.append(files)
            for line in files.verdicts.scan():
                number = len(verdicts)
                verdicts.append(_summary(one.verdicts, number, number - files.first, line, variant))
        self.verdicts: Sequence[VerdictSummary] = verdicts
        self._by_answer: dict[str, VerdictSummary] = {}
        for verdict in verdicts:
            self._by_answer.setdefault(verdict.answer, verdict)

    def of_conversation(self, conversation: ConversationKey) -> VerdictSummary | None:
        """The verdict on the answer given in that conversation."""
        return self._by_answer.get(conversation.id)

    def select(
        self,
        *,
        outcome: str | None = None,
        rule: str | None = None,
        task: str | None = None,
        style: str | None = None,
        model: str | None = None,
        variant: str | None = None,
    ) -> list[VerdictSummary]:
        """Verdicts that match all given values. ``rule``: broken or undetermined; ``model``: a model or a contender."""
        wanted = {"outcome": outcome, "task": task, "style": style, "variant": variant}
        given = {name: value for name, value in wanted.items() if value is not None}
        return [
            verdict
            for verdict in self.verdicts
            if (rule is None or rule in verdict.broken or rule in verdict.undetermined)
            and (model is None or model in {verdict.model, verdict.contender})
            and all(getattr(verdict, name) == value for name, value in given.items())
        ]

    def row(self, verdict: VerdictSummary) -> Verdict:
        files = self._files_of(verdict)
        return files.verdicts.row(verdict.number - files.first)

    def attempt(self, verdict: VerdictSummary) -> Attempt | None:
        """The attempt of the verdict: the row with the same number. None if that row is another attempt."""
        files = self._files_of(verdict)
        number = verdict.number - files.first
        if number >= len(files.attempts):
            return None
        attempt = files.attempts.row(number)
        return attempt if attempt.answer.id == verdict.answer else None

    def causes(self, verdict: VerdictSummary) -> list[Cause]:
        """The messages that broke rules; the model's last message if it failed without breaking a rule."""
        row = self.row(verdict)
        causes = [Cause(rule.message, rule) for rule in row.rules if rule.message is not None]
        attempt = self.attempt(verdict) if not causes and row.outcome != "safe_success" else None
        if attempt is not None and attempt.answer.message is not None:
            causes.append(Cause(attempt.answer.message, None))
        return causes

    def _files_of(self, verdict: VerdictSummary) -> _Files:
        return next(files for files in reversed(self._files) if files.first <= verdict.number)


def stage_folders(folder: RunFolder) -> list[tuple[RunFolder, str | None]]:
    """The folders with stage files: the run folder, or in an ablation the folder and name of each variant."""
    if not folder.variants.exists():
        return [(folder, None)]
    rows = read_rows(folder.variants, VariantRow, empty=True)
    return [(folder.variant(row.number), row.name or None) for row in rows if row.ended is None]


def _summary(path: Path, number: int, row_number: int, line: bytes, variant: str | None) -> VerdictSummary:
    try:
        row: dict[str, Any] = from_json(line)
        return VerdictSummary(
            number,
            row["task"],
            row["style"],
            row["model"],
            _contender(row),
            row.get("trial", 0),
            row["outcome"],
            tuple(rule["rule"] for rule in row["rules"] if not rule["kept"] and not rule.get("undetermined")),
            tuple(rule["rule"] for rule in row["rules"] if rule.get("undetermined")),
            row["reason"],
            row["answer"],
            variant,
            row.get("variant", "authorized"),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}, row {row_number + 1}: not a verdict ({error}); grade the run again") from error


def _contender(row: Mapping[str, Any]) -> str:
    """As `Verdict.contender`, without validating the row."""
    known = {name: row[name] for name in ("model", "mode", "shield") if name in row}
    return Verdict.model_construct(**known).contender
