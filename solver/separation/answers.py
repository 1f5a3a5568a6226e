"""What separation answers, how sessions are judged for it, and the proof that two rule sets are equal."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from lawtrace.environments.spec.state import State
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.entailment import visibly_entails
from lawtrace.solver.logic.lifting import safe_form
from lawtrace.solver.logic.normal_form import conjunction, normal_form
from lawtrace.solver.logic.safety import UnsafeFormulaError
from lawtrace.solver.logic.signature import Signature
from lawtrace.solver.logic.typed_form import typed_forms
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.rule_status import OUTCOMES, RuleStatus
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Proof, Unknown
from lawtrace.solver.search.products.prover import Prover
from lawtrace.solver.search.rule_search import SEARCH_STEPS, Goal, RuleSearch


@dataclass(frozen=True, slots=True)
class SeparatingTrace:
    """A session that two rule sets judge differently, and that keeps the other rules.

    Attributes:
        initial: the start state.
        events: what happens.
        end: when the session ends, in seconds since 1970.
        first: what the first does with the trace.
        second: what the second does.
    """

    initial: State
    events: tuple[Event, ...]
    end: int
    first: TraceOutcome
    second: TraceOutcome


BY_TYPES: Final = " It uses that arguments and results of completed calls have the declared types."
"""What is added to a proof."""

Separation = Found[SeparatingTrace] | Proof[SeparatingTrace] | Unknown
"""A proof says that the two judge every trace alike that keeps the rules of its core, which are of the context."""


class Judge:
    """Judges sessions by monitors that are made once."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._monitors: Final = {name: Monitor({name: rule.compiled}) for name, rule in rules.items()}
        self._tools: Final = {name: None if rule.counts_steps else rule.tools for name, rule in rules.items()}
        self._idle: Final = {name: monitor.status(name) for name, monitor in self._monitors.items()}

    def not_kept(
        self,
        events: Sequence[Event],
        end: int,
        *,
        skipped: Collection[str] = (),
        first: Collection[str] = (),
        most: float = inf,
    ) -> dict[str, RuleStatus] | None:
        """The rules that are not kept, without those skipped; None if more than `most` are broken. `first`: those that
        are judged first.
        """
        called = {event.tool for event in events}
        found: dict[str, RuleStatus] = {}
        broken = 0
        for name in dict.fromkeys((*first, *self._monitors)):
            if name in skipped:
                continue
            tools, status = self._tools[name], self._idle[name]
            if tools is None or not tools.isdisjoint(called):
                monitor = self._monitors[name]
                monitor.clear()
                status = monitor.run(events).status(name, end)
            if status.ending != "kept":
                found[name] = status
                broken += status.ending == "broken"
                if broken > most:
                    return None
        return found

    def outcome(self, events: Sequence[Event], end: int) -> TraceOutcome:
        """What the rules together do with a session."""
        outcomes = {OUTCOMES[status.ending] for status in (self.not_kept(events, end) or {}).values()}
        return "broken" if "broken" in outcomes else "undetermined" if outcomes else "kept"


def have_equal_form(sets: Sequence[Mapping[str, Rule]], signature: Signature) -> bool:
    """Whether the form of two rule sets shows that they are equal, with what is certain of calls."""
    return all(follows for _, follows in _follow_by_form(sets, signature))


def rules_in_common(sets: Sequence[Mapping[str, Rule]], signature: Signature) -> frozenset[str]:
    """The rules of each of two sets of which the form shows that the other set implies them. The names differ."""
    return frozenset(name for name, follows in _follow_by_form(sets, signature) if follows)


def _follow_by_form(sets: Sequence[Mapping[str, Rule]], signature: Signature) -> Iterator[tuple[str, bool]]:
    """Each rule of two sets, and whether its form shows that the other set implies it."""
    named = [(name, rule) for one in sets for name, rule in one.items()]
    try:
        forms = [normal_form(form) for form in typed_forms([rule.parsed for _, rule in named], signature)]
        for _, rule in named:  # what is not safe depends on which values the rule compares
            safe_form(rule.parsed)
    except UnsafeFormulaError:
        yield from ((name, False) for name, _ in named)
        return
    known = [(form, {atom.tool for atom in s.atoms_of([form])}) for form in forms]
    sides = known[: len(sets[0])], known[len(sets[0]) :]
    whole = [conjunction(form for form, _ in side) for side in sides]
    for number, ((name, _), (implied, tools)) in enumerate(zip(named, known, strict=True)):
        other = int(number < len(sets[0]))
        alike = (form for form, others in sides[other] if others == tools)
        yield name, any(visibly_entails(one, implied) for one in (*alike, whole[other]))


def prove_equal(
    sets: Sequence[Mapping[str, Rule]],
    context: Mapping[str, Rule],
    prover: Prover,
    tools: Mapping[str, ToolSchema],
    signature: Signature,
) -> Proof[SeparatingTrace] | None:
    """A proof that two rule sets judge every trace alike that keeps the rules of the context, as far as it is found."""
    named = {name: rule.parsed for one in (context, *sets) for name, rule in one.items()}
    typed = dict(zip(named, typed_forms([*named.values()], signature), strict=True))
    typed = {name: form if s.is_untimed(form) else named[name] for name, form in typed.items()}
    for formulas, by in ((named, ""), (typed, BY_TYPES)) if typed != named else ((named, ""),):
        with suppress(FormulaError):  # too many conditions on one tool
            if proof := _proof_of(formulas, sets, context, prover, tools):
                return replace(proof, shown=f"{proof.shown}{by}")
    return None


def _proof_of(
    formulas: Mapping[str, s.Formula],
    sets: Sequence[Mapping[str, Rule]],
    context: Mapping[str, Rule],
    prover: Prover,
    tools: Mapping[str, ToolSchema],
) -> Proof[SeparatingTrace] | None:
    """The same for rules with these formulas."""
    rules = [Rule(id=name, formula=str(formula)) for name, formula in formulas.items()]
    search = RuleSearch(rules, tools, lambda: prover, steps=SEARCH_STEPS)
    proofs: list[Proof[SeparatingTrace]] = []
    for side, implied in enumerate(sets):
        for name in implied:
            goal, kept = search.violation(name), {*context, *sets[1 - side]}
            answer = search.ask(goal if not context else Goal(goal.rule, None, goal.broken), kept, free=True)
            if not isinstance(answer, Proof) or answer.calls is not None:
                return None
            core = tuple(one for one in answer.core if one.text not in sets[1 - side])
            proofs.append(Proof(core, shown=answer.shown))
    core = tuple(dict.fromkeys(one for proof in proofs for one in proof.core))
    return Proof(core, shown=" ".join(dict.fromkeys(proof.shown for proof in proofs)))
