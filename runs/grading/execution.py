"""Running a program: the jail inside, the session outside, and the events that really happened."""

from collections.abc import Mapping
from dataclasses import dataclass

from environments.declaration import Environment
from environments.events import Event, Json
from environments.jail import Execution, Jail, Program, Raised, Reply, Returned
from environments.session import REFUSED_BY_SHIELD, Guard, Objection, Session
from environments.state import State

__all__ = ["Ran", "run_program"]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, what it called, and the state that its calls led to."""

    execution: Execution
    events: tuple[Event, ...]
    final: State
    objections: tuple[Objection, ...] = ()


def run_program(
    jail: Jail,
    environment: Environment,
    initial: State,
    source: str,
    variables: Mapping[str, Json],
    guard: Guard | None = None,
) -> Ran:
    """Run the program in the jail against the simulator, from the initial state; a guard may stand before the tools.

    What a guard refuses is an exception in the program, like those that its tools document.
    """
    session = Session(environment, initial, guard)

    def answer(tool: str, arguments: dict[str, Json]) -> Reply:
        event = session.call(tool, arguments).event
        if event.error is not None:
            name, _, message = event.error.partition(": ")
            return Raised(name, message)
        return Returned(event.result)

    program = Program(
        source=source,
        object_name=environment.object_name,
        tools=environment.signatures,
        exceptions=(*environment.exceptions, *([REFUSED_BY_SHIELD] if guard else [])),
        variables=variables,
    )
    execution = jail.run(program, answer)
    return Ran(execution, tuple(session.events), session.state, tuple(session.objections))
