"""The ends of a request in a state: its acceptable outcomes, each with the readings of the law under which it is one.

Under an interpretation I of the law they are

    done                   if a trace with the requested calls keeps the rules that are active under I
    declined with reason r if none does, and a refusal with this reason does, for each such r

so what can be done lawfully under I is not declined under I. All these traces keep the owner's manual, too. Where it
stands in the way of what is asked, nothing is decided.

Interpretations are not enumerated. A *case* is a set of them, at first all. Its traces keep every rule that is active
under one of them, so what is found is an end under all of them. Where nothing is, the obstacles say why. If one of them
is a rule that is not active in all of the case, the case is split by the readings of that rule.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.questions import RuleSource, Under
from lawtrace.solver.interpretations import are_compatible, question_groups
from lawtrace.solver.planner.completion import MAX_ADDED_CALLS, Completer
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Impossible, Unknown
from lawtrace.solver.traces import PlannedCall, Trace, stated_reasons


@dataclass(frozen=True, slots=True)
class PlannedEnd:
    """An end with a compliant trace that reaches it. ``declined``, ``under``: as of `End`."""

    trace: Trace
    declined: str | None
    under: Under


@dataclass(frozen=True, slots=True)
class _Case:
    """The interpretations that take these readings."""

    under: Under
    source: RuleSource = "law"


class _UndecidedError(Exception):
    """It is not decided which ends there are; why, as of `Unknown`."""


class EndSearch:
    """Looks for the ends of requests under one rule set."""

    def __init__(self, environment: Environment, rules: Sequence[Rule], completer: Completer) -> None:
        """`completer`: the one for all the rules."""
        self._environment: Final = environment
        self._rules: Final = {rule.id: rule for rule in rules}
        self._groups: Final = question_groups(rules)
        self._completers: Final = {tuple(self._rules): completer}

    def ends(
        self, initial: State, requested: Sequence[PlannedCall], *, refused: bool = True
    ) -> tuple[PlannedEnd, ...] | Unknown:
        """The ends of a request; without `refused` only those that do what is asked."""
        return _decided(self._ends(_Case({}), initial, requested, refused))

    def refusals(self, initial: State, requested: Sequence[PlannedCall]) -> tuple[PlannedEnd, ...] | Unknown:
        """The ends of a request that is known to be prohibited under all readings."""
        return _decided(self._refusals(_Case({}), initial, requested, ()))

    def join(self, end: PlannedEnd, further: Trace) -> PlannedEnd | None:
        """The end of a request that asks for more, which is done; None if this does not keep the rules."""
        joined = self._completer(_Case(end.under)).join([end.trace, further])
        return None if joined is None else replace(end, trace=joined)

    def _ends(
        self,
        case: _Case,
        initial: State,
        requested: Sequence[PlannedCall],
        refused: bool,
        proof: Impossible | None = None,
    ) -> Iterator[PlannedEnd]:
        match proof or self._completer(case).complete(initial, requested):
            case Found(trace):
                yield PlannedEnd(trace, None, case.under)
            case Impossible() as impossible:
                parts = self._parts(case, impossible)
                for part in parts:
                    proof = impossible if self._holds_in(part, impossible) else None
                    yield from self._ends(part, initial, requested, refused, proof)
                if not parts and refused:
                    if any(self._rules[name].source == "manual" for name in impossible.rules):
                        raise _UndecidedError("the owner's manual stands in the way of the request")
                    yield from self._refusals(case, initial, requested, ())
            case Unknown(why):
                raise _UndecidedError(why)

    def _refusals(
        self,
        case: _Case,
        initial: State,
        requested: Sequence[PlannedCall],
        known: Sequence[Trace],
        proof: Impossible | None = None,
    ) -> Iterator[PlannedEnd]:
        """The refusals with other reasons than those known. They may add as many calls as the first one has.

        `proof`: that there are none.
        """
        if self._environment.declines is None:
            return
        most = len(known[0].calls) if known else MAX_ADDED_CALLS
        match proof or self._completer(case).decline(initial, requested, most, other_than=known):
            case Found(trace):
                reasons = stated_reasons(self._environment, trace.events)
                yield PlannedEnd(trace, ", ".join(map(str, reasons.values())), case.under)
                yield from self._refusals(case, initial, requested, [*known, trace])
            case Impossible() as impossible:
                for part in self._parts(case, impossible):
                    proof = impossible if self._holds_in(part, impossible) else None
                    yield from self._refusals(part, initial, requested, known, proof)
            case Unknown(why):
                raise _UndecidedError(why)

    def _completer(self, case: _Case) -> Completer:
        """The completer for the rules that are active under some interpretation of the case."""
        rules = [rule for rule in self._rules.values() if are_compatible(self._groups, [rule, case])]
        ids = tuple(rule.id for rule in rules)
        if ids not in self._completers:
            learned = self._completers[*self._rules].learned
            self._completers[ids] = Completer(self._environment, rules, learned=learned)
        return self._completers[ids]

    def _holds_in(self, case: _Case, impossible: Impossible) -> bool:
        """Whether all rules of a proof are active in the case, so that it is one there, too."""
        return are_compatible(self._groups, [*(self._rules[name] for name in impossible.rules), case])

    def _parts(self, case: _Case, impossible: Impossible) -> list[_Case]:
        """The case, split by a rule in the way that is not active in all of it; empty if there is none."""
        for rule in (self._rules[name] for name in impossible.rules):
            for question in rule.questions if rule.source == "law" else ():
                taken = case.under.get(question.id, tuple(reading.id for reading in question.readings))
                active = tuple(reading for reading in taken if reading in rule.under.get(question.id, taken))
                others = tuple(reading for reading in taken if reading not in active)
                if active and others:
                    parts = (_Case({**case.under, question.id: of}) for of in (active, others))
                    return [part for part in parts if are_compatible(self._groups, [part])]
        return []


def _decided(ends: Iterator[PlannedEnd]) -> tuple[PlannedEnd, ...] | Unknown:
    try:
        return tuple(ends)
    except _UndecidedError as error:
        return Unknown(str(error))
