"""Operations on rule sets: merge by implication, restrict to a tool subset.

One rule implies another if no trace keeps the first and breaks the second (an empty product of automata). For a rule on
time, several objects or sums its skeleton stands, which it implies (`lawtrace.solver.logic.skeleton`). What is not
proved so is not merged: that such a rule or a quantified one is implied is known only where both are written the same.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import InputError
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import equivalent, product
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.skeleton import skeleton
from lawtrace.solver.logic.terms import FieldPath
from lawtrace.solver.rules import MOST_LETTERS, Rule


def implies(one: Rule, other: Rule) -> bool:
    """Whether it is proved that every trace that keeps the first rule keeps the second."""
    if one.parsed == other.parsed:
        return True
    if not other.has_table or (isinstance(one.parsed, s.ForAll) and s.is_untimed(one.parsed)):
        return False
    outline = skeleton(one.parsed, _not_required)
    if not _have_automata(outline, other.parsed):
        return False
    weaker = compile_formula(outline)
    return product(weaker, other.automaton, lambda left, right: left and not right).is_empty


def _have_automata(*formulas: s.Formula) -> bool:
    """Whether automata of these formulas can be compared within seconds."""
    return len(Alphabet.of(formulas).letters) <= MOST_LETTERS


def _always_true(formula: s.Formula) -> bool:
    """Whether it is proved that every trace satisfies the formula."""
    if s.is_untimed(formula):
        return equivalent(compile_formula(formula), compile_formula(s.Top()))
    return compile_formula(skeleton(s.Not(s.body_of(formula)), _not_required)).is_empty


def _not_required(_tool: str, _field: FieldPath) -> bool:
    return False


def merge_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The distinct rules in order, each with the provisions of all that were merged into it.

    Of equivalent rules the first stays. Of two rules of which one implies the other, the stronger stays.
    """
    kept = {rule.id: rule for rule in rules}
    for one, other in combinations(tuple(kept.values()), 2):
        if one.id in kept and other.id in kept:
            if implies(one, other):
                kept[one.id] = with_provisions_of(kept[one.id], [kept.pop(other.id)])
            elif implies(other, one):
                kept[other.id] = with_provisions_of(kept[other.id], [kept.pop(one.id)])
    return tuple(kept.values())


def with_provisions_of(rule: Rule, others: Sequence[Rule]) -> Rule:
    """The rule with the provisions of the others added."""
    provisions = dict.fromkeys([*rule.provisions, *(p for other in others for p in other.provisions)])
    return Rule.model_validate({**rule.model_dump(), "provisions": tuple(provisions)})


def check_tool_subset(environment: Environment, tools: Collection[str]) -> None:
    """Raises InputError for an unknown tool, or if no ordinary tool is left."""
    for name in tools:
        if name not in environment.tools:
            raise InputError(f"tools: {environment.name!r} has no {name!r}; it has {', '.join(environment.tools)}")
    if not set(tools) - environment.compliance_tools:
        raise InputError("tools: only compliance tools are named, which are always offered; name ordinary tools")


def restrict_rules(rules: Iterable[Rule], tools: Collection[str]) -> tuple[Rule, ...]:
    """The rules with calls of other tools taken as impossible, without rules that then are always kept.

    ``G((PayBill | TransferFunds) -> F RecordAuditEvent)`` without PayBill is about transfers alone; a rule about
    PayBill alone is left out.
    """
    kept: list[Rule] = []
    for rule in rules:
        formula = _restrict_formula(rule.parsed, tools)
        if formula == rule.parsed:
            kept.append(rule)
        elif not _always_true(formula):
            # Made anew: a copy would keep what the rule has computed of its old formula.
            kept.append(Rule.model_validate({**rule.model_dump(), "formula": str(formula)}))
    return tuple(kept)


def _restrict_formula(formula: s.Formula, tools: Collection[str]) -> s.Formula:
    """The formula with the atoms of missing tools false."""
    if isinstance(formula, s.Atom):
        return formula if formula.tool in tools else s.Bottom()
    rest = s.map_children(formula, lambda part: _restrict_formula(part, tools))
    if isinstance(rest, s.Or):
        possible = [part for part in rest.operands if part != s.Bottom()]
        return s.Or(*possible) if len(possible) > 1 else possible[0] if possible else s.Bottom()
    return rest
