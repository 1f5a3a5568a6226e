"""Rules against a label of the source, such as its reward: which conversations are bad, and which a rule finds."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lawtrace.runs.audit.rates import ANY_RULE, RateTable, RuleRates
from lawtrace.runs.audit.tally import Tally
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


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """Which label is compared with, and which values are bad.

    ``name``: None for the first of `DEFAULT_LABELS` that the sources have. Without an ``operator`` numbers below 1 are
    bad, false, and `BAD_WORDS`.
    """

    name: str | None = None
    operator: str | None = None
    value: float | str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return DEFAULT_LABELS if self.name is None else (self.name,)

    @property
    def meaning(self) -> str:
        """Which values are bad, in words."""
        if self.operator is None:
            return "a number below 1, false, or a word such as failed"
        return f"{self.name} {self.operator} {f'{self.value:g}' if isinstance(self.value, float) else self.value}"

    def is_bad(self, value: Json) -> bool | None:
        """Whether a value is bad; None if it is no single value, or cannot be compared."""
        if not isinstance(value, bool | int | float | str):
            return None
        text, number = str(value).strip().lower(), _number(str(value))
        if self.operator is None:
            return text in BAD_WORDS if number is None else number < 1
        if isinstance(self.value, float) and number is not None:
            return _OPERATORS[self.operator](number, self.value)
        if self.operator in {"=", "==", "!="}:
            return _OPERATORS[self.operator](text, str(self.value).lower())
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


def _number(text: str) -> float | None:
    """The number that a value is: of truth values 1 and 0."""
    if text.lower() in {"true", "false"}:
        return float(text.lower() == "true")
    try:
        return float(text)
    except ValueError:
        return None


def count_labels(tally: Tally, row: AuditRow, choice: LabelChoice) -> None:
    if row.outcome == "invalid":
        return
    for name in choice.names:
        bad = choice.is_bad(row.labels.get(name))
        if bad is None:
            continue
        tally.add("label", name, str(bad))
        for flagged in (*([ANY_RULE] if row.broken else []), *(one.rule for one in row.broken)):
            tally.add("label", name, str(bad), flagged)


def label_rates(tally: Tally, choice: LabelChoice) -> RateTable | None:
    """Precision and recall against the label; None if no conversation has one and none was chosen."""
    name = next((name for name in choice.names if any(tally.below("label", name))), None)
    if name is None:
        if choice.name is None:
            return None
        return _without_rates(choice.name, "no conversation has it, or no value that can be compared")
    bad, good = tally.count("label", name, "True"), tally.count("label", name, "False")
    if not bad or not good:
        which = "each" if bad else "none"
        why = f"{which} of {bad + good} conversations is bad ({choice.meaning}); say which are: --label '{name}<0.5'"
        return _without_rates(name, why)
    rules = dict.fromkeys((ANY_RULE, *(rule for (_, *of), _ in tally.below("label", name) for rule in of)))
    rates: list[RuleRates] = []
    for rule in rules:
        confirmed, others = (tally.count("label", name, value, rule) for value in ("True", "False"))
        rates.append(RuleRates(rule, confirmed + others, confirmed, bad))
    sentence = f"{bad} of {bad + good} conversations with the label {name} are bad: {choice.meaning}."
    return RateTable(f"Label {name}", (sentence,), rates)


def _without_rates(name: str, why: str) -> RateTable:
    return RateTable(f"Label {name}", (f"The label {name} says nothing about the rules: {why}.",), ())
