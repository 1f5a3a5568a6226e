"""An environment with the tools that some formulas name: `amount` is money, every other argument a text."""

from collections.abc import Iterable

from lawtrace.environments import spec as s
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import atoms_of
from lawtrace.solver.predicates import fields_read


def bare_environment(formulas: Iterable[str]) -> s.Environment:
    """The environment; without state, preconditions and results."""
    parsed = [parse(formula) for formula in formulas]
    read = {field for formula in parsed for field in fields_read(formula)}
    tools: dict[str, s.Tool] = {}
    for name in sorted({atom.tool for atom in atoms_of(parsed)} - SPEAKERS.keys()):
        arguments = sorted({str(path.path[0]) for tool, path in read if tool == name})
        parameters = [
            s.Parameter(argument, s.MONEY, "-", s.FromUser(s.Amount(0, 10**6)))
            if argument == "amount"
            else s.Parameter(argument, s.TEXT, "-", s.FromUser(s.OneOf(("A", "B"))))
            for argument in arguments
        ]
        tools[name] = s.Tool(
            name,
            "-",
            parameters=tuple(parameters),
            raises=(s.Raises("InvalidRequestException", "-"),),
            phrases=s.Phrases("-"),
        )
    return s.Environment("bare", "Bare", "Bare", "-", {}, tools, lambda _: s.State({}))
