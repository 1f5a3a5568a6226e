"""Annotations: what people say of findings, whether the verdict on a rule in a conversation is right.

Users call them marks. A mark is a JSON object a line, or a row of a CSV file, with ``conversation``, ``rule`` and
``mark`` (right or wrong). It may name the ``call`` of the finding, so that it does not count for another one, and the
``place`` of the record where several have the same id. A mark on a conversation without the finding says whether there
rightly is none.
"""

import csv
import json
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal, get_args

from pydantic import ConfigDict, Field, ValidationError

from lawtrace.environments.literals import fields_of
from lawtrace.runs.audit.rates import ALL_RULES, RateTable, RuleRates
from lawtrace.runs.audit.tally import Tally
from lawtrace.runs.store.stage_files import read_text
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.errors import InputError, describe_validation_error
from lawtrace.schemas.models import FrozenModel

_Match = Literal["flagged", "not flagged", "undetermined", "another call"]


class Annotation(FrozenModel):
    """Whether the verdict on a rule in a conversation is right. The last one on it counts."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    conversation: str
    rule: str = Field(min_length=1)
    mark: Literal["right", "wrong"]
    call: str = ""
    place: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is about: conversation, rule and place, which is empty for any."""
        return self.conversation, self.rule, self.place


class Annotations(dict[tuple[str, str, str], Annotation]):
    """The annotations of a file, by what they are about."""

    def find(self, row: AuditRow, rule: str) -> Annotation | None:
        return self.get((row.conversation, rule, row.place)) or self.get((row.conversation, rule, ""))


def read_annotations(path: Path) -> Annotations:
    """Read a file of marks. Raises InputError naming the line."""
    found = Annotations()
    for number, row in _rows(path, read_text(path)):
        fields = {name: value for name, value in fields_of(row).items() if value is not None}
        try:
            one = Annotation.model_validate(fields)
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {describe_validation_error(error)}") from error
        found[one.key] = one
    return found


def _rows(path: Path, text: str) -> Iterator[tuple[int, object]]:
    """The rows with their numbers. A file that does not begin with a brace is CSV."""
    if not text.lstrip().startswith("{"):
        reader = csv.DictReader(text.splitlines())
        yield from ((reader.line_num, {name: value for name, value in row.items() if name}) for row in reader)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}, line {number}: not JSON: {error}") from error


def count_annotations(tally: Tally, row: AuditRow, annotations: Annotations) -> None:
    for verdict in row.rules:
        found = annotations.find(row, verdict.rule)
        if found is None:
            continue
        match: _Match = "undetermined" if verdict.undetermined else "flagged" if verdict.broken else "not flagged"
        if match == "flagged" and found.call and found.call != verdict.call:
            match = "another call"
        tally.add("annotation", *found.key, match)


def annotation_rates(tally: Tally, annotations: Annotations, rules: Collection[str], judged: int) -> RateTable:
    """Precision by the annotations of findings; recall of a rule if each conversation has one for it. ``judged``: how
    many conversations are judged."""
    counts = Counter[tuple[str, str, str]]()
    lost = Counter[str]()
    for key, given in annotations.items():
        matches = {match: number for match in get_args(_Match) if (number := tally.count("annotation", *key, match))}
        number = sum(matches.values())
        if number == 1 and "another call" not in matches:
            (match,) = matches
            counts[given.rule, match, given.mark] += 1
        elif given.rule not in rules:
            lost["names no rule of the rule set"] += 1
        elif matches:
            lost["fits several conversations: give its place" if number > 1 else "is on another call"] += 1
        else:
            lost["fits no conversation"] += 1
    rates = [_rates(rule, counts, judged) for rule in dict.fromkeys(rule for rule, _, _ in counts)]
    total = RuleRates(ALL_RULES, sum(one.flagged for one in rates), sum(one.confirmed for one in rates), None)
    number = counts.total()
    sentences = ["1 mark of people counts." if number == 1 else f"{number} marks of people count."]
    if any(one.bad is None for one in rates):
        sentences.append("Recall is known only of a rule for which every conversation is marked.")
    sentences += [f"Left out: {number} that {why}." for why, number in sorted(lost.items())]
    return RateTable("Marks", tuple(sentences), [total, *rates] if rates else ())


def _rates(rule: str, counts: Counter[tuple[str, str, str]], judged: int) -> RuleRates:
    right, wrong = counts[rule, "flagged", "right"], counts[rule, "flagged", "wrong"]
    missed = counts[rule, "not flagged", "wrong"]
    marked = sum(number for (name, _, _), number in counts.items() if name == rule)
    return RuleRates(rule, right + wrong, right, right + missed if marked == judged else None)
