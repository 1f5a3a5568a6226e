"""Running a program: the jail inside, the simulator outside, and the events that really happened."""

from collections.abc import Mapping
from dataclasses import dataclass

from environments.declaration import Environment
from environments.events import Event, Json
from environments.jail import Execution, Jail, Program, Raised, Reply, Returned
from environments.simulation import call
from environments.state import State

__all__ = ["Ran", "run_program"]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, what it called, and the state that its calls led to."""

    execution: Execution
    events: tuple[Event, ...]
    final: State


class _Session:
    """The simulator's side of the pipe. It outlives no program."""

    def __init__(self, environment: Environment, initial: State) -> None:
        self._environment = environment
        self.state = initial
        self.events: list[Event] = []

    def answer(self, tool: str, arguments: dict[str, Json]) -> Reply:
        event, self.state = call(self._environment, self.state, tool, arguments)
        self.events.append(event)
        if event.error is not None:
            name, _, message = event.error.partition(": ")
            return Raised(name, message)
        return Returned(event.result)


def run_program(
    jail: Jail, environment: Environment, initial: State, source: str, variables: Mapping[str, Json]
) -> Ran:
    """Run the program in the jail against the simulator, from the initial state."""
    session = _Session(environment, initial)
    program = Program(
        source=source,
        object_name=environment.object_name,
        tools=environment.signatures,
        exceptions=environment.exceptions,
        variables=variables,
    )
    execution = jail.run(program, session.answer)
    return Ran(execution, tuple(session.events), session.state)
