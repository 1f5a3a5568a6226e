"""Shields: guards of simulated sessions, which know the result of each call before it is committed."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.attempt_rows import Objection
from lawtrace.schemas.choices import ShieldMode
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event
from lawtrace.solver.guard.decisions import Decision, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import Rule

MAX_STEPS: Final = 500
"""How many events a decision tries. Sessions are many, and a search within 70 rules takes a millisecond an event."""

MAX_RULE_SETS: Final = 16
"""How many compiled rule sets are kept."""


class Shield:
    """A guard in front of the tools of an environment, in one session."""

    def __init__(self, guard: Guard) -> None:
        self.guard: Final = guard

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


class Shields:
    """Opens the shields of the sessions in an environment. Each rule set is compiled once.

    What a shield cannot decide it allows: a refusal is always proved. Several threads may open and use shields.
    """

    def __init__(self, environment: Environment, regulation: Regulation | None) -> None:
        """`regulation`: the text that refusals cite; without it there are no shields."""
        self._environment: Final = environment
        self._regulation: Final = regulation
        self._compiled: Final = lru_cache(MAX_RULE_SETS)(self._compile)

    def open(self, rules: Sequence[Rule], mode: ShieldMode) -> Shield | None:
        """The shield of a new session; None in the mode ``off``. Raises InputError if there is no regulation."""
        return None if mode == "off" else Shield(self._compiled(tuple(rules), mode).open_session())

    def _compile(self, rules: tuple[Rule, ...], mode: Literal["warn", "refuse"]) -> Guard:
        if self._regulation is None:
            raise InputError("a shield cites provisions and needs the regulation")
        return Guard(
            rules, self._environment, mode=mode, on_undecided="allow", steps=MAX_STEPS, regulation=self._regulation
        )


def objection_of(decision: Decision) -> Objection | None:
    """A decision as a session records it; None if there is nothing to say."""
    if isinstance(decision, Refuse):
        return Objection(decision.finding.rules, decision.reason, refused=True)
    if decision.warning is None or decision.finding is None:
        return None
    return Objection(decision.finding.rules, decision.warning, refused=False)
