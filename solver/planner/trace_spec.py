"""Trace specifications: all requirements of a search, as automata.

    rules with a table               one automaton each
    rules on time, objects, sums     the automaton of their skeleton (`lawtrace.solver.logic.skeleton`)
    trace mode ``tasks``             something changes; each compliance tool at most once, so deleting a call is caught
    trace mode ``coverage``          everything legal is allowed
    tool required                    F tool
    tool forbidden                   G !tool
    one of the target pairs          F((a & X b) | (c & X d) | ...)
    share of compliance steps        an automaton that counts them

So the product needs no other mechanism, and the smallest conflicting set is found as for rules alone
(`lawtrace.solver.planner.synthesis`). What a skeleton leaves out is checked by monitors and solved by Z3 when a trace
gets its arguments (`lawtrace.solver.planner.instantiation`). The two trace modes have different ceilings of
adjacent-tool coverage, so a coverage figure always names its trace mode. The distance between traces is not a property
of a single trace; the sequence search enforces it (`lawtrace.solver.planner.tool_sequences`).
"""

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import RowsResult
from lawtrace.environments.spec.types import ListOf
from lawtrace.schemas.choices import TaskMode
from lawtrace.schemas.errors import InputError, SearchError
from lawtrace.schemas.trace_options import (
    ANY_DIFFICULTY,
    NO_CONSTRAINTS,
    Difficulty,
    ToolPair,
    TraceConstraints,
    TraceMode,
)
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.automata.automaton import Automaton, build_automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.skeleton import CallTimes, IsRequired, skeleton
from lawtrace.solver.logic.syntax import Atom, ForAll, Formula, is_untimed
from lawtrace.solver.logic.terms import RESULT, FieldPath
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.products.product_search import Component, keeping_component


def adjacent_pairs(tools: Sequence[str]) -> set[ToolPair]:
    """The ordered pairs of adjacent tools (P Eq. 1)."""
    return set(pairwise(tools))


def mode_formulas(environment: Environment, mode: TraceMode) -> Mapping[str, str]:
    """The formulas of a trace mode over the tools of the environment, each under its description."""
    if mode == "coverage":
        return {}
    changes = "F(" + " | ".join(sorted(environment.changing_tools)) + ")"
    once = {f"{tool} at most once": f"G({tool} -> WX G !{tool})" for tool in sorted(environment.compliance_tools)}
    return {"something changes": changes, **once}


def check_constraints(constraints: TraceConstraints, environment: Environment) -> None:
    """Raises InputError for an unknown tool, with the nearest known one."""
    pairs = (tool for pair in constraints.pairs for tool in pair)
    for name in (*constraints.require, *constraints.forbid, *pairs):
        if name not in environment.tools:
            nearest = difflib.get_close_matches(name, environment.tools, 1)
            meant = f"did you mean {nearest[0]}?" if nearest else f"it has {', '.join(environment.tools)}"
            raise InputError(f"environment {environment.name!r} has no tool {name!r}; {meant}")


def check_difficulty(difficulty: Difficulty, mode: TaskMode) -> None:
    """Raises InputError if it bounds other traces than contrast pairs."""
    if difficulty != ANY_DIFFICULTY and mode != "contrasts":
        raise InputError(f"tasks.difficulty is for contrast pairs, and the trace mode is {mode!r}; leave it out")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A property of every trace.

    Attributes:
        name: in errors and certificates.
        automaton: accepts every trace that has the property, and for a rule without a table more.
        component: the same for proofs. Of a rule with one variable it follows one value.
        exact: the property itself.
    """

    name: str
    automaton: Automaton
    component: Component
    exact: Automaton | FirstOrderRule


@dataclass(frozen=True, slots=True)
class TraceSpec:
    """The input of a search: an environment, its rules, a trace mode and constraints."""

    environment: Environment
    rules: tuple[Rule, ...]
    mode: TraceMode
    constraints: TraceConstraints = NO_CONSTRAINTS

    def requirements(self, length: int) -> tuple[Requirement, ...]:
        """Rules, trace mode and constraints as automata, for traces of ``length`` calls."""
        rules = [_rule_requirement(self.environment, rule, length) for rule in self.rules]
        mode = [
            _formula_requirement(f"trace mode {self.mode}: {words}", formula)
            for words, formula in mode_formulas(self.environment, self.mode).items()
        ]
        return (*rules, *mode, *self._constraint_requirements(length))

    @property
    def monitored_rules(self) -> tuple[Rule, ...]:
        """The rules without a table, whose automata are those of skeletons."""
        return tuple(rule for rule in self.rules if not rule.has_table)

    def automata(self, length: int) -> list[Automaton]:
        return [requirement.automaton for requirement in self.requirements(length)]

    def _constraint_requirements(self, length: int) -> list[Requirement]:
        constraints = self.constraints
        check_constraints(constraints, self.environment)
        demands = [_formula_requirement(f"required tool {tool}", f"F {tool}") for tool in constraints.require]
        demands += [_formula_requirement(f"forbidden tool {tool}", f"G !{tool}") for tool in constraints.forbid]
        if constraints.pairs:
            named = ", ".join(f"{first} -> {second}" for first, second in constraints.pairs)
            some = " | ".join(f"({first} & X {second})" for first, second in constraints.pairs)
            demands.append(_formula_requirement(f"one of the target pairs ({named})", f"F({some})"))
        if constraints.compliance is not None:
            demands.append(_share_requirement(self.environment, constraints.compliance, length))
        return demands


def rule_skeleton(environment: Environment, rule: Rule, length: int) -> Formula:
    """The rule, or what it says of the tools of ``length`` calls if it has no table."""
    durations = {name: tool.duration for name, tool in environment.tools.items()}
    times = tuple((name, duration if isinstance(duration, int) else None) for name, duration in durations.items())
    return skeleton(rule.parsed, _field_presence(environment), CallTimes(times, length))


@lru_cache(maxsize=64)
def _field_presence(environment: Environment) -> IsRequired:
    """Whether a completed call of a tool always has a value in a field: one function for each environment."""

    def is_present(tool: str, place: FieldPath) -> bool:
        declared = environment.tools.get(tool)
        if declared is None:
            return False
        match place.path:
            case (first,) if first != RESULT:
                return any(
                    p.name == first and p.required and not isinstance(p.type, ListOf) for p in declared.parameters
                )
            case (first, name) if first == RESULT:
                return any(r.name == name and not isinstance(r, RowsResult) for r in declared.results)
            case _:
                return False

    return is_present


def _rule_requirement(environment: Environment, rule: Rule, length: int) -> Requirement:
    automaton = compile_formula(rule_skeleton(environment, rule, length))
    followed = isinstance(rule.parsed, ForAll) and is_untimed(rule.parsed)
    component = keeping_component(rule.automaton) if followed else Component(automaton)
    return Requirement(f"rule {rule.id}", automaton, component, rule.compiled)


def _requirement(text: str, automaton: Automaton) -> Requirement:
    return Requirement(text, automaton, Component(automaton), automaton)


def _formula_requirement(text: str, formula: str) -> Requirement:
    return _requirement(text, compile_formula(parse(formula)))


def _share_requirement(environment: Environment, band: tuple[float, float], length: int) -> Requirement:
    # Exact decimals: 0.3 of 10 calls are 3.
    least, greatest = (Fraction(str(share)) for share in band)
    low, high = math.ceil(least * length), math.floor(greatest * length)
    text = f"share of compliance steps from {band[0]:g} to {band[1]:g}"
    if low > high:
        raise SearchError(f"{text}: no whole number of {length} calls lies in that range; widen it")
    return _requirement(
        f"{text} ({_count_text(low, high)} of {length} calls)",
        counting_automaton(environment.compliance_tools, low, high),
    )


def _count_text(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def counting_automaton(tools: Iterable[str], low: int, high: int) -> Automaton:
    """Accepts from ``low`` to ``high`` completed calls of the tools, and any number of others."""
    alphabet = Alphabet(tuple(sorted(map(Atom, tools), key=str)))

    def row(seen: int) -> Sequence[int]:
        return [min(seen + 1, high + 1) if letter else seen for letter in alphabet.letters]

    return build_automaton(alphabet, 0, row, lambda seen: low <= seen <= high)


def completed_calls_automaton(environment: Environment, count: int | None = None) -> Automaton:
    """Accepts at least one call, or exactly ``count`` calls, all completed: the traces that a search makes."""
    alphabet = Alphabet(tuple(sorted(map(Atom, environment.tools), key=str)))
    enough = 1 if count is None else count
    stays = enough if count is None else enough + 1

    def row(seen: int) -> Sequence[int]:
        return [min(seen + 1, stays) if letter and seen >= 0 else -1 for letter in alphabet.letters]

    return build_automaton(alphabet, 0, row, lambda seen: seen == enough)
