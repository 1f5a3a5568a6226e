"""An environment with the tools that some formulas name: `amount` is money, every other argument a text."""

from collections.abc import Iterable

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import Amount, OneOf
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import MONEY, TEXT
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import atoms_of
from lawtrace.solver.rules import Rule
from lawtrace.solver.smt.environment_encoding import observed_fields


def bare_environment(formulas: Iterable[str]) -> Environment:
    """The environment; without state, preconditions and results."""
    parsed = [parse(formula) for formula in formulas]
    read = observed_fields(Rule(id="-", formula=str(formula)).compiled for formula in parsed)
    tools: dict[str, Tool] = {}
    for name in sorted({atom.tool for atom in atoms_of(parsed)} - SPEAKERS.keys()):
        arguments = sorted({str(path.path[0]) for tool, path in read if tool == name})
        parameters = [
            Parameter(argument, MONEY, "-", FromUser(Amount(0, 10**6)))
            if argument == "amount"
            else Parameter(argument, TEXT, "-", FromUser(OneOf(("A", "B"))))
            for argument in arguments
        ]
        tools[name] = Tool(
            name,
            "-",
            parameters=tuple(parameters),
            raises=(Raises("InvalidRequestException", "-"),),
            phrases=Phrases("-"),
        )
    return Environment("bare", "Bare", "Bare", "-", {}, tools, lambda _: State({}))
