"""The values that a field of a representative event may have."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.guard.field_uses import FieldUse, FieldUses, Name, Place
from lawtrace.solver.guard.values import (
    ABSENT,
    ANYTHING,
    MAX_LIST,
    Absent,
    Candidate,
    Schema,
    admits,
    choices,
    constants,
    derived,
    fresh,
    lists_of,
    part_schema,
    placed,
    values_at,
)
from lawtrace.solver.logic.conditions import Condition
from lawtrace.solver.logic.terms import RESULT, FieldPath, is_value

Live = Mapping[Place | Name, Sequence[Scalar]]
"""The values that matter now, of open duties and calls in question, for each group of fields and variables."""


class FieldValues:
    """Chooses values for the fields of calls, so that rules tell apart what they can."""

    def __init__(self, uses: FieldUses) -> None:
        self._uses: Final = uses
        self._fresh: Final = uses.variables + 1

    def live(self, values: Iterable[tuple[str, str, Scalar]], events: Iterable[Event]) -> Live:
        """The values that matter for each group of fields and variables.

        Args:
            values: rule, variable and value of open duties and of violations.
            events: calls in question.
        """
        found: dict[Place | Name, list[Scalar]] = {}

        def add(member: Place | Name, value: Scalar) -> None:
            known = found.setdefault(self._uses.groups.of(member), [])
            if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in known):
                known.append(value)

        for event in events:
            for path, use in self._uses.fields.get(event.tool, {}).items():
                for value in values_at(event, path) if use.tracked else ():
                    add((event.tool, path), value)
        for rule, variable, value in values:
            for name in self._uses.names.get((rule, variable), ()):
                add(name, value)
        return found

    def of_variables(self, live: Live, rule: str) -> list[Scalar]:
        """The values of the variables of a rule that representative events may have."""
        names = [name for (one, _), several in self._uses.names.items() if one == rule for name in several]
        groups = dict.fromkeys(map(self._uses.groups.of, names))
        found: list[Scalar] = []
        for group in groups:
            found += [value for value in self._group_values(group, live, ANYTHING) if is_value(value)]
        return found

    def candidates(
        self,
        schema: ToolSchema,
        path: FieldPath,
        use: FieldUse,
        live: Live,
        now: int | None,
    ) -> tuple[list[Candidate], bool]:
        """Candidates for a field, and whether all lists of the values that matter are among them."""
        whole = True
        first, *rest = path.path
        if first == RESULT:
            declared, optional = part_schema(schema.result or ANYTHING, rest), not schema.result
        else:
            argument, optional = schema.argument(str(first))
            if argument is None:
                return [ABSENT], True
            declared, optional = part_schema(argument, rest), optional or bool(rest)
        items = part_schema(declared, (0,)) if use.is_list else declared
        found: list[Json] = [value for test in use.tests for value in constants(test)]
        if use.tracked:
            found += self._group_values(self._uses.groups.of((schema.name, path)), live, items)
            found += self._uses.constants.get((schema.name, path), [])
        else:
            extra = fresh(items, 1, found)
            found += [] if isinstance(extra, Absent) else [extra]
        found += derived(use.computed, now) if use.computed else []
        found += choices(items) or []
        found = [value for value in distinct(found) if admits(items, value)]
        if use.is_list:
            if not use.tracked:
                found = [value for value in found if value != "new-1"]
            candidates: list[Candidate] = [*lists_of(found)]
            whole = len(found) <= MAX_LIST
        else:
            candidates = [*found]
        if optional or not candidates:
            candidates = [ABSENT, *candidates]
        if not use.tracked and not use.computed:
            candidates = _told_apart(candidates, path, use.tests)
        return candidates, whole

    def few(
        self,
        schema: ToolSchema,
        path: FieldPath,
        use: FieldUse,
        live: Live,
        now: int | None,
        *,
        others: bool,
    ) -> list[Candidate]:
        """Candidates for a field; if values matter that it may have, only these.

        `others`: then the others, too.
        """
        found, _ = self.candidates(schema, path, use, live, now)
        if not use.tracked:
            return found
        known = live.get(self._uses.groups.of((schema.name, path)), ())
        if use.is_list:
            found = [one for one in found if not isinstance(one, list) or len(one) < 2 or len(one) == len(known)]

        def matters(one: Candidate) -> bool:
            return all(part in known for part in one) and one != [] if isinstance(one, list) else one in known

        first = [one for one in found if matters(one)]
        if first and not others:
            return [*first, *(one for one in found if isinstance(one, Absent) or one == [])]
        return [*first, *(one for one in found if not matters(one))]

    def _group_values(self, group: Place | Name, live: Live, schema: Schema) -> list[Json]:
        members = [
            (tool, path)
            for tool, fields in self._uses.fields.items()
            for path, use in fields.items()
            if use.tracked and self._uses.groups.of((tool, path)) == group
        ]
        known: list[Json] = [*live.get(group, ())]
        for tool, path in members:
            known += [value for test in self._uses.fields[tool][path].tests for value in constants(test)]
            known += self._uses.constants.get((tool, path), [])
        for number in range(1, self._fresh + 1):
            extra = fresh(schema, number, known)
            known += [] if isinstance(extra, Absent) else [extra]
        return known


def distinct(values: Iterable[Json]) -> list[Json]:
    """The values without repetition; True and 1 are two."""
    found: list[Json] = []
    for value in values:
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in found):
            found.append(value)
    return found


def _told_apart(candidates: Sequence[Candidate], path: FieldPath, tests: Sequence[Condition]) -> list[Candidate]:
    """One candidate for each combination of truths."""
    found: dict[tuple[bool, ...], Candidate] = {}
    for value in candidates:
        holder = {} if isinstance(value, Absent) else placed({}, path.path, value)
        arguments = holder if isinstance(holder, dict) else {}
        event = Event("", arguments, result=arguments.get(RESULT))
        found.setdefault(tuple(test.holds(event) for test in tests), value)
    return list(found.values())
