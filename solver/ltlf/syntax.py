"""Syntax and semantics of LTLf (linear temporal logic on finite traces) with past. Formulas are immutable values.

A trace is a sequence of n >= 0 steps; a step is the set of atoms that are true in it. The position i runs over the
steps, 0 <= i < n; on the empty trace (n = 0) it is 0. `t, i |= f` reads *f holds on t at i*, and a formula holds on
a trace iff it holds at 0. Every operator is defined here and nowhere else:

    t, i |= true                    always
    t, i |= false                   never
    t, i |= a              iff  i < n and a in t[i]
    t, i |= !f             iff  not t, i |= f               (&, |, ->, <-> likewise, as in propositional logic)

    t, i |= X f            iff  i + 1 < n  and t, i+1 |= f                                    strong next
    t, i |= WX f           iff  i + 1 >= n or  t, i+1 |= f                                    weak next
    t, i |= F f            iff  for some j in [i, n):  t, j |= f
    t, i |= G f            iff  for all  j in [i, n):  t, j |= f
    t, i |= f U g          iff  for some j in [i, n):  t, j |= g, and t, k |= f for all k in [i, j)
    t, i |= f R g          iff  for all  j in [i, n):  t, j |= g, or  t, k |= f for some k in [i, j)
    t, i |= f W g          iff  t, i |= f U g or t, i |= G f

    t, i |= Y f            iff  i > 0 and t, i-1 |= f                                         yesterday
    t, i |= O f            iff  for some j in [0, i], j < n:  t, j |= f                       once
    t, i |= H f            iff  for all  j in [0, i], j < n:  t, j |= f                       historically
    t, i |= f S g          iff  for some j in [0, i], j < n:  t, j |= g, and t, k |= f for all k in (j, i]

It follows that the empty trace satisfies G, WX, R, W and H, and nothing that needs a witness: no atom, no F, X, U,
Y, O or S. `X true` is false on the last step, and `!X f` equals `WX !f`. (Finite traces: De Giacomo and Vardi, IJCAI
2013. Where tools disagree, on the empty trace, these equations decide.)

A future operator inside a past operator is refused, because its truth could change later. Past formulas may occur
anywhere inside future ones.

A rule about *the same* object has one quantifier, at the front. The steps of its trace are events, since a set of atoms
does not contain the values of a call:

    t |= forall x: f       iff  t, 0 |= f[v/x] for every value v that occurs for x in t

where f[v/x] is f with v substituted for x, and v occurs for x in t iff for some event of t and some atom of f with the
event's tool, a comparison with x in the atom's condition is true of v (`field == x`: the field has the value v; `x in
field`: v is an element of it). The event must have completed, unless the atom says `attempted`. Values are strings,
numbers and booleans. f is evaluated from the beginning of the trace, not from the first occurrence of the value; before
that, every comparison with it is false. So all values that have not occurred yet are in the same state, and each starts
from there (`lawtrace.solver.ltlf.instances`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from lawtrace.environments.errors import FormulaError
from lawtrace.environments.events import Event
from lawtrace.solver.ltlf.conditions import BoundVariable, Condition, Scalar, condition_variables


class _Node:
    """Spellings of an operator, the preferred one first, and its precedence level, for printing.

    Levels: 0 the quantifier, 1 implication and equivalence, 2 or, 3 and, 4 the binary temporal operators, 5 unary,
    6 leaves.
    """

    __slots__ = ()
    spellings: ClassVar[tuple[str, ...]]
    level: ClassVar[int]


@dataclass(frozen=True, slots=True)
class _Unary(_Node):
    operand: "Formula"
    level: ClassVar[int] = 5

    def __str__(self) -> str:
        symbol, text = self.spellings[0], _parenthesised(self.operand, self.level)
        return f"{symbol}{text}" if symbol == "!" or text.startswith("(") else f"{symbol} {text}"


@dataclass(frozen=True, slots=True)
class _Binary(_Node):
    """Two operands. A chain of such operators needs parentheses."""

    left: "Formula"
    right: "Formula"
    level: ClassVar[int] = 4

    def __str__(self) -> str:
        tighter = self.level + 1
        return f"{_parenthesised(self.left, tighter)} {self.spellings[0]} {_parenthesised(self.right, tighter)}"


@dataclass(frozen=True, slots=True, init=False)
class _NAry(_Node):
    """Two or more operands, so that a long conjunction is flat: ``And(a, b, c)``."""

    operands: "tuple[Formula, ...]"

    def __init__(self, *operands: "Formula") -> None:
        if len(operands) < 2:
            raise FormulaError(f"`{self.spellings[0]}` joins two formulas or more, not {len(operands)}")
        object.__setattr__(self, "operands", operands)

    def __str__(self) -> str:
        return f" {self.spellings[0]} ".join(_parenthesised(operand, self.level + 1) for operand in self.operands)


@dataclass(frozen=True, slots=True)
class _Past(_Unary):
    def __post_init__(self) -> None:
        _reject_future(self.operand, self.spellings[0])


@dataclass(frozen=True, slots=True)
class Top(_Node):
    spellings: ClassVar = ("true", "TRUE")
    level: ClassVar[int] = 6

    def __str__(self) -> str:
        return self.spellings[0]


@dataclass(frozen=True, slots=True)
class Bottom(_Node):
    spellings: ClassVar = ("false", "FALSE")
    level: ClassVar[int] = 6

    def __str__(self) -> str:
        return self.spellings[0]


@dataclass(frozen=True, slots=True)
class Atom(_Node):
    """A call of a tool in this step, as a proposition.

    Attributes:
        tool: name of the tool; any identifier that is not an operator.
        condition: condition on the call, None for any call.
        attempted: False for a completed call; True for a call whether or not it completed, written ``attempted(Tool)``.
    """

    tool: str
    condition: Condition | None = None
    attempted: bool = False
    level: ClassVar[int] = 6

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.tool) or self.tool in RESERVED:
            raise FormulaError(f"`{self.tool}` cannot name a tool in a formula: it is an operator or no identifier")

    @property
    def variables(self) -> frozenset[str]:
        """The variables of quantified rules in the condition."""
        return frozenset() if self.condition is None else condition_variables(self.condition)

    def matches(self, event: Event, of: Scalar | None = None) -> bool:
        """Whether the atom is true of the event. `of`: value of the variable, None for one that did not occur."""
        return (
            event.tool == self.tool
            and (self.attempted or event.completed)
            and (self.condition is None or self.condition.holds(event, of))
        )

    def __str__(self) -> str:
        call = self.tool if self.condition is None else f"{self.tool}({self.condition})"
        return f"{ATTEMPTED}({call})" if self.attempted else call


@dataclass(frozen=True, slots=True)
class Not(_Unary):
    spellings: ClassVar = ("!", "NOT")


@dataclass(frozen=True, slots=True, init=False)
class And(_NAry):
    spellings: ClassVar = ("&", "AND")
    level: ClassVar[int] = 3


@dataclass(frozen=True, slots=True, init=False)
class Or(_NAry):
    spellings: ClassVar = ("|", "OR")
    level: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Implies(_Binary):
    spellings: ClassVar = ("->", "IMPLIES")
    level: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Iff(_Binary):
    spellings: ClassVar = ("<->", "IFF")
    level: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Next(_Unary):
    spellings: ClassVar = ("X", "NEXT")


@dataclass(frozen=True, slots=True)
class WeakNext(_Unary):
    spellings: ClassVar = ("WX", "N", "WEAK_NEXT")


@dataclass(frozen=True, slots=True)
class Eventually(_Unary):
    spellings: ClassVar = ("F", "EVENTUALLY")


@dataclass(frozen=True, slots=True)
class Always(_Unary):
    spellings: ClassVar = ("G", "ALWAYS")


@dataclass(frozen=True, slots=True)
class Until(_Binary):
    spellings: ClassVar = ("U", "UNTIL")


@dataclass(frozen=True, slots=True)
class Release(_Binary):
    spellings: ClassVar = ("R", "RELEASE")


@dataclass(frozen=True, slots=True)
class WeakUntil(_Binary):
    spellings: ClassVar = ("W", "WEAK_UNTIL")


@dataclass(frozen=True, slots=True)
class Yesterday(_Past):
    spellings: ClassVar = ("Y", "YESTERDAY")


@dataclass(frozen=True, slots=True)
class Once(_Past):
    spellings: ClassVar = ("O", "ONCE")


@dataclass(frozen=True, slots=True)
class Historically(_Past):
    spellings: ClassVar = ("H", "HISTORICALLY")


@dataclass(frozen=True, slots=True)
class Since(_Binary):
    spellings: ClassVar = ("S", "SINCE")

    def __post_init__(self) -> None:
        _reject_future(self.left, self.spellings[0])
        _reject_future(self.right, self.spellings[0])


@dataclass(frozen=True, slots=True)
class ForAll(_Node):
    """``forall x: f``, a quantified rule around a formula. It is not a formula itself, so it cannot be nested.

    `lawtrace.solver.ltlf.quantified` makes it from a body in which the variable is parsed as a field.
    """

    variable: str
    body: "Formula"
    spellings: ClassVar = ("forall", "FORALL")
    level: ClassVar[int] = 0

    def __post_init__(self) -> None:
        BoundVariable(self.variable)
        named = frozenset[str]().union(*(atom.variables for atom in atoms_of([self.body])))
        if named != frozenset({self.variable}):
            raise FormulaError(
                f"no condition in `{self.body}` compares a field with `{self.variable}`: write for instance "
                f"`Tool(field == {self.variable})` or `Tool({self.variable} in field)`"
            )

    def __str__(self) -> str:
        return f"{self.spellings[0]} {self.variable}: {self.body}"


UnaryOperator = Not | Next | WeakNext | Eventually | Always | Yesterday | Once | Historically
BinaryOperator = Implies | Iff | Until | Release | WeakUntil | Since
Formula = Top | Bottom | Atom | And | Or | UnaryOperator | BinaryOperator
RuleFormula = Formula | ForAll
"""The formula of a rule, plain or quantified."""

UNARY: Final[tuple[type[UnaryOperator], ...]] = (
    Not, Next, WeakNext, Eventually, Always, Yesterday, Once, Historically
)  # fmt: skip
BINARY: Final[tuple[type[BinaryOperator], ...]] = (Implies, Iff, Until, Release, WeakUntil, Since)
FUTURE: Final = (Next, WeakNext, Eventually, Always, Until, Release, WeakUntil)
PAST: Final = (Yesterday, Once, Historically, Since)

ATTEMPTED: Final = "attempted"
RESERVED: Final = frozenset(
    {ATTEMPTED, *(word for node in (Top, Bottom, And, Or, ForAll, *UNARY, *BINARY) for word in node.spellings)}
)
"""The spellings of all operators. They are whole words: `Fa` is an atom, `F a` is not."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _parenthesised(formula: Formula, level: int) -> str:
    """The text of an operand, in parentheses if it binds less tightly than its context."""
    return str(formula) if formula.level >= level else f"({formula})"


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct operands."""
    if isinstance(formula, _Unary):
        return (formula.operand,)
    if isinstance(formula, _Binary):
        return (formula.left, formula.right)
    if isinstance(formula, _NAry):
        return formula.operands
    return ()


def subformulas(formula: Formula) -> tuple[Formula, ...]:
    """Every subformula once, operands first and the formula itself last."""
    found: dict[Formula, None] = {}
    pending: list[tuple[Formula, bool]] = [(formula, False)]
    while pending:
        node, expanded = pending.pop()
        if expanded:
            found[node] = None
        elif node not in found:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(children(node)))
    return tuple(found)


def body_of(formula: RuleFormula) -> Formula:
    """The formula without its quantifier."""
    return formula.body if isinstance(formula, ForAll) else formula


def atoms_of(formulas: Iterable[RuleFormula]) -> tuple[Atom, ...]:
    """The atoms of some formulas in the order that automata use: by their text."""
    atoms = {node for formula in formulas for node in subformulas(body_of(formula)) if isinstance(node, Atom)}
    return tuple(sorted(atoms, key=str))


def is_propositional(formula: Formula) -> bool:
    """Whether the formula is about one step only."""
    return not any(isinstance(node, (*FUTURE, *PAST)) for node in subformulas(formula))


def _reject_future(operand: Formula, symbol: str) -> None:
    """Raise if the operand contains a future operator. Past operators inside it have checked their own operands."""
    pending = [operand]
    while pending:
        node = pending.pop()
        if isinstance(node, FUTURE):
            raise FormulaError(
                f"`{node.spellings[0]}` looks at the future and stands inside `{symbol}`, which looks at the past only"
            )
        if not isinstance(node, PAST):
            pending.extend(children(node))
