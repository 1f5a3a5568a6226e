"""Arguments as a user would say them, drawn one after the other: a value may depend on those before it."""

from random import Random

from lawtrace.environments.kinds import ListOf, Value
from lawtrace.environments.state import State
from lawtrace.environments.tool import FromLookup, FromTrace, FromUser, Parameter, Tool


class NothingToDraw(Exception):
    """A domain found nothing in a state; carries the parameter and what Python said."""

    def __init__(self, parameter: Parameter, reason: Exception) -> None:
        super().__init__(f"{type(reason).__name__}: {reason}")
        self.parameter = parameter


def draw_arguments(tool: Tool, state: State, random: Random) -> dict[str, Value]:
    """A value for every parameter that a user says or that is looked up. Raises NothingToDraw."""
    drawn: dict[str, Value] = {}
    for parameter in tool.parameters:
        match parameter.source:
            case FromUser(domain=domain):
                try:
                    drawn[parameter.name] = domain.draw(random, state, drawn)
                except (LookupError, StopIteration, ValueError, TypeError) as error:
                    raise NothingToDraw(parameter, error) from error
            case FromLookup(entity):
                keys = [row.values[entity.key] for row in state.rows(entity.table)]
                key = random.choice(keys) if keys else None
                drawn[parameter.name] = (key,) if isinstance(parameter.kind, ListOf) else key
            case FromTrace():
                pass
    return drawn
