"""Refusals that never happen, tools that always refuse, rows that are never listed: asked of Z3, over every state.

The question is asked over more states than can ever be: each table has the rows of an initial state and a few more,
every one of which may be there or not, with fields and arguments of any value. So *never* is proved, for tables of that
size and texts out of a vocabulary (those of the initial state, of the terms, and strangers). What is possible there
may still be out of reach; nothing is claimed of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random

import z3

from lawtrace.environments.runtime.simulation import compile_tool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.terms import EvaluationScope, Term, arguments_of
from lawtrace.environments.spec.terms.expressions import Constant
from lawtrace.environments.spec.tools import Parameter, Tool
from lawtrace.environments.spec.types import Choice, Pattern, Value, ValueType, WrongFormat, WrongType, is_text_type
from lawtrace.solver.lint.findings import DeclarationIssue
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic

REFUSAL_RLIMIT = 2_000_000
"""Z3's resource units for one question; what is not decided within them is no flaw."""
SPARE_ROWS = 2
LIST_LENGTHS = (0, 1, 2)
STRANGERS = ("", "stranger")


def check_refusals(environment: Environment) -> Iterator[DeclarationIssue]:
    """Exceptions that cannot be raised, failures that cannot happen, and tools of which no call completes."""
    for tool in environment.tools.values():
        yield from _conditions(_OpenState(environment, tool))
        yield from _unused_format_exceptions(tool)


def _conditions(open_state: "_OpenState") -> Iterator[DeclarationIssue]:
    tool, logic = open_state.tool, open_state.logic
    compiled = compile_tool(tool, logic)
    refusals = [
        *((f"exception {raised.exception}", raised, condition) for raised, condition in compiled.raises),
        *(("failure", failure, condition) for failure, condition in compiled.fails),
    ]
    for name, refusal, condition in refusals:
        place = f"tool {tool.name!r}, {name}: {refusal.description}"
        try:
            truths = [condition(scope) for scope in open_state.scopes(arguments_of(_when(refusal)))]
        except TypeError as error:
            yield DeclarationIssue(
                kind="refusal",
                place=place,
                what=f"the solver cannot read its condition: {error}",
                remedy="keep to what terms offer; `value_of` wants an `otherwise` of the field's own kind",
            )
            return
        if open_state.excludes(truths):
            yield DeclarationIssue(
                kind="refusal",
                place=place,
                what="it never happens: the condition holds of no call in any state",
                remedy="correct the condition, or take it out: it is documented, and nobody will ever see it",
                proof=open_state.proof(),
            )
        if open_state.excludes([logic.negate(truth) for truth in truths]):
            yield DeclarationIssue(
                kind="refusal",
                place=place,
                what="it always happens: no call can meet the precondition, so none completes",
                remedy="correct the condition: it says when the tool refuses, not when it works",
                proof=open_state.proof(),
            )
            return
    completing = [
        logic.negate(logic.any([condition(scope) for _, _, condition in refusals]))
        for scope in open_state.scopes({parameter.name for parameter in tool.parameters})
    ]
    if open_state.excludes(completing):
        yield DeclarationIssue(
            kind="refusal",
            place=f"tool {tool.name!r}",
            what="no call completes: whatever the call and the state, one of its refusals happens",
            remedy="loosen the conditions, which leave nothing between them",
            proof=open_state.proof(),
        )


def _when(refusal: object) -> Term:
    when = getattr(refusal, "when", None)
    assert isinstance(when, Term)
    return when


def _unused_format_exceptions(tool: Tool) -> Iterator[DeclarationIssue]:
    """Exceptions without a condition are for arguments in a wrong format: is there one that can be?"""
    raised_by_format = {parameter.malformed for parameter in tool.parameters if _has_format(parameter.kind)}
    for raised in tool.raises:
        if raised.when is None and raised.exception not in raised_by_format:
            yield DeclarationIssue(
                kind="refusal",
                place=f"tool {tool.name!r}, exception {raised.exception}: {raised.description}",
                what="it never happens: it has no condition, and no parameter has a format that could be wrong",
                remedy="give it a condition (when=...), name it as the parameter's `malformed`, or take it out",
            )


def _has_format(kind: ValueType) -> bool:
    schema = kind.schema()
    items = schema.get("items")
    inner = items if isinstance(items, dict) else schema
    return bool({"pattern", "enum", "format"} & set(inner)) or inner["type"] in {"number", "integer"}


@dataclass
class _OpenState:
    """A state in which nothing is settled but the number of rows, and calls in which nothing is but their shape."""

    environment: Environment
    tool: Tool
    logic: SymbolicLogic = field(default_factory=SymbolicLogic)
    solver: z3.Solver = field(default_factory=z3.SimpleSolver)

    def __post_init__(self) -> None:
        self.solver.set("rlimit", REFUSAL_RLIMIT)
        self._initial = self.environment.populate(Random(0))
        self._vocabulary = tuple(dict.fromkeys([*_texts_of(self._initial), *_constants_of(self.tool), *STRANGERS]))
        self._names = 0
        self._state = State(
            {
                table: tuple(self._row(entity, index) for index in range(self._count(table)))
                for table, entity in self.environment.entities.items()
            }
        )

    def scopes(self, names: set[str]) -> Iterator[EvaluationScope]:
        """A call for each shape: which optional arguments are given, and how long lists are, as far as it matters."""
        shapes = [self._shapes(parameter, parameter.name in names) for parameter in self.tool.parameters]
        for shape in product(*shapes):
            arguments = {
                parameter.name: parameter.default if length is None else self._value(parameter.kind, length)
                for parameter, length in zip(self.tool.parameters, shape, strict=True)
            }
            yield EvaluationScope(self._state, arguments, {})

    def excludes(self, truths: Sequence[Value]) -> bool:
        """Whether it is proved that none of them can be."""
        any_of_them = self.logic.any(truths)
        if not z3.is_expr(any_of_them):
            return not any_of_them
        return self.solver.check(any_of_them) == z3.unsat

    def proof(self) -> str:
        rows = ", ".join(f"{self._count(table)} {table}" for table in self.environment.entities)
        return (
            f"Proved with Z3 for every state of up to {rows}, whatever their fields, and all arguments, with texts out "
            f"of {len(self._vocabulary)}."
        )

    def _count(self, table: str) -> int:
        return len(self._initial.tables[table]) + SPARE_ROWS

    def _shapes(self, parameter: Parameter, matters: bool) -> tuple[int | None, ...]:
        """Lengths, 0 standing for *given* where there is none; None for *not given*."""
        lengths = LIST_LENGTHS if parameter.kind.schema()["type"] == "array" else (0,)
        if not matters:
            return (None,) if not parameter.required else lengths[-1:]
        return lengths if parameter.required else (None, *lengths)

    def _row(self, entity: Entity, index: int) -> Row:
        values = {
            name: self._key(entity, index)
            if name == entity.key
            # Absence is never open: of every two rows, one lacks what it may lack.
            else (None if declared.optional and index % 2 else self._value(declared.kind, 1))
            for name, declared in entity.fields.items()
        }
        self._names += 1
        return Row(values, z3.Bool(f"present {self._names}"))

    def _key(self, entity: Entity, index: int) -> Value:
        """Keys stay as they are: what matters is that they differ."""
        rows = self._initial.tables[entity.table]
        return rows[index].values[entity.key] if index < len(rows) else f"{entity.table} {index + 1}"

    def _value(self, kind: ValueType, length: int) -> Value:
        schema = kind.schema()
        self._names += 1
        name = f"open {self._names}"
        match schema["type"]:
            case "array":
                return tuple(
                    self.logic.open_text(f"{name} {item}", self.solver, self._words(kind)) for item in range(length)
                )
            case "boolean":
                return z3.Bool(name)
            case "string" if is_text_type(kind):
                return self.logic.open_text(name, self.solver, self._words(kind))
            case _:
                return z3.Int(name)

    def _words(self, kind: ValueType) -> Sequence[str]:
        """Every word of the vocabulary that is of the kind; keys of spare rows count as of any."""
        if isinstance(kind, Choice):
            return kind.options
        spare = [f"{table} {self._count(table)}" for table in self.environment.entities]
        fitting = [word for word in self._vocabulary if not isinstance(kind, Pattern) or _fits(kind, word)]
        return [*fitting, *spare] or STRANGERS


def _fits(kind: ValueType, word: str) -> bool:
    try:
        kind.decode(word)
    except (WrongFormat, WrongType):
        return False
    return True


def _texts_of(state: State) -> Iterator[str]:
    for rows in state.tables.values():
        for row in rows:
            yield from (value for value in row.values.values() if isinstance(value, str))


def _constants_of(tool: Tool) -> Iterator[str]:
    """The texts that the refusals compare with."""
    waiting = [refusal.when for refusal in (*tool.raises, *tool.fails) if refusal.when is not None]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Constant) and isinstance(term.value, str):
            yield term.value
        waiting.extend(term.parts())
