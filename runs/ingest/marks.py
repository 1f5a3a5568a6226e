"""Marks of people: whether the verdict on a rule in a conversation is right.

A mark is a JSON object a line, or a row of a CSV file, with ``conversation``, ``rule`` and ``mark`` (right or wrong).
It may name the ``call`` of the finding, so that it does not count for another one, and the ``place`` of the record
where several have the same id. A mark on a conversation without the finding says whether there rightly is none.
"""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lawtrace.environments.errors import InputError, describe_read_error, describe_validation_error
from lawtrace.runs.ingest.rates import ALL_RULES, RateTable, RuleRates
from lawtrace.runs.ingest.transcript_audit import AuditRow

_Match = Literal["flagged", "not flagged", "undetermined", "another call"]


class Mark(BaseModel):
    """Whether the verdict on a rule in a conversation is right. The last mark on it counts."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    conversation: str
    rule: str = Field(min_length=1)
    mark: Literal["right", "wrong"]
    call: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a file, by conversation, rule and place (empty for any)."""

    by_place: Mapping[tuple[str, str, str], Mark] = field(default_factory=dict[tuple[str, str, str], Mark])

    def find(self, row: AuditRow, rule: str) -> Mark | None:
        """The mark on the verdict on a rule in a conversation."""
        exact = self.by_place.get((row.conversation, rule, row.place))
        return exact or self.by_place.get((row.conversation, rule, ""))


def read_marks(path: Path) -> Marks:
    """Read a file of marks. Raises InputError naming the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {describe_read_error(error)}") from error
    found: dict[tuple[str, str, str], Mark] = {}
    for number, fields in _rows(path, text):
        try:
            mark = Mark.model_validate({name: _text(value) for name, value in fields.items()})
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {describe_validation_error(error)}") from error
        found[mark.conversation, mark.rule, mark.place] = mark
    return Marks(found)


def _rows(path: Path, text: str) -> list[tuple[int, Mapping[str, object]]]:
    """The rows with their numbers. A file that does not begin with a brace is CSV."""
    if not text.lstrip().startswith("{"):
        reader = csv.DictReader(text.splitlines())
        return [(reader.line_num, {name: value for name, value in row.items() if name}) for row in reader]
    rows: list[tuple[int, Mapping[str, object]]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row: object = json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}, line {number}: not JSON: {error}") from error
            if not isinstance(row, dict):
                raise InputError(f"{path}, line {number}: expected an object with conversation, rule and mark")
            rows.append((number, cast("dict[str, object]", row)))
    return rows


def _text(value: object) -> object:
    """Numbers as text: an id or a call may be written as one."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class MarkRates:
    """Compares marks with verdicts, as rows come."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._matches: Final[dict[tuple[str, str, str], list[_Match]]] = {}
        self._judged = 0
        self._rules: Final[set[str]] = set()

    def add(self, row: AuditRow) -> None:
        """Compare the verdicts on a conversation with its marks."""
        self._judged += row.outcome != "invalid"
        for verdict in row.rules:
            self._rules.add(verdict.rule)
            mark = self._marks.find(row, verdict.rule)
            if mark is None:
                continue
            match: _Match = "undetermined" if verdict.undetermined else "flagged" if verdict.broken else "not flagged"
            if match == "flagged" and mark.call and mark.call != verdict.call:
                match = "another call"
            self._matches.setdefault((mark.conversation, mark.rule, mark.place), []).append(match)

    def detach(self) -> None:
        """Forget the marks, but not the comparisons: what another process merges should be small."""
        self._marks = Marks()

    def merge(self, other: "MarkRates") -> None:
        """Add the comparisons of conversations that come after."""
        self._judged += other._judged
        self._rules.update(other._rules)
        for key, matches in other._matches.items():
            self._matches.setdefault(key, []).extend(matches)

    def table(self) -> RateTable:
        """Precision by the marks on findings; recall of a rule if each conversation is marked for it."""
        counts = Counter[tuple[str, str, str]]()
        lost = Counter[str]()
        for key, mark in self._marks.by_place.items():
            matches = self._matches.get(key, [])
            if len(matches) == 1 and matches[0] != "another call":
                counts[mark.rule, matches[0], mark.mark] += 1
            elif mark.rule not in self._rules:
                lost["names no rule of the rule set"] += 1
            elif matches:
                lost["fits several conversations: give its place" if len(matches) > 1 else "is on another call"] += 1
            else:
                lost["fits no conversation"] += 1
        rules = dict.fromkeys(rule for rule, _, _ in counts)
        rates = [self._rates(rule, counts) for rule in rules]
        whole = [one.rule for one in rates if one.bad is not None]
        total = RuleRates(ALL_RULES, sum(one.flagged for one in rates), sum(one.confirmed for one in rates), None)
        number = counts.total()
        sentences = ["1 mark of people counts." if number == 1 else f"{number} marks of people count."]
        if len(whole) < len(rates):
            sentences.append("Recall is known only of a rule for which every conversation is marked.")
        sentences += [f"Left out: {number} that {why}." for why, number in sorted(lost.items())]
        return RateTable("Marks", tuple(sentences), [total, *rates] if rates else ())

    def _rates(self, rule: str, counts: Counter[tuple[str, str, str]]) -> RuleRates:
        right, wrong = counts[rule, "flagged", "right"], counts[rule, "flagged", "wrong"]
        missed = counts[rule, "not flagged", "wrong"]
        marked = sum(number for (name, _, _), number in counts.items() if name == rule)
        return RuleRates(rule, right + wrong, right, right + missed if marked == self._judged else None)
