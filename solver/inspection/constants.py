"""Words that rules compare arguments with, and that no argument can be: such a rule says nothing of what was meant."""

import difflib
from collections.abc import Iterator, Sequence

from lawtrace.environments.declaration import Environment
from lawtrace.environments.kinds import ListOf, WrongFormat, WrongType
from lawtrace.environments.pending import pending_events
from lawtrace.environments.tool import FromTrace, Parameter
from lawtrace.solver.inspection.flaws import Flaw
from lawtrace.solver.ltlf.conditions import Comparison, Condition, Constant, Field, Operand, condition_parts
from lawtrace.solver.ltlf.conditions import ListOf as Literals
from lawtrace.solver.ltlf.syntax import atoms_of
from lawtrace.solver.rules import Rule


def inspect_constants(environment: Environment, rules: Sequence[Rule]) -> Iterator[Flaw]:
    """Each comparison of an argument with a text that the argument never is or holds."""
    for rule in rules:
        for atom in atoms_of([rule.parsed]):
            tool = environment.tools[atom.tool]
            for comparison in _comparisons(atom.condition):
                for field, word in _compared(comparison):
                    parameter = next((p for p in tool.parameters if field.path == (p.name,)), None)
                    if parameter is not None and (why := _never(environment, parameter, word)):
                        yield Flaw(
                            kind="rule",
                            place=f"rule {rule.id!r}",
                            what=f"`{comparison}` is about no call of {tool.name}: {why}",
                            remedy="write a word that the argument can be, or that a tool `emits`",
                        )


def _comparisons(condition: Condition | None) -> Iterator[Comparison]:
    if isinstance(condition, Comparison):
        yield condition
    for part in condition_parts(condition) if condition is not None else ():
        yield from _comparisons(part)


def _compared(comparison: Comparison) -> Iterator[tuple[Field, str]]:
    """The field of an argument and the texts beside it."""
    for one, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(one, Field):
            yield from ((one, word) for word in _texts(other))


def _texts(operand: Operand) -> Iterator[str]:
    constants = operand.items if isinstance(operand, Literals) else (operand,)
    for constant in constants:
        if isinstance(constant, Constant) and isinstance(constant.value, str):
            yield constant.value


def _never(environment: Environment, parameter: Parameter, word: str) -> str | None:
    """Why the argument can neither be the word nor hold it."""
    source, kind = parameter.source, parameter.kind
    if isinstance(source, FromTrace) and source.function is pending_events and word not in environment.event_names:
        nearest = difflib.get_close_matches(word, environment.event_names, 1)
        return f"no tool emits {word!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else "")
    try:
        (kind.items if isinstance(kind, ListOf) else kind).decode(word)
    except (WrongFormat, WrongType) as error:
        return str(error)
    return None
