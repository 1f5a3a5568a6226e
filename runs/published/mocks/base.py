"""The published mock tools, quirk by quirk, for the `published` grading profile and for nothing else.

They answer what the published evaluation's tools answered, not what their document promises: nothing ever raises by
itself, authorization always succeeds, the lock returns bare values, a payment checks neither balance nor payee, and
an id for something new is *handed out* from the expected final state in sorted order, so that creating things in
another order swaps their ids. States are the published JSON, floats included; ours are never mixed in.

Where the published code drew ids at random beyond those it expected, ours counts on from the ids that are taken: the
same program always gets the same verdict. One recorded verdict depends on such a draw about once in a hundred.
"""

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from lawtrace.environments.events import Event, Json
from lawtrace.environments.jail import Raised, Reply, Returned

Rows = dict[str, Any]
Operation = Callable[..., Json]


class PublishedMock:
    """One evaluation's tools: the state, what was called, and the ids still to hand out."""

    operations: ClassVar[Mapping[str, Operation]]

    def __init__(self, initial: Mapping[str, Json], expected: Mapping[str, Json]) -> None:
        self.state: dict[str, Any] = {"audit_logs": {}, **copy.deepcopy(dict(initial))}
        self.events: list[Event] = []
        self._expected = {table: sorted(rows) for table, rows in expected.items() if isinstance(rows, dict)}

    @classmethod
    def signatures(cls) -> dict[str, tuple[str, ...]]:
        """The parameter names of each tool, in order."""
        return {name: tuple(inspect.signature(tool).parameters)[1:] for name, tool in cls.operations.items()}

    def answer(self, tool: str, arguments: dict[str, Json]) -> Reply:
        """One call, as a handler of the jail answers it. What goes wrong inside a tool is the program's own error."""
        operation = self.operations.get(tool)
        if operation is None:
            return Raised("AttributeError", f"{type(self).__name__!r} object has no attribute {tool!r}")
        try:
            inspect.signature(operation).bind(self, **arguments)
        except TypeError as error:
            return Raised("TypeError", f"{tool}() {error}")
        try:
            result = operation(self, **arguments)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            self.events.append(Event(tool, arguments, "raised", None, f"{type(error).__name__}: {error}"))
            return Raised(type(error).__name__, str(error))
        self.events.append(Event(tool, arguments, "completed", copy.deepcopy(result)))
        return Returned(result)

    def authorize(self) -> Json:
        return {"authorized": True}

    def record(self, events: Any) -> Json:  # noqa: ANN401 - the mock takes anything
        entry = self.new_id("audit_logs", "L-{:05d}")
        self.state["audit_logs"][entry] = {"log_entry_id": entry, "events": events}
        return {"log_entry_id": entry, "success": True}

    def new_id(self, table: str, pattern: str) -> str:
        """The next id that the expected state has and this one has not; beyond them, the first that is free."""
        taken = cast("Rows", self.state[table])
        expected = (name for name in self._expected.get(table, ()) if name not in taken)
        return next(expected, None) or next(
            name for number in range(1, len(taken) + 2) if (name := pattern.format(number)) not in taken
        )
