"""Whether a reader can know what a rule demands: its constants, its tools and its orders.

    for missing in find_ungrounded(environment, regulation, rules):
        print(missing)

The reader is a model under test: it has the provisions (their texts, not the `reading`) and the documentation of the
tools without hints. For each rule, the provisions that it cites and the documentation of the tools that it names are
searched; for constants also the other paragraphs of the same article, or points of the same list.

- *constant*: a number, a span of time, a text, an option or the name of an event that stands in none of them. Numbers
  are compared with the quantities of `lawtrace.solver.lint.quantities`, by what they count: money with money, time with
  time.
- *tool*: a tool of the rule whose documentation is not shown.
- *order*: a demanded order of two tools without a ground (`lawtrace.solver.lint.order_grounds`).

True and false need no ground. What a user's message says is not the reader's choice, so its words need none.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.runtime.documentation import document, document_tool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import RowsResult, ValueResult
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import MONEY, ValueType, scalar_types, type_at
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.lint.demanded_orders import demanded_orders
from lawtrace.solver.lint.order_grounds import order_ground, texts_in
from lawtrace.solver.lint.quantities import Quantity, of_span, quantities
from lawtrace.solver.logic.conditions import Comparison, Condition, condition_parts, operands
from lawtrace.solver.logic.syntax import (
    Atom,
    Compare,
    EventAggregate,
    Formula,
    aggregates_of,
    subformulas,
)
from lawtrace.solver.logic.terms import (
    RESULT,
    Arithmetic,
    FieldPath,
    FunctionCall,
    LiteralList,
    LiteralValue,
    Now,
    SpanLiteral,
    Term,
    leaves,
)
from lawtrace.solver.logic.windows import ALWAYS_OPEN, Window
from lawtrace.solver.masking.sayings import date_spans
from lawtrace.solver.rules import Rule

Part = Literal["constant", "tool", "order"]


@dataclass(frozen=True, slots=True)
class Ungrounded:
    """A part of a rule that no text shown to the reader states.

    Attributes:
        rule: the id.
        part: what kind of part.
        place: where it stands in the formula.
        what: the constant, the tool or the order.
        searched: the citations and tools whose texts were searched.
        decided: False if the rule cites nothing, or a provision that is not there to be searched; nothing is claimed.
    """

    rule: str
    part: Part
    place: str
    what: str
    searched: tuple[str, ...]
    decided: bool = True

    @property
    def sentence(self) -> str:
        missing = "" if self.decided else ", but the provisions that it rests on are not there to be searched"
        match self.part:
            case "constant":
                return f"{self.what} in `{self.place}` stands in no text that a model under test reads{missing}"
            case "tool":
                return f"the documentation of {self.what} is not shown to a model under test"
            case "order":
                return f"no text that a model under test reads gives a ground for `{self.what}`{missing}"

    @property
    def searched_text(self) -> str:
        return f"searched: {', '.join(self.searched) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class _Constant:
    """A constant of a formula.

    Attributes:
        content: a quantity, or a text.
        place: the atom, the comparison or the operator that it stands in.
        near: another value that says the same of whole days or things, as 61 does in `< 61` for *at most 60*.
    """

    content: Quantity | str
    place: str
    near: float | None = None


def find_ungrounded(environment: Environment, regulation: Regulation, rules: Sequence[Rule]) -> tuple[Ungrounded, ...]:
    """The parts of rules that a reader of provisions and documentation cannot know, in the order of the rules."""
    shown = {tool.name: tool for tool in environment.tools.values() if tool.name in _documented(environment)}
    return tuple(part for rule in rules for part in _find(environment, regulation, rule, shown))


def ungrounded_rules(environment: Environment, regulation: Regulation, rules: Sequence[Rule]) -> frozenset[str]:
    """The ids of the rules with such a part."""
    return frozenset(one.rule for one in find_ungrounded(environment, regulation, rules) if one.decided)


def _find(
    environment: Environment, regulation: Regulation, rule: Rule, shown: Mapping[str, Tool]
) -> Iterator[Ungrounded]:
    formula = rule.parsed
    atoms = [node for node in subformulas(formula) if isinstance(node, Atom)]
    named = list(dict.fromkeys(atom.tool for atom in atoms if atom.tool not in SPEAKERS))
    cited = rule.provisions if rule.regulation == regulation.id else ()
    law = [regulation.by_citation[citation].words() for citation in cited if citation in regulation.by_citation]
    decided = 0 < len(law) == len(rule.provisions)
    searched = (*rule.provisions, *named)
    for tool in named:
        if tool not in shown:
            yield Ungrounded(rule.id, "tool", tool, tool, ())
    near = [provision.words() for provision in _siblings(regulation, cited)]
    documented = [_documentation(shown[name]) for name in named if name in shown]
    texts = [*law, *near, environment.summary, *documented]
    stated = [quantity for text in texts for quantity in _quantities(text)]
    stated += _remainders(law + near, documented)
    for constant in dict.fromkeys(_constants(environment, formula)):
        if isinstance(constant.content, str):
            found = any(_says(text, constant.content) for text in texts)
            what = f'"{constant.content}"'
        else:
            found = any(_agrees(constant, quantity) for quantity in stated)
            what = _number(constant.content)
        if not found:
            yield Ungrounded(rule.id, "constant", constant.place, what, searched, decided)
    for order in demanded_orders(formula):
        if order_ground(order, shown, law) is None:
            yield Ungrounded(rule.id, "order", str(formula), str(order), searched, decided)


def _siblings(regulation: Regulation, cited: Sequence[str]) -> Iterator[Provision]:
    """The other paragraphs of the same article, or points of the same list, which a reader of one reads with it."""
    lists = {_parent(citation) for citation in cited if _parent(citation) != citation}
    for provision in regulation.provisions:
        if provision.citation not in cited and _parent(provision.citation) in lists:
            yield provision


def _parent(citation: str) -> str:
    return re.sub(r"\([^()]*\)$", "", citation)


def _remainders(law: Sequence[str], documented: Sequence[str]) -> Iterator[Quantity]:
    """What is left of a time in the law after one that a tool takes."""
    taken = [quantity for text in documented for quantity in _quantities(text) if quantity.is_time]
    for text in law:
        for limit in _quantities(text):
            for used in taken:
                if limit.measure == used.measure and limit.value > used.value:
                    yield Quantity(limit.value - used.value, limit.measure)


def _documented(environment: Environment) -> set[str]:
    tools = document(environment)["tools"]
    return {str(tool["name"]) for tool in tools if isinstance(tool, dict)} if isinstance(tools, list) else set()


@lru_cache(maxsize=512)
def _documentation(tool: Tool) -> str:
    return "\n".join(texts_in(document_tool(tool)))


_quantities = lru_cache(maxsize=2048)(quantities)


def _says(text: str, words: str) -> bool:
    """Whether the text has these words, or names the day that they are the date of."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", words):
        try:
            return bool(date_spans(text, dt.date.fromisoformat(words[:10])))
        except ValueError:
            pass
    spaced = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", words.strip())))
    return re.search(rf"(?<![\w]){spaced}(?![\w])", text, re.IGNORECASE) is not None


def _agrees(constant: _Constant, stated: Quantity) -> bool:
    """Whether a quantity of a text is the one of the rule."""
    wanted = constant.content
    if isinstance(wanted, str):
        return False
    if wanted.measure == "money":
        return stated.value == wanted.value and (stated.measure == "money" or stated.elliptic)
    if not wanted.is_time:
        return stated.measure != "money" and stated.value in (wanted.value, constant.near)
    if not stated.is_time:
        return stated.elliptic and stated.value == wanted.value and wanted.measure != "s"
    if stated.measure == wanted.measure:
        return stated.value in (wanted.value, constant.near)
    if {"business day"} & {wanted.measure} or wanted.measure in ("calendar month", "calendar year"):
        return wanted.measure != "business day" and wanted.seconds() == stated.seconds()
    shortest, longest = stated.seconds()
    values = [wanted.value] if constant.near is None else [wanted.value, constant.near]
    lengths = [Quantity(value, wanted.measure).seconds()[0] for value in values]
    return any(shortest <= length <= longest for length in lengths)


def _number(quantity: Quantity) -> str:
    value = f"{quantity.value:g}"
    return value if quantity.measure in ("count", "money") else f"{value} {quantity.measure}"


# The constants of a formula.


def _constants(environment: Environment, formula: Formula) -> Iterator[_Constant]:
    for node in subformulas(formula):
        window = getattr(node, "window", ALWAYS_OPEN)
        if isinstance(window, Window):
            yield from _window_constants(window, str(node))
        match node:
            case Atom():
                yield from _atom_constants(environment, node)
            case Compare(comparison):
                yield from _comparison_constants(comparison, None, str(node), environment)
                for aggregate in aggregates_of(node):
                    if isinstance(aggregate, EventAggregate):
                        yield from _window_constants(aggregate.window, str(aggregate))
            case _:
                pass


def _window_constants(window: Window, place: str) -> Iterator[_Constant]:
    for bound in (window.lower, window.upper):
        if bound is not None and bound.span.amount:
            yield _Constant(of_span(bound.span), place)


def _atom_constants(environment: Environment, atom: Atom) -> Iterator[_Constant]:
    if atom.condition is not None and atom.tool != "user":
        yield from _condition_constants(environment.tools.get(atom.tool), atom.condition, str(atom), environment)


def _condition_constants(
    tool: Tool | None, condition: Condition, place: str, environment: Environment
) -> Iterator[_Constant]:
    if isinstance(condition, Comparison):
        yield from _comparison_constants(condition, tool, place, environment)
    else:
        for term in operands(condition):
            yield from _term_constants(term, "count", place)
    for part in condition_parts(condition):
        yield from _condition_constants(tool, part, place, environment)


_LATE = {"<": -1, ">=": -1, "<=": 1, ">": 1}
"""For whole days and things: `x < 61` says what `x <= 60` says."""
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _comparison_constants(
    comparison: Comparison, tool: Tool | None, place: str, environment: Environment
) -> Iterator[_Constant]:
    left, right, sign = comparison.left, comparison.right, comparison.operator
    for term, other, operator in ((right, left, sign), (left, right, _MIRRORED.get(sign, sign))):
        measure = _measure(other, tool, environment)
        for constant in _term_constants(term, measure, place):
            step = _LATE.get(operator)
            if (
                step is None
                or isinstance(constant.content, str)
                or constant.content.measure == "money"
                or (constant.content.is_time and constant.content.measure not in ("d", "calendar day"))
            ):
                yield constant
            else:
                yield _Constant(constant.content, place, near=constant.content.value + step)


def _term_constants(term: Term, measure: str, place: str) -> Iterator[_Constant]:
    match term:
        case LiteralValue(str() as content):
            yield _Constant(content, place)
        case LiteralValue(bool()):
            pass
        case LiteralValue(int() | float() as content):
            yield _Constant(_measured(content, measure), place)
        case LiteralList(items):
            for item in items:
                yield from _term_constants(item, measure, place)
        case SpanLiteral(span):
            yield _Constant(of_span(span), place)
        case Arithmetic(one, _, other):
            inner = "s" if any(isinstance(leaf, Now) for leaf in leaves(term)) else measure
            yield from _term_constants(one, inner, place)
            yield from _term_constants(other, inner, place)
        case FunctionCall(_, arguments):
            for argument in arguments:
                yield from _term_constants(argument, "count", place)
        case _:
            pass


def _measured(value: float, measure: str) -> Quantity:
    match measure:
        case "money" | "s":
            return Quantity(value, measure)
        case "days":
            return Quantity(value, "calendar day")
        case "years":
            return Quantity(value, "calendar year")
        case _:
            return Quantity(value, "count")


def _measure(term: Term, tool: Tool | None, environment: Environment) -> str:
    """What a number counts that is compared with the term."""
    match term:
        case FunctionCall("days" | "years" as function, _):
            return function
        case EventAggregate("sum" | "min" | "max" | "avg" | "last", inner, atom) if inner is not None:
            return _measure(inner, environment.tools.get(atom.tool), environment)
        case _:
            found = [leaf for leaf in leaves(term) if isinstance(leaf, FieldPath)]
            return "money" if found and all(_is_money(_type_of(tool, leaf)) for leaf in found) else "count"


def _is_money(value_type: ValueType | None) -> bool:
    """Whether it is an amount, or a list of amounts."""
    return value_type is not None and [*scalar_types(value_type)] == [MONEY]


def _type_of(tool: Tool | None, field: FieldPath) -> ValueType | None:
    """The declared type of an argument, or of a field of the result."""
    if tool is None:
        return None
    if field.path[0] != RESULT:
        declared = next((p.type for p in tool.parameters if p.name == field.path[0]), None)
        return declared and type_at(declared, field.path[1:])
    names = [step for step in field.path[1:] if isinstance(step, str)]
    for result in tool.results:
        if names and result.name == names[0]:
            if isinstance(result, ValueResult):
                return type_at(result.type, field.path[2:])
            if isinstance(result, RowsResult) and len(names) > 1 and names[1] in result.fields:
                return type_at(result.entity.fields[names[1]].type, names[2:])
    return None
