"""Shield: monitors in front of the tools that check each call before it is carried out.

The effect of a call is found by simulating it. A state is immutable, so the session simulates the call and shows the
shield the resulting event; the call is committed only afterwards. A rule objects if it could still be kept before the
call and cannot be kept after it. That is exact for each single rule, because its automaton knows from which states
acceptance is reachable. Two rules that can each be kept, but no longer together, are not detected.

No call is refused for leaving an obligation open, because later calls may meet it. Open duties are reported when an
agent ends the session (:meth:`Shield.open_duties`).
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from lawtrace.environments.events import Event
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.runtime.session import Objection
from lawtrace.solver.ltlf import Monitor
from lawtrace.solver.rules import Rule


class Shield:
    """The shield of one session. The agent reads the text of the provisions, never a formula."""

    def __init__(self, rules: Sequence[Rule], regulation: Regulation, mode: Literal["warn", "refuse"]) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._regulation = regulation
        self._refuses = mode == "refuse"
        self._let_through: list[Event] = []
        self._monitor = self._fresh_monitor()

    def review(self, event: Event) -> Objection | None:
        """The objections to the call with this event. If it is not refused, the event is taken to happen."""
        number = self._monitor.events
        self._monitor.feed(event)
        against = [rule for rule, broken_at in self._monitor.first_irreparable.items() if broken_at == number]
        if not against or not self._refuses:
            self._let_through.append(event)
        else:  # a monitor cannot go back, and a refused call has not happened
            self._monitor = self._fresh_monitor()
            self._monitor.run(self._let_through)
        if not against:
            return None
        what = "Not carried out: it would rule out" if self._refuses else "Carried out, but it rules out"
        return Objection(
            rules=tuple(against),
            text=f"{what} compliance with this: {self._provisions(against)}",
            refused=self._refuses,
        )

    def note(self, event: Event) -> None:
        """Take a message into account. It happens whatever the rules say, so there is no objection to it."""
        self._monitor.feed(event)
        self._let_through.append(event)

    def open_duties(self) -> Objection | None:
        """The rules that are broken if the session ends now, but could still be kept."""
        owed = [rule for rule, ending in self._monitor.final_statuses().items() if ending == "left_open"]
        if not owed:
            return None
        return Objection(
            tuple(owed), f"If you end here, you do not comply with this: {self._provisions(owed)}", refused=False
        )

    def _fresh_monitor(self) -> Monitor:
        return Monitor({name: rule.compiled for name, rule in self._rules.items()})

    def _provisions(self, rules: Iterable[str]) -> str:
        return " ".join(dict.fromkeys(text for rule in rules for text in self._words(self._rules[rule])))

    def _words(self, rule: Rule) -> list[str]:
        """The text of the provisions that a rule rests on; for a rule without one, its rationale."""
        cited = [
            f"{rule.regulation} {found.citation}: {found.words()}"
            for citation in rule.provisions
            if rule.regulation == self._regulation.id or not self._regulation.restated
            for found in self._regulation.cited(citation)
        ]
        return cited or [rule.rationale or f"the rule {rule.id!r}."]
