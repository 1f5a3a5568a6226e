"""Tables of a TOML file that know their places, so that each error names file, line and, in expressions, column."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, cast

from lawtrace.environments.toml_file import read_toml
from lawtrace.schemas.errors import FormulaError, InputError, near_names
from lawtrace.solver.declarations.value_terms import ExpressionError

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_PART: Final = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_KEY: Final = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")
_POSITION: Final = re.compile(r"line (\d+), column (\d+): (.*?)(?:\n|$)")
_KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    list: "a list",
    dict: "a table",
}
_Read = TypeVar("_Read")
_Place = tuple[str | int, ...]


class TomlFile:
    """A file and the line of each of its tables and keys. Raises InputError if it is no TOML file."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self.root: Final = TomlTable(self, (), read_toml(path))
        self._lines: Final = path.read_text(encoding="utf-8-sig").split("\n")
        self._places: Final = dict(self._find_places())

    def _find_places(self) -> Iterator[tuple[_Place, int]]:
        here, last = _Place(), dict[_Place, int]()
        for number, line in enumerate(self._lines, 1):
            if header := _HEADER.match(line):
                here = ()
                for part in (names := _names(header[2])):
                    here = (*here, part)
                    if header[1] == "[[" and len(names) == sum(isinstance(one, str) for one in here):
                        last[here] = last.get(here, -1) + 1
                    here = (*here, last[here]) if here in last else here
                yield here, number
            elif key := _KEY.match(line):
                yield (*here, *_names(key[1])), number

    def line(self, place: _Place) -> int:
        """The line of a key, or of the table around it."""
        return next((self._places[place[:end]] for end in range(len(place), 0, -1) if place[:end] in self._places), 1)

    def error(self, message: str, place: _Place, text: str = "", column: int = 1) -> InputError:
        """The error at a key. ``text``: the expression there, and ``column``: the place in it, from 1."""
        known = next(place[:end] for end in range(len(place), -1, -1) if place[:end] in self._places or not end)
        first = self.line(place)
        for number, line in enumerate(self._lines[first - 1 : first + 200] if text else (), first):
            quoted = max(line.find(f"{quote}{text}{quote}") for quote in "\"'")
            if text in line:
                at = (quoted + 1 if quoted >= 0 else line.index(text)) + column
                return InputError(
                    f"{self.path}, line {number}, column {at}: {message}\n    {line}\n    {' ' * (at - 1)}^"
                )
        inside = ".".join(part for part in place[len(known) :] if isinstance(part, str))
        return InputError(f"{self.path}, line {first}: {inside + ': ' if inside else ''}{message}")


def _names(key: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, key)]


class TomlTable:
    """A table of the file. What is not read of it when `end` is called is an unknown key."""

    def __init__(self, file: TomlFile, place: _Place, values: Mapping[str, Any]) -> None:
        self.file: Final = file
        self.place: Final = place
        self.values: Final = values
        self._read: Final[dict[str, None]] = {}

    def fail(self, message: str, key: str | None = None, text: str = "") -> NoReturn:
        """Raise InputError at a key of the table, or at the table; ``text``: the part of the value that is meant."""
        raise self.file.error(message, self.place if key is None else (*self.place, key), text)

    def has(self, key: str) -> bool:
        """Whether the table has the key."""
        self._read[key] = None
        return key in self.values

    def get(self, key: str, kind: type[_Read], default: _Read | None = None) -> _Read:
        """The value of a key. Without a default the key is needed."""
        if not self.has(key):
            if default is None:
                near = get_close_matches(key, self.values.keys() - self._read, 1)
                meant = f"; is `{near[0]}` meant to be it?" if near else f"; it is {_KINDS[kind]}"
                self.fail(f"`{key}` is missing{meant}", *near, text=near[0] if near else "")
            return default
        value = self.values[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail(f"`{key}` must be {_KINDS[kind]}, not {value!r:.60}", key)
        return value

    def items(self, key: str) -> list[Any]:
        """The list at a key."""
        return cast("list[Any]", self.get(key, list))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty without the key."""
        items = cast("list[object]", self.get(key, list, []))
        if not all(isinstance(item, str) for item in items):
            self.fail(f"`{key}` must be a list of texts", key)
        return tuple(map(str, items))

    def raw(self, key: str) -> Any:  # noqa: ANN401 (a value of TOML)
        """The value of a key; None without it."""
        return self.values[key] if self.has(key) else None

    def table(self, key: str) -> "TomlTable":
        """A table inside; an empty one without the key."""
        return TomlTable(self.file, (*self.place, key), self.get(key, dict, {}))

    def tables(self, key: str) -> "list[TomlTable]":
        """A list of tables."""
        items = cast("list[object]", self.get(key, list, []))
        if not all(isinstance(item, dict) for item in items):
            self.fail(f"`{key}` must be a list of tables, `[[{key}]]`", key)
        made = (cast("dict[str, Any]", item) for item in items)
        return [TomlTable(self.file, (*self.place, key, number), item) for number, item in enumerate(made)]

    def entries(self) -> "Iterator[tuple[str, TomlTable]]":
        """The tables inside by name."""
        for name in self.values:
            yield name, self.table(name)

    def one_of(self, key: str, known: Mapping[str, _Read]) -> _Read:
        """What the name at a key stands for."""
        name = self.get(key, str)
        if name not in known:
            self.fail(f"{name!r} is not known{near_names(name, known)}", key, name)
        return known[name]

    def expression(self, key: str, read: Callable[[str], _Read]) -> _Read:
        """What an expression at a key stands for."""
        value = self.raw(key)
        if not isinstance(value, str):
            self.fail(f"`{key}` must be an expression in quotes, not {value!r:.60}", key)
        if len(re.findall(r"[-+*(]", value)) > 100:
            self.fail("the expression has more than 100 operators; split it", key)
        try:
            return read(value)
        except ExpressionError as error:
            found = re.search(rf"(?<![\w.]){re.escape(error.part)}(?!\w)", value)
            column, message = (found.start() if found else 0) + 1, str(error)
        except FormulaError as error:
            position = _POSITION.match(str(error))
            column, message = (int(position[2]), position[3]) if position else (1, str(error))
        raise self.file.error(message, (*self.place, key), value, column)

    def end(self, extra: Sequence[str] = ()) -> None:
        """Raise InputError for a key that is not known. ``extra``: other known keys, for the message."""
        for key in self.values:
            if key not in self._read:
                self.fail(f"`{key}` is not a known key{near_names(key, {*self._read, *extra} - {key})}", key, key)
