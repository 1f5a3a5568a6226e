"""What a written text must say and must not say: the asked calls of a request, on every side of its contrast pair."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import RowsResult
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import Choice, ValueType
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.traces import PlannedCall, replay, resolve_path

_GENERAL_WORDS = """
    the and for with from into onto about above after before within without through until since over under out off
    down not nor but who whom whose which what when where why how that this these those here there then than was
    were are been being has have had does did can could may might must shall should will would all any each every
    some many much more most few other others another one two several both none nothing something anyone someone
    everyone else only just also too very yet still again first last next earlier later her his its our their they
    them your you she him own ask asked tell told say said give given get got make made take took want wants need
    needs know show shown see use used let put open name named little complete current day days month months year
    years time number person people kind part way thing list row sum state status reason data
"""
_GENERAL = frozenset(_GENERAL_WORDS.split())
"""Words of general English, which by themselves say nothing about a fact."""


@dataclass(frozen=True, slots=True)
class Secret:
    """The fact of a contrast pair: its name, and its values on both sides as JSON."""

    name: str
    type: ValueType
    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row that a look-up shows."""

    entity: str
    key: Json
    fields: Mapping[str, Json]

    def __str__(self) -> str:
        shown = ", ".join(str(value) for value in self.fields.values() if value != self.key)
        return f"{self.entity} {self.key} ({shown})"


@dataclass(frozen=True)
class AskedRequest:
    """A request to put into words.

    Attributes:
        initials: the initial states of its sides: one, or the two of a contrast pair.
        calls: the ordinary calls that carry it out.
        secret: the fact that the text must not give away; None without a contrast.
    """

    environment: Environment
    initials: tuple[State, ...]
    calls: tuple[PlannedCall, ...]
    secret: Secret | None = None

    def numbers(self, style: Style) -> tuple[int, ...]:
        """The calls that a text of this style asks for."""
        return self._goal if style == "goal" else tuple(range(len(self.calls)))

    @cached_property
    def _goal(self) -> tuple[int, ...]:
        return goal_calls(self.environment, self.initials[0], self.calls)

    def tool(self, number: int) -> Tool:
        return self.environment.tools[self.calls[number].event.tool]

    def wanted_rows(self, number: int) -> list[str]:
        """The keys that later calls read from the look-up of that number."""
        result, keys = self.calls[number].event.result, {lookup.entity.key for lookup in self.tool(number).lookups}
        read = (place for call in self.calls for places in call.looked_up.values() for place in places)
        return list(
            dict.fromkeys(
                str(resolve_path(result, place.path))
                for place in read
                if place.step == number and place.path[-1] in keys
            )
        )

    def is_lookup(self, number: int) -> bool:
        return bool(self.tool(number).lookups) and bool(self.wanted_rows(number))

    def found_rows(self, number: int, words: Mapping[str, Json]) -> Iterator[list[FoundRow]]:
        """On each side, the rows that the look-up shows with these words instead of its own arguments."""
        call = self.calls[number]
        for initial in self.initials:
            session = replay(self.environment, initial, self.calls[:number])
            event = session.call(call.event.tool, {**call.event.arguments, **words}).event
            shown = [row for lookup in self.tool(number).lookups for row in _rows(lookup, event.result)]
            yield shown if event.completed else []

    def names_of(self, number: int, name: str) -> list[str]:
        """What stands in the field that an argument of a look-up names, over all rows of all sides."""
        sampler = getattr(self.tool(number).parameter(name).source, "sampler", None)
        entity, field = getattr(sampler, "entity", None), getattr(sampler, "field", None)
        if entity is None or not isinstance(field, str):
            return []
        rows = (row for initial in self.initials for row in initial.rows(entity.table))
        return list(dict.fromkeys(str(row.values[field]) for row in rows if row.values[field] is not None))

    @cached_property
    def keys(self) -> dict[str, str]:
        """The keys of the rows, and what a row of the table is called; of several tables with one key, the first."""
        return {
            str(row.values[entity.key]): entity.singular
            for entity in [*self.environment.entities.values()][::-1]
            for initial in self.initials
            for row in initial.rows(entity.table)
            if re.search(r"\d", str(row.values[entity.key])) and len(str(row.values[entity.key])) > 3
        }

    @cached_property
    def secret_phrases(self) -> tuple[str, ...]:
        """Words that would give the fact away: its name and its values as far as the calls do not use them."""
        if self.secret is None:
            return ()
        said = {str(value).lower() for call in self.calls for value in call.event.arguments.values()}
        values = [
            value
            for value in self.secret.values
            if isinstance(value, str) and value.lower() not in {*said, *_GENERAL} and not re.match(r"\d{4}-", value)
        ]
        words = [word for text in (self.secret.name, *values) for word in _words(text)]
        telling = [word for word in words if word not in _GENERAL | self._ordinary_words and not self._is_used(word)]
        return tuple(dict.fromkeys([self.secret.name, *values, *telling]))

    def _is_used(self, word: str) -> bool:
        return _stem(word) in map(_stem, self._used_words)

    @cached_property
    def _ordinary_words(self) -> frozenset[str]:
        """The words that several ordinary tools name, and no more compliance tools than ordinary ones."""
        ordinary, hidden = Counter[str](), Counter[str]()
        for tool in self.environment.tools.values():
            if tool.name != self.environment.declines:  # its reasons are about the facts
                count = hidden if tool.name in self.environment.compliance_tools else ordinary
                count.update(_words_of(tool))
        return frozenset(word for word, tools in ordinary.items() if tools > 1 and tools >= hidden[word])

    @cached_property
    def _used_words(self) -> frozenset[str]:
        """The words of the asked calls: of their tools, phrases and values."""
        words: set[str] = set()
        for number, call in enumerate(self.calls):
            words |= _phrased_words(self.tool(number))
            for value in call.event.arguments.values():
                words |= set(_words(str(value)))
        return frozenset(words)

    @cached_property
    def hidden_options(self) -> tuple[str, ...]:
        """The options of compliance tools that are phrases of their own."""
        said = {str(value) for call in self.calls for value in call.event.arguments.values()}
        return tuple(
            dict.fromkeys(
                option
                for name in self.environment.tools
                if name in self.environment.compliance_tools
                for parameter in self.environment.tools[name].parameters
                if isinstance(parameter.type, Choice)
                for option in parameter.type.options
                if " " in option and option not in said and not all(map(self._is_used, _words(option)))
            )
        )


def _rows(lookup: RowsResult, result: Json) -> Iterator[FoundRow]:
    found = result.get(lookup.name) if isinstance(result, dict) else None
    rows: Sequence[Json] = found if isinstance(found, list) else [found]
    for row in rows:
        if isinstance(row, dict):
            yield FoundRow(lookup.entity.singular, row[lookup.entity.key], row)


def _phrased_words(tool: Tool) -> set[str]:
    """The words of the name, the summary and the phrases."""
    phrases = [text for one in tool.phrases.variants.values() for text in one.texts] if tool.phrases else []
    return {word for text in (tool.name, tool.summary, *phrases) for word in _words(text)}


def _words_of(tool: Tool) -> set[str]:
    """The words of a tool, with those of its parameters and their options."""
    texts = [text for one in tool.parameters for text in (one.name.replace("_", " "), one.description)]
    texts += [option for one in tool.parameters if isinstance(one.type, Choice) for option in one.type.options]
    return _phrased_words(tool).union(*map(_words, texts))


def _stem(word: str) -> str:
    """What words of one kind begin with: ``mail`` for mailing, mails and mailed."""
    return re.sub(r"(?<=\w{3})(?:ings?|ed|e?s|e)$", "", word)[:5]


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Za-z]{3,}", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))]
