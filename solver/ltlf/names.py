"""Does a formula speak of tools, arguments and results that exist? What does not exist would never come true,
and a rule about it would be kept, or broken, for no reason that anybody sees."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from lawtrace.environments.errors import FormulaError
from lawtrace.solver.ltlf.conditions import RESULT, Field, condition_fields
from lawtrace.solver.ltlf.syntax import Formula, atoms_of


def check_names(
    formula: Formula,
    tools: Mapping[str, Collection[str]],
    results: Mapping[str, Collection[str]] | None = None,
) -> None:
    """Raise if the formula names something that is not there.

    Args:
        formula: any formula.
        tools: the names of the parameters of each tool.
        results: the names of the fields of each tool's result; without it, result paths are not checked, nor are
            they for a tool that it leaves out. Steps after the first field are never checked.

    Raises:
        FormulaError: the unknown name, in which atom it stands, and the nearest name that exists.
    """
    for atom in atoms_of([formula]):
        if atom.tool not in tools:
            raise FormulaError(f"unknown tool `{atom.tool}` in `{formula}`{_nearest(atom.tool, tools)}")
        if clash := atom.variables & set(tools[atom.tool]):
            raise FormulaError(
                f"`{min(clash)}` is the variable of `{formula}` and an argument of `{atom.tool}`: "
                "give the variable another name"
            )
        fields = frozenset[Field]() if atom.condition is None else condition_fields(atom.condition)
        for field in sorted(fields, key=str):
            first, *steps = map(str, field.path)
            if first != RESULT and first not in tools[atom.tool]:
                raise FormulaError(
                    f"`{atom.tool}` has no argument `{first}` in `{atom}`{_nearest(first, tools[atom.tool])}"
                )
            if first == RESULT and steps and results is not None and atom.tool in results:
                known = results[atom.tool]
                if steps[0] not in known:
                    raise FormulaError(
                        f"the result of `{atom.tool}` has no field `{steps[0]}` in `{atom}`{_nearest(steps[0], known)}"
                    )


def _nearest(name: str, known: Collection[str]) -> str:
    """The remedy: the nearest name that exists, else all that exist."""
    if near := get_close_matches(name, known, n=1):
        return f": did you mean `{near[0]}`?"
    return f": there is {', '.join(f'`{other}`' for other in sorted(known))}" if known else ": there is none at all"
