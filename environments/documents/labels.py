"""Labels of list items such as ``(a)``, ``1.`` and ``(iv)``, and the readings that a label can have."""

import re
from dataclasses import dataclass

_NUMERALS = (*((100, "c"), (90, "xc"), (50, "l"), (40, "xl")), *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")))


def roman_numeral(number: int) -> str:
    """In lower case; empty for numbers below 1."""
    text = ""
    for value, letters in _NUMERALS:
        while number >= value:
            text, number = text + letters, number - value
    return text


ROMAN_VALUES = {roman_numeral(number): number for number in range(1, 400)}
"""The numbers of numerals in lower case."""

_LABEL = re.compile(
    r"\s*(?P<label>"
    r"\((?:\d{1,3}[a-z]{0,2}|[a-z][a-h]?|(?P<once>[a-z])(?P=once)|[ivxlc]{1,8}|[A-Z]|[IVXL]{1,5})\)"
    r"|\d{1,3}[a-z]{0,2}\.(?!\d)"
    r"|(?:\d{1,3}|[a-z]|[ivx]{1,5})\)"
    r")(?=\s|$|\()"
)
_SHAPE = re.compile(r"[0-9A-Za-z]+")

_LARGEST_GAP = 20
_LAST_INSERTED = "h"
"""Last letter of inserted points; *(or)* and *(no)* are words."""

Value = tuple[int, str]
"""The number and its inserted letter: ``2a`` is (2, "a")."""


@dataclass(frozen=True, slots=True)
class LabelReading:
    """One interpretation of a label: its numbering style, and its value in that style."""

    style: str
    value: Value

    @property
    def first(self) -> bool:
        return self.value == (1, "")

    def follows(self, other: "LabelReading") -> bool:
        """Whether it is the successor in the same style: the next number, or one inserted after the last."""
        if self.style != other.style:
            return False
        (number, inserted), (last, before) = self.value, other.value
        return (number == last + 1 and inserted in {"", "a"}) or (number == last and inserted > before)

    def is_after(self, other: "LabelReading") -> bool:
        """Whether it comes later in the same list, with a small gap at most."""
        return self.style == other.style and 0 <= self.value[0] - other.value[0] <= _LARGEST_GAP and self != other


@dataclass(frozen=True, slots=True)
class ListLabel:
    """A label as printed, and its possible interpretations."""

    text: str
    readings: tuple[LabelReading, ...]

    @property
    def cited(self) -> str:
        """The form in citations: ``(1)`` for ``1.`` and ``1)``."""
        found = _SHAPE.search(self.text)
        assert found is not None
        return f"({found[0]})"


def read_labels(text: str) -> tuple[tuple[ListLabel, ...], str]:
    """The labels at the start of a line (``(a)(1) The provider ...`` has two), and the rest of the line."""
    labels: list[ListLabel] = []
    while (found := _LABEL.match(text)) is not None:
        meant = label_readings(found["label"])
        if not meant or (labels and not found["label"].startswith("(")):
            break
        labels.append(ListLabel(found["label"], meant))
        text = text[found.end() :]
    return tuple(labels), text.strip()


def label_readings(label: str) -> tuple[LabelReading, ...]:
    """Interpretations of a label: ``(i)`` is the ninth letter or the first numeral."""
    found = _SHAPE.search(label)
    assert found is not None
    core, frame = found[0], label.replace(found[0], "#", 1)
    if core[0].isdigit():
        digits = re.match(r"\d+", core)
        assert digits is not None
        return (LabelReading(f"1 {frame}", (int(digits[0]), core[digits.end() :])),)
    case, lower = "a" if core.islower() else "A", core.lower()
    letter = ord(lower[0]) - 96
    values: list[Value] = []
    if len(core) == 1:
        values.append((letter, ""))
    if len(core) == 2 and lower[0] == lower[1]:
        values.append((26 + letter, ""))  # aa comes after z
    if len(core) == 2 and lower[1] <= _LAST_INSERTED:
        values.append((letter, lower[1]))  # or is inserted behind a
    meant = [LabelReading(f"{case} {frame}", value) for value in values]
    if lower in ROMAN_VALUES:
        meant.append(LabelReading(f"{'i' if case == 'a' else 'I'} {frame}", (ROMAN_VALUES[lower], "")))
    return tuple(meant)
