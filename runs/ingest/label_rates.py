"""Rules against a label of the source, such as its reward: which conversations are bad, and which a rule finds."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.runs.ingest.rates import ANY_RULE, RateTable, RuleRates
from lawtrace.runs.ingest.transcript_audit import AuditRow

DEFAULT_LABELS: Final = ("reward", "success", "passed", "score")
"""The label is the first of these that the sources have, unless one is chosen."""
MAX_VALUES: Final = 1_000
"""Of more different values it is not known which are bad unless a condition says so."""
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

    def is_bad(self, value: Json) -> bool | None:
        """Whether the condition calls a value bad; None without a condition, or if the two cannot be compared."""
        if self.operator is None:
            return None
        key = _key(value)
        if key is None:
            return None
        number = _number(key)
        if isinstance(self.value, float) and number is not None:
            return _OPERATORS[self.operator](number, self.value)
        if self.operator in {"=", "==", "!="}:
            return _OPERATORS[self.operator](key.lower(), str(self.value).lower())
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


@dataclass(slots=True)
class _Counts:
    """Conversations with one value of a label: all, those with a broken rule, and those with each rule broken."""

    conversations: int = 0
    broken: int = 0
    rules: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, row: AuditRow) -> None:
        self.conversations += 1
        self.broken += row.outcome == "broken"
        for verdict in row.rules:
            if verdict.broken:
                self.rules[verdict.rule] = self.rules.get(verdict.rule, 0) + 1

    def merge(self, other: "_Counts") -> None:
        self.conversations += other.conversations
        self.broken += other.broken
        for rule, number in other.rules.items():
            self.rules[rule] = self.rules.get(rule, 0) + number


class LabelRates:
    """Counts findings by the values of labels, as rows come."""

    def __init__(self, choice: LabelChoice) -> None:
        self._choice: Final = choice
        self._values: Final[dict[str, dict[str, _Counts]]] = {}
        self._overflowing: Final[set[str]] = set()

    def add(self, row: AuditRow) -> None:
        """Count the findings of a conversation by its labels."""
        if row.outcome == "invalid":
            return
        for name in self._choice.names:
            key = self._key(row.labels.get(name))
            if key is not None and (counts := self._counts(name, key)) is not None:
                counts.add(row)

    def merge(self, other: "LabelRates") -> None:
        """Add the counts of conversations that come after."""
        self._overflowing.update(other._overflowing)
        for name, values in other._values.items():
            for key, counts in values.items():
                if (mine := self._counts(name, key)) is not None:
                    mine.merge(counts)

    def _key(self, value: Json) -> str | None:
        """What a value is counted as: itself, or whether it is bad if a condition says so."""
        if self._choice.operator is None:
            return _key(value)
        bad = self._choice.is_bad(value)
        return None if bad is None else str(bad)

    def _counts(self, name: str, key: str) -> _Counts | None:
        """The counts of a value; None if there are too many values."""
        values = self._values.setdefault(name, {})
        if key not in values and len(values) >= MAX_VALUES:
            self._overflowing.add(name)
            return None
        return values.setdefault(key, _Counts())

    def table(self) -> RateTable | None:
        """Precision and recall against the label; None if no conversation has one and none was chosen."""
        choice = self._choice
        name = next((name for name in choice.names if self._values.get(name)), None)
        if name is None:
            if choice.name is None:
                return None
            return _without_rates(choice.name, "no conversation has it, or no value that the condition can compare")
        values = self._values[name]
        if name in self._overflowing:
            return _without_rates(
                name, f"it has more than {MAX_VALUES} values: say which are bad, as in --label '{name}<0.5'"
            )
        bad, meaning = self._bad(name, values)
        total = sum(counts.conversations for counts in values.values())
        number = sum(values[key].conversations for key in bad)
        if number in {0, total}:
            which = "none" if number == 0 else "each"
            why = f"{which} of {total} conversations is bad ({meaning}); say which are, as in --label '{name}<1'"
            return _without_rates(name, why)
        rules = dict.fromkeys(rule for counts in values.values() for rule in counts.rules)
        rates = [
            RuleRates(
                rule,
                sum(counts.rules.get(rule, 0) for counts in values.values()),
                sum(values[key].rules.get(rule, 0) for key in bad),
                number,
            )
            for rule in rules
        ]
        flagged = sum(counts.broken for counts in values.values())
        any_rule = RuleRates(ANY_RULE, flagged, sum(values[key].broken for key in bad), number)
        sentence = f"{number} of {total} conversations with the label {name} are bad: {meaning}."
        return RateTable(f"Label {name}", (sentence,), [any_rule, *rates])

    def _bad(self, name: str, values: Iterable[str]) -> tuple[list[str], str]:
        """The values that are bad, and what makes them so."""
        choice, keys = self._choice, [*values]
        if choice.operator is not None:
            value = f"{choice.value:g}" if isinstance(choice.value, float) else choice.value
            return [key for key in keys if key == "True"], f"{name} {choice.operator} {value}"
        numbers = {key: number for key in keys if (number := _number(key)) is not None}
        if len(numbers) == len(keys) and not {"true", "false"} & set(keys):
            largest = max(numbers.values())
            return [key for key in keys if numbers[key] < largest], f"{name} below {largest:g}, the largest value"
        bad = [key for key in keys if key.lower() in BAD_WORDS]
        return bad, f"{name} {' or '.join(bad)}" if bad else f"{name} {' or '.join(sorted(BAD_WORDS))}"


def _without_rates(name: str, why: str) -> RateTable:
    return RateTable(f"Label {name}", (f"The label {name} says nothing about the rules: {why}.",), ())
