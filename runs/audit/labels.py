"""Rules against a label of the source, such as its reward: which conversations are bad, and which a rule finds."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lawtrace.runs.audit.rates import ANY_RULE, RateTable, RuleRates
from lawtrace.runs.audit.tally import MAX_VALUES, Tally
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json

DEFAULT_LABELS: Final = ("reward", "success", "passed", "score")
"""The label is the first of these that the sources have, unless one is chosen."""
BAD_WORDS: Final = frozenset({"false", "fail", "failed", "failure", "incorrect", "i", "no"})
"""Values in words that are bad unless a condition says otherwise. Inspect writes I for incorrect."""

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
    "==": operator.eq,
}
_CHOICE: Final = re.compile(r"\s*([^<>=!]+?)\s*(?:(<=|>=|!=|==?|<|>)\s*([^\s=<>].*?)\s*)?")
_LONGEST_VALUE: Final = 80


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """Which label is compared with, and which values are bad.

    ``name``: None for the first of `DEFAULT_LABELS` that the sources have. Without an ``operator`` numbers below the
    largest are bad, false, and `BAD_WORDS`.
    """

    name: str | None = None
    operator: str | None = None
    value: float | str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The labels to count."""
        return DEFAULT_LABELS if self.name is None else (self.name,)

    def counted_as(self, value: Json) -> str | None:
        """What a value is counted as: itself, or with a condition whether it is bad; None if it is no single value, or
        cannot be compared."""
        key = _key(value)
        if key is None or self.operator is None:
            return key
        number = _number(key)
        if isinstance(self.value, float) and number is not None:
            return str(_OPERATORS[self.operator](number, self.value))
        if self.operator in {"=", "==", "!="}:
            return str(_OPERATORS[self.operator](key.lower(), str(self.value).lower()))
        return None


DEFAULT_CHOICE: Final = LabelChoice()


def read_label_choice(text: str) -> LabelChoice:
    """The choice in a text: ``reward``, ``reward<0.5``, ``success=false``. Raises InputError if it is none."""
    found = _CHOICE.fullmatch(text)
    if found is None:
        raise InputError(
            f"--label {text!r}: write NAME, or NAME with a condition on bad values: reward<1, success=false"
        )
    name, sign, value = found.groups()
    if sign is None:
        return LabelChoice(name)
    number = _number(value)
    if number is None and sign not in {"=", "==", "!="}:
        raise InputError(f"--label {text!r}: {value!r} is no number; compare words with = or !=")
    return LabelChoice(name, sign, value if number is None else number)


def _key(value: Json) -> str | None:
    """A value of a label as text; None for what is no single value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{float(value):g}"
    return value[:_LONGEST_VALUE] if isinstance(value, str) else None


def _number(key: str) -> float | None:
    """The number that a value is: of truth values 1 and 0."""
    if key.lower() in {"true", "false"}:
        return float(key.lower() == "true")
    try:
        return float(key)
    except ValueError:
        return None


def count_labels(tally: Tally, row: AuditRow, choice: LabelChoice) -> None:
    """Count the findings of a conversation by its labels."""
    if row.outcome == "invalid":
        return
    for name in choice.names:
        value = choice.counted_as(row.labels.get(name))
        if value is None or not tally.admits(name, value):
            continue
        tally.add("label", name, value)
        for flagged in (*([ANY_RULE] if row.outcome == "broken" else []), *(one.rule for one in row.broken)):
            tally.add("label", name, value, flagged)


def label_rates(tally: Tally, choice: LabelChoice) -> RateTable | None:
    """Precision and recall against the label; None if no conversation has one and none was chosen."""
    name = next((name for name in choice.names if tally.values.get(name)), None)
    if name is None:
        if choice.name is None:
            return None
        return _without_rates(choice.name, "no conversation has it, or no value that the condition can compare")
    values = list(tally.values[name])
    if len(values) > MAX_VALUES:
        why = f"it has more than {MAX_VALUES} values: say which are bad, as in --label '{name}<0.5'"
        return _without_rates(name, why)
    bad, meaning = _bad(choice, name, values)
    total, number = (sum(tally.count("label", name, value) for value in some) for some in (values, bad))
    if number in {0, total}:
        which = "none" if number == 0 else "each"
        why = f"{which} of {total} conversations is bad ({meaning}); say which are, as in --label '{name}<1'"
        return _without_rates(name, why)
    flagged: dict[str, list[str]] = {value: [] for value in values}
    for (value, *rule), _ in tally.below("label", name):
        flagged[value] += rule
    rules = (rule for found in flagged.values() for rule in found)
    rates: list[RuleRates] = []
    for rule in dict.fromkeys((ANY_RULE, *rules)):
        findings, confirmed = (sum(tally.count("label", name, value, rule) for value in some) for some in (values, bad))
        rates.append(RuleRates(rule, findings, confirmed, number))
    sentence = f"{number} of {total} conversations with the label {name} are bad: {meaning}."
    return RateTable(f"Label {name}", (sentence,), rates)


def _bad(choice: LabelChoice, name: str, values: Sequence[str]) -> tuple[list[str], str]:
    """The values that are bad, and what makes them so."""
    if choice.operator is not None:
        value = f"{choice.value:g}" if isinstance(choice.value, float) else choice.value
        return [one for one in values if one == "True"], f"{name} {choice.operator} {value}"
    numbers = {one: number for one in values if (number := _number(one)) is not None}
    if len(numbers) == len(values) and not {"true", "false"} & set(values):
        largest = max(numbers.values())
        return [one for one in values if numbers[one] < largest], f"{name} below {largest:g}, the largest value"
    bad = [one for one in values if one.lower() in BAD_WORDS]
    return bad, f"{name} {' or '.join(bad)}" if bad else f"{name} {' or '.join(sorted(BAD_WORDS))}"


def _without_rates(name: str, why: str) -> RateTable:
    return RateTable(f"Label {name}", (f"The label {name} says nothing about the rules: {why}.",), ())
