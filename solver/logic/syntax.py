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

Every step i has a time T(i), in whole seconds, and times do not decrease. F, G, U, R, W, O, H, S, X, WX and Y take a
window (`lawtrace.solver.logic.windows`), which restricts the step that they look at: with w for it,

    t, i |= F[w] f         iff  for some j in [i, n):  T(i), T(j) |= w  and  t, j |= f             (U, X likewise)
    t, i |= G[w] f         iff  for all  j in [i, n):  if T(i), T(j) |= w  then  t, j |= f         (R, WX likewise)
    t, i |= f W[w] g       iff  t, i |= f U[w] g  or  t, j |= f for all j in [i, n) with T(j) not after w
    t, i |= O[w] f         iff  for some j in [0, i], j < n:  T(j), T(i) |= w  and  t, j |= f      (S, Y likewise)
    t, i |= H[w] f         iff  for all  j in [0, i], j < n:  if T(j), T(i) |= w  then  t, j |= f

A future operator inside a past operator is refused, because its truth could change later. Past formulas may occur
anywhere inside future ones.

Rules about *the same* objects have quantifiers. The steps of their traces are sets of events (of one event each, where
tools are called one by one), since a set of atoms does not contain the values of a call. An atom `Tool(c)` is true at i
iff some event of the step is a completed call of the tool that satisfies c; for `attempted(Tool(c))` it need not be
completed.

    t, i |= forall x: f    iff  t, i |= f[v/x] for every value v that occurs for x in t
    t, i |= exists x: f    iff  t, i |= f[v/x] for some  value v that occurs for x in t
    t, i |= a < b          iff  the values of the two terms at i compare so (all comparisons of conditions)

where f[v/x] is f with v substituted for x, and v occurs for x in t iff for some event of t and some atom of f with the
event's tool, a comparison with x in the atom's condition is true of v (`field == x`: the field has the value v; `x in
field`: v is an element of it), or some equation `x == term` of f gives it. The event must have completed, unless the
atom says `attempted`. Values are strings, numbers and booleans. The terms of formulas are variables, literals, `now`
(the time T(i)), `position` (the index i), arithmetic, functions, and aggregates over the past:

    count(A [w])                    how many events of steps j <= i with T(j), T(i) |= w satisfy the atom A
    sum(x of A [w])                 the sum of the term x over these events (min, max, avg, last likewise; of events in
                                    which x has no value, none counts); `count(distinct x of A [w])` counts values
    sum(x of A [w] since B)         the same over the steps after the last one, up to i, at which the atom B is true
    sum(x for y, z: f)              the sum of x over the different values of y, z with which the past formula f is true
                                    at i; `count(for y, z: f)` counts them

Without events, a count and a sum are 0, and the other aggregates have no value.

A quantified formula is *safe* if the events decide which values have to be tried (`lawtrace.solver.logic.safety`); then
the values that occur are all that matter. A formula that is not safe is refused, with one exception: `forall x: f`
around a formula without windows, other quantifiers, comparisons and aggregates, in which x occurs as `field == x` and
`x in field`. It is evaluated from the beginning of the trace for every value that occurs, not from the value's first
occurrence; before that, every comparison with it is false. So all values that have not occurred yet are in the same
state, and each starts from there (`lawtrace.solver.monitoring.instances`).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Final, Literal

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.solver.logic import terms
from lawtrace.solver.logic.conditions import (
    Comparison,
    Condition,
    condition_leaves,
    condition_parts,
    condition_variables,
    equation,
)
from lawtrace.solver.logic.windows import ALWAYS_OPEN, Window


class _Node:
    """Spellings of an operator, the preferred one first, and its precedence level, for printing.

    Levels: 0 quantifiers, 1 implication and equivalence, 2 or, 3 and, 4 the binary temporal operators, 5 unary,
    6 leaves. A node keeps its hash, since formulas are keys of many caches.
    """

    __slots__ = ("_hash",)
    _hash: int
    __match_args__: ClassVar[tuple[str, ...]] = ()
    spellings: ClassVar[tuple[str, ...]]
    level: ClassVar[int]

    def __init_subclass__(cls) -> None:
        cls.__hash__ = _Node.__hash__  # set before the decorator of a dataclass would write another one

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash((type(self), *(getattr(self, name) for name in type(self).__match_args__)))
            object.__setattr__(self, "_hash", value)
            return value

    @property
    def _sign(self) -> str:
        """The operator with its window, if it has one."""
        window = getattr(self, "window", ALWAYS_OPEN)
        return self.spellings[0] if window == ALWAYS_OPEN else f"{self.spellings[0]}{window}"


@dataclass(frozen=True, slots=True)
class _Unary(_Node):
    operand: "Formula"
    level: ClassVar[int] = 5

    def __str__(self) -> str:
        sign, text = self._sign, _parenthesised(self.operand, self.level)
        joined = sign == "!" or (text.startswith("(") and sign == self.spellings[0])
        return f"{sign}{text}" if joined else f"{sign} {text}"


@dataclass(frozen=True, slots=True)
class _Temporal(_Unary):
    """A unary operator with a window."""

    window: Window = ALWAYS_OPEN


@dataclass(frozen=True, slots=True)
class _Binary(_Node):
    """Two operands. A chain of such operators needs parentheses."""

    left: "Formula"
    right: "Formula"
    level: ClassVar[int] = 4

    def __str__(self) -> str:
        tighter = self.level + 1
        return f"{_parenthesised(self.left, tighter)} {self._sign} {_parenthesised(self.right, tighter)}"


@dataclass(frozen=True, slots=True)
class _TemporalBinary(_Binary):
    """A binary operator with a window."""

    window: Window = ALWAYS_OPEN


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
class _Past(_Temporal):
    def __post_init__(self) -> None:
        _reject_future(self.operand, self.spellings[0])


@dataclass(frozen=True, slots=True)
class _Constant(_Node):
    level: ClassVar[int] = 6

    def __str__(self) -> str:
        return self.spellings[0]


class Top(_Constant):
    spellings: ClassVar = ("true", "TRUE")


class Bottom(_Constant):
    spellings: ClassVar = ("false", "FALSE")


@dataclass(frozen=True, slots=True)
class Atom(_Node):
    """A call of a tool in this step, as a proposition.

    Attributes:
        tool: name of the tool; written in backquotes if it is an operator or not an identifier.
        condition: condition on the call, None for any call.
        attempted: False for a completed call; True for a call whether or not it completed, written ``attempted(Tool)``.
    """

    tool: str
    condition: Condition | None = None
    attempted: bool = False
    level: ClassVar[int] = 6

    def __post_init__(self) -> None:
        if not self.tool or "`" in self.tool or "\n" in self.tool:
            raise FormulaError(f"{self.tool!r} cannot name a tool in a formula: it is empty or has a backquote in it")

    @property
    def variables(self) -> frozenset[str]:
        """The variables of quantified rules in the condition."""
        return frozenset() if self.condition is None else condition_variables(self.condition)

    @property
    def reads_clock(self) -> bool:
        """Whether the condition compares with ``now``."""
        return self.condition is not None and any(
            isinstance(leaf, terms.Now) for leaf in condition_leaves(self.condition)
        )

    def matches(self, event: Event, bindings: terms.Bindings = terms.NO_BINDINGS) -> bool:
        """Whether the atom is true of the event. `bindings`: the values of variables; without one, none equals it."""
        return (
            event.tool == self.tool
            and (event.completed or (self.attempted and event.outcome != "shielded"))
            and (self.condition is None or self.condition.holds(event, bindings))
        )

    def __str__(self) -> str:
        name = self.tool if is_plain_name(self.tool) else f"`{self.tool}`"
        call = name if self.condition is None else f"{name}({self.condition})"
        return f"{ATTEMPTED}({call})" if self.attempted else call


class Not(_Unary):
    spellings: ClassVar = ("!", "NOT")


class And(_NAry):
    spellings: ClassVar = ("&", "AND")
    level: ClassVar[int] = 3


class Or(_NAry):
    spellings: ClassVar = ("|", "OR")
    level: ClassVar[int] = 2


class Implies(_Binary):
    spellings: ClassVar = ("->", "IMPLIES")
    level: ClassVar[int] = 1


class Iff(_Binary):
    spellings: ClassVar = ("<->", "IFF")
    level: ClassVar[int] = 1


class Next(_Temporal):
    spellings: ClassVar = ("X", "NEXT")


class WeakNext(_Temporal):
    spellings: ClassVar = ("WX", "N", "WEAK_NEXT")


class Eventually(_Temporal):
    spellings: ClassVar = ("F", "EVENTUALLY")


class Always(_Temporal):
    spellings: ClassVar = ("G", "ALWAYS")


class Until(_TemporalBinary):
    spellings: ClassVar = ("U", "UNTIL")


class Release(_TemporalBinary):
    spellings: ClassVar = ("R", "RELEASE")


class WeakUntil(_TemporalBinary):
    spellings: ClassVar = ("W", "WEAK_UNTIL")


class Yesterday(_Past):
    spellings: ClassVar = ("Y", "YESTERDAY")


class Once(_Past):
    spellings: ClassVar = ("O", "ONCE")


class Historically(_Past):
    spellings: ClassVar = ("H", "HISTORICALLY")


@dataclass(frozen=True, slots=True)
class Since(_TemporalBinary):
    spellings: ClassVar = ("S", "SINCE")

    def __post_init__(self) -> None:
        _reject_future(self.left, self.spellings[0])
        _reject_future(self.right, self.spellings[0])


@dataclass(frozen=True, slots=True)
class _Quantifier(_Node):
    """Variables and the formula in which they are bound. `lawtrace.solver.logic.scoping` makes it from a body in which
    the variables are parsed as fields.
    """

    variables: tuple[str, ...]
    body: "Formula"
    level: ClassVar[int] = 0

    def __post_init__(self) -> None:
        for variable in self.variables:
            terms.BoundVariable(variable)
        if len(set(self.variables)) != len(self.variables):
            raise FormulaError(f"`{', '.join(self.variables)}` names a variable twice")
        if unused := set(self.variables) - free_variables(self.body):
            name = min(unused)
            raise FormulaError(
                f"no condition compares a field with `{name}`: write `Tool(field == {name})` or `Tool({name} in field)`"
            )

    def __str__(self) -> str:
        return f"{self.spellings[0]} {', '.join(self.variables)}: {self.body}"


class ForAll(_Quantifier):
    """``forall x, y: f``."""

    spellings: ClassVar = ("forall", "FORALL")


class Exists(_Quantifier):
    """``exists x, y: f``."""

    spellings: ClassVar = ("exists", "EXISTS")


@dataclass(frozen=True, slots=True)
class Compare(_Node):
    """A comparison of terms without fields: of variables, times, aggregates."""

    comparison: Comparison
    level: ClassVar[int] = 6

    def __str__(self) -> str:
        return str(self.comparison)


AggregateFunction = Literal["count", "sum", "min", "max", "avg", "last"]


@dataclass(frozen=True, slots=True)
class EventAggregate(terms.Computed):
    """``sum(x of A [w] since B)``, see the module docstring.

    Attributes:
        function: what is computed.
        term: of each event; None for a plain count.
        atom: which events.
        window: how long ago they may be.
        since: only events after the last one of these, None for all.
        distinct: whether equal values count once.
    """

    function: AggregateFunction
    term: terms.Term | None
    atom: Atom
    window: Window = ALWAYS_OPEN
    since: Atom | None = None
    distinct: bool = False

    def __str__(self) -> str:
        of = "" if self.term is None else f"{'distinct ' if self.distinct else ''}{self.term} of "
        window = "" if self.window == ALWAYS_OPEN else f" {self.window}"
        since = "" if self.since is None else f" since {self.since}"
        return f"{self.function}({of}{self.atom}{window}{since})"


@dataclass(frozen=True, slots=True)
class RelationAggregate(terms.Computed):
    """``sum(x for y, z: f)``, see the module docstring.

    Attributes:
        function: what is computed; ``last`` has no meaning here.
        term: of each assignment; None for a count.
        variables: the assignments are of these; the other variables of the formula are given.
        formula: about the past only.
    """

    function: AggregateFunction
    term: terms.Term | None
    variables: tuple[str, ...]
    formula: "Formula"

    def __post_init__(self) -> None:
        _reject_future(self.formula, self.function)

    def __str__(self) -> str:
        of = "" if self.term is None else f"{self.term} "
        return f"{self.function}({of}for {', '.join(self.variables)}: {self.formula})"


UnaryOperator = Not | Next | WeakNext | Eventually | Always | Yesterday | Once | Historically
BinaryOperator = Implies | Iff | Until | Release | WeakUntil | Since
Formula = Top | Bottom | Atom | Compare | And | Or | UnaryOperator | BinaryOperator | ForAll | Exists

UNARY: Final[tuple[type[UnaryOperator], ...]] = (
    Not, Next, WeakNext, Eventually, Always, Yesterday, Once, Historically
)  # fmt: skip
BINARY: Final[tuple[type[BinaryOperator], ...]] = (Implies, Iff, Until, Release, WeakUntil, Since)
FUTURE: Final = (Next, WeakNext, Eventually, Always, Until, Release, WeakUntil)
PAST: Final = (Yesterday, Once, Historically, Since)

ATTEMPTED: Final = "attempted"
SAYS: Final = "says"
RESERVED: Final = frozenset(
    {
        ATTEMPTED,
        SAYS,
        *(word for node in (Top, Bottom, And, Or, ForAll, Exists, *UNARY, *BINARY) for word in node.spellings),
    }
)
"""The spellings of all operators. They are whole words: `Fa` is an atom, `F a` is not."""

_TERM_WORDS: Final = frozenset({"now", "position", "count", "sum", "min", "max", "avg", "last"})
"""What begins a term of a formula. A tool of that name is written in backquotes."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _parenthesised(formula: Formula, level: int) -> str:
    """The text of an operand, in parentheses if it binds less tightly than its context."""
    return str(formula) if formula.level >= level else f"({formula})"


def is_plain_name(name: str) -> bool:
    """Whether a formula can name a tool so without backquotes."""
    return bool(_NAME.fullmatch(name)) and name not in RESERVED and name not in _TERM_WORDS


def compared(formula: "Formula") -> tuple[terms.Leaf, ...]:
    """What a comparison of terms is about; nothing for other formulas."""
    if not isinstance(formula, Compare):
        return ()
    return *terms.leaves(formula.comparison.left), *terms.leaves(formula.comparison.right)


def reads_position(formula: "Formula") -> bool:
    """Whether a comparison itself is about the number of the step."""
    return any(isinstance(leaf, terms.Position) for leaf in compared(formula))


def aggregates_of(formula: "Formula") -> tuple[EventAggregate | RelationAggregate, ...]:
    """The aggregates in a comparison itself."""
    return tuple(leaf for leaf in compared(formula) if isinstance(leaf, EventAggregate | RelationAggregate))


def windows_of(formula: Formula) -> tuple[Window, ...]:
    """The windows of a temporal operator, or of the aggregates in a comparison, that have a bound."""
    if isinstance(formula, (*FUTURE, *PAST)):
        found = [formula.window]
    else:
        found = [aggregate.window for aggregate in aggregates_of(formula) if isinstance(aggregate, EventAggregate)]
    return tuple(window for window in found if not window.unlimited)


def children(formula: Formula) -> tuple[Formula, ...]:
    """The direct operands; of a comparison the formulas in its aggregates."""
    if isinstance(formula, _Unary):
        return (formula.operand,)
    if isinstance(formula, _Binary):
        return (formula.left, formula.right)
    if isinstance(formula, _NAry):
        return formula.operands
    if isinstance(formula, _Quantifier):
        return (formula.body,)
    found: list[Formula] = []
    for aggregate in aggregates_of(formula):
        if isinstance(aggregate, RelationAggregate):
            found.append(aggregate.formula)
        else:
            found += [aggregate.atom] if aggregate.since is None else [aggregate.atom, aggregate.since]
    return tuple(found)


def map_children(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """The formula with each direct operand replaced. Quantifiers lose the variables that no longer occur."""
    match formula:
        case Top() | Bottom() | Atom() | Compare():
            return formula
        case And(parts) | Or(parts):
            return type(formula)(*map(change, parts))
        case ForAll(variables, body) | Exists(variables, body):
            changed = change(body)
            left = tuple(name for name in variables if name in free_variables(changed))
            return type(formula)(left, changed) if left else changed
        case Implies() | Iff() | Until() | Release() | WeakUntil() | Since():
            return replace(formula, left=change(formula.left), right=change(formula.right))
        case _:
            return replace(formula, operand=change(formula.operand))


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


def body_of(formula: Formula) -> Formula:
    """The formula without the quantifiers in front."""
    while isinstance(formula, ForAll):
        formula = formula.body
    return formula


def atoms_of(formulas: Iterable[Formula]) -> tuple[Atom, ...]:
    """The atoms of some formulas in the order that automata use: by their text."""
    atoms = {node for formula in formulas for node in subformulas(formula) if isinstance(node, Atom)}
    return tuple(sorted(atoms, key=str))


def bound_variables(formula: Formula) -> frozenset[str]:
    """The variables that a quantifier or an aggregate in the formula binds."""
    binding = [node for part in subformulas(formula) for node in (part, *aggregates_of(part))]
    return frozenset(
        name for node in binding if isinstance(node, ForAll | Exists | RelationAggregate) for name in node.variables
    )


@cache
def free_variables(formula: Formula) -> frozenset[str]:
    """The variables that occur in the formula and are not bound in it."""
    match formula:
        case Atom():
            return formula.variables
        case ForAll(variables, body) | Exists(variables, body):
            return free_variables(body) - frozenset(variables)
        case Compare(comparison):
            return term_variables(comparison.left) | term_variables(comparison.right)
        case _:
            return frozenset[str]().union(*map(free_variables, children(formula)))


def term_variables(term: terms.Term) -> frozenset[str]:
    """The variables that the value of a term depends on."""
    found: set[str] = set()
    for leaf in terms.leaves(term):
        match leaf:
            case terms.BoundVariable(name):
                found.add(name)
            case EventAggregate():
                found |= leaf.atom.variables | (frozenset() if leaf.since is None else leaf.since.variables)
            case RelationAggregate():
                found |= free_variables(leaf.formula) - frozenset(leaf.variables)
            case _:
                pass
    return frozenset(found)


def is_untimed(formula: Formula) -> bool:
    """Whether an automaton decides it: no windows, no comparisons of variables and aggregates, at most one quantifier,
    in front, whose variable is equated with fields only.
    """
    body = formula.body if isinstance(formula, ForAll) else formula
    if isinstance(formula, ForAll) and len(formula.variables) > 1:
        return False
    return all(_is_untimed_node(node) for node in subformulas(body))


def _is_untimed_node(node: Formula) -> bool:
    if isinstance(node, _Temporal | _TemporalBinary):
        return node.window == ALWAYS_OPEN
    if isinstance(node, Atom):
        return node.condition is None or _tracks_variables(node.condition)
    return not isinstance(node, Compare | ForAll | Exists)


def _tracks_variables(condition: Condition) -> bool:
    """Whether the event alone says for which values of variables the condition is true."""
    if isinstance(condition, Comparison):
        return equation(condition) is not None or not condition_variables(condition)
    own = condition_variables(condition) if not condition_parts(condition) else frozenset[str]()
    return not own and all(map(_tracks_variables, condition_parts(condition)))


def is_propositional(formula: Formula) -> bool:
    """Whether the formula is about one step only."""
    return not any(isinstance(node, (*FUTURE, *PAST, ForAll, Exists, Compare)) for node in subformulas(formula))


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
