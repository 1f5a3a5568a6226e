"""Shield: the guard of a simulated session, which knows the result of each call before it is committed."""

from collections.abc import Sequence
from typing import Final, Literal

from lawtrace.environments.events import Event
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.runtime.session import Objection
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.guard.decisions import Decision, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import Rule

MAX_STEPS: Final = 500
"""How many events a decision tries. Sessions are many, and a search within 70 rules takes a millisecond an event."""


class Shield:
    """A guard in front of the tools of an environment. What it cannot decide it allows: a refusal is always proved."""

    def __init__(
        self, rules: Sequence[Rule], environment: Environment, regulation: Regulation, mode: Literal["warn", "refuse"]
    ) -> None:
        self.guard = Guard(rules, environment, mode=mode, on_undecided="allow", steps=MAX_STEPS, regulation=regulation)

    def review(self, event: Event) -> Objection | None:
        """The objections to the call with this event. If it is not refused, the event is taken to happen."""
        return objection_of(self.guard.review(event))

    def note(self, event: Event) -> None:
        """Take a message into account. It happens whatever the rules say, so there is no objection to it."""
        self.guard.see(event)

    def open_duties(self) -> Objection | None:
        """The rules that are broken if the session ends now, but could still be kept."""
        owed = self.guard.finish()
        if not owed:
            return None
        text = " ".join(dict.fromkeys(str(duty) for duty in owed))
        opening = "You still have an open duty." if len(owed) == 1 else "You still have open duties."
        return Objection(tuple(duty.rule for duty in owed), f"{opening} {text}", refused=False)


def objection_of(decision: Decision) -> Objection | None:
    """A decision as a session records it; None if there is nothing to say."""
    if isinstance(decision, Refuse):
        return Objection(decision.finding.rules, decision.reason, refused=True)
    if decision.warning is None or decision.finding is None:
        return None
    return Objection(decision.finding.rules, decision.warning, refused=False)
