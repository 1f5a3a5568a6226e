"""The published evaluation, rebuilt from its description: the baseline of `grading.py`.

For each program: the rules are parsed again, the states are copied, the program is executed in this process, the
final state is compared as sorted JSON with a unified diff, and the rules are evaluated by a recursion that slices the
trace at every level. `MEASURED` holds measurements of the original.
"""

import contextlib
import copy
import difflib
import io
import json
import re
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Literal

from lark import Lark, Token, Transformer

from benchmarks.published.mock_tools import MOCKS, PublishedMock
from lawtrace.environments.sandbox import Returned
from lawtrace.runs.tasks import Task
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import FrozenModel
from lawtrace.schemas.task_rows import PublishedCase

MEASURED = {"BankManager": 2.6, "SmartLock": 4.4, "Teladoc": 4.0}
"""Median milliseconds of a program in the original, by the object that its programs call (on a similar machine)."""

GRAMMAR = r"""
    ?start: implication
    ?implication: disjunction ["IMPLIES" implication]
    ?disjunction: conjunction ("OR" conjunction)*
    ?conjunction: until ("AND" until)*
    ?until: unary ["UNTIL" unary]
    ?unary: "NOT" unary -> negation
          | "ALWAYS" unary -> always
          | "EVENTUALLY" unary -> eventually
          | "(" implication ")"
          | NAME -> atom
    NAME: /(?!(IMPLIES|OR|AND|UNTIL|NOT|ALWAYS|EVENTUALLY)\b)[A-Za-z_]\w*/
    %ignore /\s+/
"""


class Node(FrozenModel):
    """A formula; ``op`` is its operator."""

    op: Literal["atom", "not", "and", "or", "implies", "until", "always", "eventually"]
    name: str = ""
    parts: tuple["Node", ...] = ()

    def holds(self, trace: Sequence[str]) -> bool:
        """Truth on a finite trace, by recursion over formula and suffixes."""
        match self.op:
            case "atom":
                return bool(trace) and trace[0] == self.name
            case "not":
                return not self.parts[0].holds(trace)
            case "and":
                return all(part.holds(trace) for part in self.parts)
            case "or":
                return any(part.holds(trace) for part in self.parts)
            case "implies":
                return not self.parts[0].holds(trace) or self.parts[1].holds(trace)
            case "until":
                if not trace:
                    return False
                if self.parts[1].holds(trace):
                    return True
                return self.parts[0].holds(trace) and self.holds(trace[1:])
            case "always":
                return not trace or (self.parts[0].holds(trace) and self.holds(trace[1:]))
            case "eventually":
                return bool(trace) and (self.parts[0].holds(trace) or self.holds(trace[1:]))


class _Build(Transformer[Token, Node]):
    def atom(self, parts: list[Any]) -> Node:
        return Node(op="atom", name=str(parts[0]))

    def negation(self, parts: list[Any]) -> Node:
        return Node(op="not", parts=(parts[0],))

    def always(self, parts: list[Any]) -> Node:
        return Node(op="always", parts=(parts[0],))

    def eventually(self, parts: list[Any]) -> Node:
        return Node(op="eventually", parts=(parts[0],))

    def implication(self, parts: list[Any]) -> Node:
        return Node(op="implies", parts=tuple(parts)) if parts[-1] is not None else parts[0]

    def until(self, parts: list[Any]) -> Node:
        return Node(op="until", parts=tuple(parts)) if parts[-1] is not None else parts[0]

    def disjunction(self, parts: list[Any]) -> Node:
        return Node(op="or", parts=tuple(parts))

    def conjunction(self, parts: list[Any]) -> Node:
        return Node(op="and", parts=tuple(parts))


PARSER = Lark(GRAMMAR, parser="lalr", maybe_placeholders=True)


def parse(rule: str) -> Node:
    return _Build().transform(PARSER.parse(rule))  # pyright: ignore[reportUnknownMemberType]


def evaluate(task: Task, case: PublishedCase, program: str) -> bool:
    """Whether the program passes."""
    expected: dict[str, Any] = copy.deepcopy(case.final_state)
    audit: dict[str, Any] = expected.pop("audit_logs", None) or {}
    mock = MOCKS[case.object_name](case.initial_state, case.final_state)
    names: dict[str, Any] = {"__name__": "__main__", **copy.deepcopy(case.variables), case.object_name: _Tools(mock)}
    executed = True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(program, names)
    except BaseException:  # noqa: BLE001 - SystemExit counted as a crash too
        traceback.format_exc()
        executed = False
    trace = [event.tool for event in mock.events]
    if not executed or not trace:
        trace = re.findall(rf"\b{case.object_name}\.(\w+)\(", program)
    actual = copy.deepcopy(mock.state)
    logs: dict[str, Any] = actual.pop("audit_logs", None) or {}
    wanted, reached = json.dumps(expected, sort_keys=True), json.dumps(actual, sort_keys=True)
    if wanted != reached:
        before, after = (json.dumps(state, indent=2, sort_keys=True).splitlines() for state in (expected, actual))
        "\n".join(difflib.unified_diff(before, after))
    violations = [rule.formula for rule in task.rules if not parse(rule.formula).holds(trace)]
    if executed and audit:
        found = {
            key: set(map(str, entry["events"])) if isinstance(entry["events"], list) else set[str]()
            for key, entry in logs.items()
        }
        violations += [
            key
            for key, entry in audit.items()
            if not any(set(entry["events"]) <= got for got in ([found[key]] if key in found else found.values()))
        ]
    return executed and wanted == reached and not violations


SIGNATURES = {kind: kind.signatures() for kind in MOCKS.values()}


class _Tools:
    """The mock as an object in the same process: any attribute is a tool."""

    def __init__(self, mock: PublishedMock) -> None:
        self._mock = mock

    def __getattr__(self, tool: str) -> Callable[..., Json]:
        names = SIGNATURES[type(self._mock)][tool]

        def call(*positional: Json, **arguments: Json) -> Json:
            reply = self._mock.answer(tool, dict(zip(names, positional, strict=False)) | arguments)
            if isinstance(reply, Returned):
                return reply.value
            raise RuntimeError(reply.message)

        return call
