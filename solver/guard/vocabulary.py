"""Representative events: for the rules of a component, all events that they tell apart.

The values of a field fall into classes. If rules compare it with literals only, one value is kept for each combination
of truths. If they compare it with variables or other fields, the values that matter are those of open duties, of the
calls in question, the literals, and some that occur nowhere else. An event takes one value for each field.

`Representatives.exact` says whether these events are all that matter. They are not where rules compute with fields,
read the clock, or sum: then a search that finds nothing proves nothing.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from typing import Final

from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import SPEAKERS, Event, Json, message_event
from lawtrace.solver.guard.field_uses import FieldUses, Place
from lawtrace.solver.guard.field_values import FieldValues, Live, distinct
from lawtrace.solver.guard.values import Absent, Candidate, placed
from lawtrace.solver.logic.terms import RESULT, FieldPath
from lawtrace.solver.rules import Rule

MAX_EVENTS: Final = 300
"""How many representative events one tool has at most."""
MAX_DRAFTS: Final = 40
"""How many drafts of events of one tool are tried for one rule."""


@dataclass(frozen=True, slots=True)
class Representatives:
    """Events that stand for others.

    Attributes:
        events: the events.
        exact: whether they are all that matter.
        cut: the fields of which not all lists were made.
    """

    events: list[Event]
    exact: bool
    cut: frozenset[Place] = frozenset()


@dataclass(frozen=True, slots=True)
class Draft:
    """An event, and which value it has in each field that rules read; a message has none."""

    event: Event
    fields: Mapping[FieldPath, Candidate]


class Vocabulary:
    """The representative events of some rules.

    Attributes:
        values: that their fields have.
    """

    def __init__(self, rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> None:
        self._schemas: Final = tools
        self._uses: Final = FieldUses(rules)
        self.values: Final = FieldValues(self._uses)

    def events(self, tools: Collection[str], live: Live, now: int | None) -> Representatives:
        """The representative events of some tools at a time."""
        found: list[Event] = []
        exact, cut = self._uses.exact, set[Place]()
        for tool in (name for name in self._uses.fields if name in tools):
            if tool in SPEAKERS:
                found += self._messages(tool, live, now)
                continue
            schema = self._schemas.get(tool)
            if schema is None:
                continue
            made = self._calls(schema, live, now)
            exact = exact and made.exact
            cut |= made.cut
            found += made.events
        return Representatives(found, exact, frozenset(cut))

    def call_results(self, tool: str, arguments: Mapping[str, Json], now: int) -> Representatives:
        """The call with these arguments and each representative result."""
        event = Event(tool, arguments, time=now)
        read = [use for path, use in self._uses.fields.get(tool, {}).items() if path.path[0] == RESULT]
        if not read:
            return Representatives([event], exact=True)
        schema = self._schemas.get(tool, ToolSchema(tool, "", {}, None, ""))
        found = self._calls(schema, self.values.live((), (event,)), now, arguments)
        return replace(found, exact=found.exact and not any(use.computed for use in read))

    def _calls(
        self,
        schema: ToolSchema,
        live: Live,
        now: int | None,
        given: Mapping[str, Json] | None = None,
    ) -> Representatives:
        """The representative calls of a tool. `given`: its arguments, if only the result is open."""
        tool = schema.name
        options: list[tuple[FieldPath, list[Candidate]]] = []
        cut: set[Place] = set()
        for path, use in self._uses.fields.get(tool, {}).items():
            if given is not None and path.path[0] != RESULT:
                continue
            candidates, whole = self.values.candidates(schema, path, use, live, now)
            options.append((path, candidates))
            if not whole:
                cut.add((tool, path))
        events: list[Event] = []
        for number, combination in enumerate(_combinations([candidates for _, candidates in options])):
            if number == MAX_EVENTS:
                return Representatives(events, exact=False, cut=frozenset(cut))
            chosen = {path: value for (path, _), value in zip(options, combination, strict=True)}
            events.append(_event(tool, chosen, now, given))
        if tool in self._uses.attempted and given is None:
            events += [Event(one.tool, one.arguments, "raised", time=now) for one in events]
        return Representatives(events, given is None or not cut, frozenset(cut))

    def reads(self, rule: str, tool: str, fields: Collection[Place]) -> bool:
        """Whether a rule reads one of these fields of a tool."""
        return any((tool, path) in fields for path in self._uses.read_by[rule].get(tool, ()))

    def drafts(
        self,
        tool: str,
        rule: str,
        live: Live,
        now: int | None,
        given: "Draft | None" = None,
        *,
        others: bool = False,
    ) -> list["Draft"]:
        """Events of a tool that differ in the fields that a rule reads.

        Args:
            tool: its name.
            rule: the id of the rule.
            live: the values that matter; fields that may have one have no others.
            now: their time.
            given: another event, which they equal in the other fields.
            others: whether fields may have other values, too.
        """
        read = self._uses.read_by[rule].get(tool)
        if read is None or (given is not None and not given.fields):
            return []
        if tool in SPEAKERS:
            return [Draft(event, {}) for event in self._messages(tool, live, now)]
        schema = self._schemas.get(tool)
        if schema is None:
            return []
        if given is None:
            fields = {
                path: self.values.few(schema, path, use, live, now, others=others)[: None if path in read else 1]
                for path, use in self._uses.fields[tool].items()
            }
        else:
            fields = {path: [value] for path, value in given.fields.items()}
            for path in read:
                few = self.values.few(schema, path, self._uses.fields[tool][path], live, now, others=others)
                fields[path] = [*_nearby(given.fields[path], few), *few]
        some = islice(product(*fields.values()), MAX_DRAFTS)
        chosen = [dict(zip(fields, values, strict=True)) for values in some]
        return [Draft(_event(tool, one, now), one) for one in chosen]

    def _messages(self, speaker: str, live: Live, now: int | None) -> list[Event]:
        texts = sorted(self._uses.words.get(speaker, ()))
        for path, use in self._uses.fields.get(speaker, {}).items():
            if use.tracked:
                texts += [str(value) for value in live.get(self._uses.groups.of((speaker, path)), ())]
        texts = list(dict.fromkeys(texts))
        some = [combination for size in range(min(len(texts), 2) + 1) for combination in combinations(texts, size)]
        return [message_event(speaker, " ".join(parts), now) for parts in [*some, tuple(texts)][:MAX_EVENTS]]


def _event(
    tool: str, fields: Mapping[FieldPath, Candidate], now: int | None, given: Mapping[str, Json] | None = None
) -> Event:
    """A call with these values of its fields. `given`: its arguments, if only the result is open."""
    content: Json = dict(given or {})
    for path, value in fields.items():
        if not isinstance(value, Absent):
            content = placed(content, path.path, value)
    arguments = dict(content) if isinstance(content, dict) else {}
    result = None if given and RESULT in given else arguments.pop(RESULT, None)
    return Event(tool, arguments, result=result, time=now)


def _nearby(given: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """A list with one value more or less, of those in other lists."""
    if not isinstance(given, list):
        return []
    values = distinct(part for one in candidates if isinstance(one, list) for part in one)
    return [[one for one in given if one != value] if value in given else [*given, value] for value in values]


def _combinations(options: Sequence[Sequence[Candidate]]) -> Iterator[tuple[Candidate, ...]]:
    """All choices of one candidate for each field, those with many first candidates before the others."""
    for size in range(len(options) + 1):
        for chosen in combinations(range(len(options)), size):
            others = [each[1:] if number in chosen else each[:1] for number, each in enumerate(options)]
            yield from product(*others)
