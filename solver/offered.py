"""Rules over a restricted set of tools: what a rule still demands where some of its calls cannot happen."""

from collections.abc import Collection, Iterable

from lawtrace.environments.declaration import Environment
from lawtrace.environments.errors import InputError
from lawtrace.solver.ltlf import compile_formula, equivalent
from lawtrace.solver.ltlf.syntax import (
    And,
    Atom,
    Bottom,
    ForAll,
    Formula,
    Iff,
    Implies,
    Or,
    Release,
    Since,
    Top,
    Until,
    WeakUntil,
    atoms_of,
)
from lawtrace.solver.rules import Rule


def check_offer(environment: Environment, tools: Collection[str]) -> None:
    """Raises InputError for a tool that there is not, or an offer without a single business tool."""
    for name in tools:
        if name not in environment.tools:
            raise InputError(f"tools: {environment.name!r} has no {name!r}; it has {', '.join(environment.tools)}")
    if not set(tools) - environment.compliance_tools:
        raise InputError("tools: nothing could be asked for; name business tools (compliance tools are offered anyway)")


def rules_over(rules: Iterable[Rule], tools: Collection[str]) -> tuple[Rule, ...]:
    """The rules with calls of other tools taken as impossible, without those that then demand nothing.

    ``G((PayBill | TransferFunds) -> F RecordAuditEvent)`` without PayBill speaks of transfers alone; a rule about
    PayBill alone is left out.
    """
    kept: list[Rule] = []
    everything = compile_formula(Top())
    for rule in rules:
        formula = _without(rule.parsed, tools)
        if formula == rule.parsed:
            kept.append(rule)
        elif not equivalent(compile_formula(formula), everything):
            # Made anew: a copy would keep what the rule has computed of its old formula.
            kept.append(Rule.model_validate({**rule.model_dump(), "formula": str(formula)}))
    return tuple(kept)


def _without(formula: Formula, tools: Collection[str]) -> Formula:
    match formula:
        case Top() | Bottom():
            return formula
        case Atom(tool):
            return formula if tool in tools else Bottom()
        case ForAll(variable, body):
            rest = _without(body, tools)
            return ForAll(variable, rest) if any(atom.variables for atom in atoms_of([rest])) else rest
        case And(operands):
            return And(*(_without(operand, tools) for operand in operands))
        case Or(operands):
            possible = [rest for operand in operands if (rest := _without(operand, tools)) != Bottom()]
            return Or(*possible) if len(possible) > 1 else possible[0] if possible else Bottom()
        case Implies(left, right) | Iff(left, right) | Until(left, right) | Release(left, right):
            return type(formula)(_without(left, tools), _without(right, tools))
        case WeakUntil(left, right) | Since(left, right):
            return type(formula)(_without(left, tools), _without(right, tools))
        case _:
            return type(formula)(_without(formula.operand, tools))
