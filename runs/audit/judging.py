"""Audit of transcripts: judges recorded conversations against a rule set."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.types import ObjectOf
from lawtrace.environments.tool_schemas.outcomes import outcome_of as outcome_of_call
from lawtrace.runs.audit.missing_data import DataGap, GapResolver, find_gaps
from lawtrace.runs.audit.predicates import Asked, judged_by
from lawtrace.runs.audit.transcripts import Transcript, Turn
from lawtrace.runs.scoring.judge import RuleJudge
from lawtrace.schemas.audit_rows import AuditRow, OlderVerdict, sentence_of
from lawtrace.schemas.events import CALLS, SPEAKERS, Actor, Event, Json, event_labels, message_event
from lawtrace.schemas.questions import Legality, ReadingsVerdict
from lawtrace.schemas.verdict_rows import RuleVerdict
from lawtrace.solver.logic.syntax import SAYS
from lawtrace.solver.rules import Rule

NOTHING_SAID: Final[Mapping[Asked, bool]] = MappingProxyType({})
AT_REFERENCE: Final = "the task demands this call"
"""What readers are told of a finding at a reference action."""


class TranscriptAuditor:
    """Judges one transcript after the other by the same rules."""

    def __init__(
        self,
        environment: Environment,
        rules: Sequence[Rule],
        *,
        complete: bool = False,
        against: Sequence[Rule] | None = None,
        joined: bool = False,
        says: Mapping[Asked, bool] = NOTHING_SAID,
    ) -> None:
        """``says``: what a model answered to predicates of the rules.

        ``joined``: whether a transcript is of several sessions, so that nothing may be in it.

        ``complete``: a transcript is all that happened, so that a duty that is open at its end is broken.

        ``against``: an older version of the rules, by which each transcript is judged, too.
        """
        self._environment: Final = environment
        self._joined: Final = joined
        self._says: Final = says
        asked = sorted({one for rule in (*rules, *(against or ())) for one in rule.predicates})
        self._predicates: Final = {name: [text for speaker, text in asked if speaker == name] for name in SPEAKERS}
        self._asks_calls: Final = any(rule.asks_calls for rule in (*rules, *(against or ())))
        self._asks_actor: Final = any(rule.asks_actor for rule in (*rules, *(against or ())))
        self._rules: Final = _RuleSet(rules, environment, complete=complete)
        self._older: Final = None if against is None else _RuleSet(against, environment, complete=complete)

    def audit(self, transcript: Transcript) -> AuditRow:
        """Judge one transcript.

        It is invalid if the environment has none of the tools that it calls, or it has no call and triggers no rule.
        """
        environment = self._environment
        if transcript.trouble is not None:
            return invalid_row(transcript, transcript.trouble)
        recorded = transcript.turns_with(silent=self._asks_calls)
        turns = [turn for turn in recorded if not _is_users_own(environment, turn)]
        called = [turn.call.tool for turn in turns if turn.call is not None]
        unknown = [tool for tool in called if tool not in environment.tools]
        names = ", ".join(dict.fromkeys(unknown))
        if unknown and len(unknown) == len(called):
            return invalid_row(transcript, f"it calls {names}, unknown in {environment.name}")
        notes = list(transcript.notes)
        if unknown:
            notes.append(f"{len(unknown)} call(s) of a tool that is not declared: {names}")
        if backwards := _first_step_back(turns):
            notes.append(f"the clock goes back at message {backwards}; its times are not used")
        permitted = {at: turn.call.permitted for at, turn in enumerate(turns) if turn.call and turn.call.permitted}
        if permitted:
            names = ", ".join(sorted({rule for rules in permitted.values() for rule in rules}))
            notes.append(f"a person permitted {len(permitted)} call(s), by the guard's log, despite {names}")
        by = transcript.by or (Actor() if self._asks_actor else None)
        whole = None if by is None else replace(by, session=by.session or transcript.id)
        events = tuple(
            self._with_asked(turn, event_of_turn(environment, turn, whole, timed=not backwards)) for turn in turns
        )
        gaps = find_gaps(environment, turns, events)
        verdicts = self._rules.judge(events, gaps, permitted)
        if not called and not self._joined and all(verdict.outcome == "never triggered" for verdict in verdicts):
            return invalid_row(transcript, "it has no call, and no message triggers a rule")
        older = None if self._older is None else self._older.judge(events, gaps, permitted)
        demanded = {one.rule for one in verdicts if one.broken and _is_demanded(one, events, transcript)}
        outcome, readings, disputed = self._rules.outcome(verdicts)
        return AuditRow(
            place=transcript.place,
            conversation=transcript.id,
            labels=transcript.labels,
            outcome=outcome,
            reason="; ".join(filter(None, [reason_of(verdicts, demanded), *disputed])),
            rules=verdicts,
            events=events,
            notes=(*notes, *(gap.reason for gap in gaps)),
            readings=readings,
            against=None if older is None else self._older_verdict(older),
            at_reference=tuple(verdict.rule for verdict in verdicts if verdict.rule in demanded),
        )

    def _with_asked(self, turn: Turn, event: Event) -> Event:
        """A message with what rules ask of it: what it calls, and what is known of what it says."""
        if self._asks_calls and turn.call is None and event.tool == "agent":
            event = replace(event, arguments={**event.arguments, CALLS: [*(turn.message.turn or ())]})
        if not (asked := self._predicates.get(event.tool)):
            return event
        says: dict[str, Json] = {**judged_by(self._says, event.tool, asked, str(event.arguments.get("text", "")))}
        return replace(event, arguments={**event.arguments, SAYS: says}) if says else event

    def unanswered(self, transcript: Transcript) -> Iterator[Asked]:
        """What a model has to be asked about the messages of a transcript."""
        for turn in transcript.turns:
            speaker, text = turn.message.speaker, turn.message.text
            if turn.call is None and speaker is not None:
                asked = ((speaker, predicate, text) for predicate in self._predicates[speaker])
                yield from (one for one in asked if one not in self._says)

    def _older_verdict(self, verdicts: tuple[RuleVerdict, ...]) -> OlderVerdict:
        assert self._older is not None
        return OlderVerdict(outcome=self._older.outcome(verdicts)[0], rules=verdicts)


class _RuleSet:
    """One version of the rules, ready to judge events."""

    def __init__(self, rules: Sequence[Rule], environment: Environment, *, complete: bool) -> None:
        self._complete: Final = complete
        self._judge: Final = RuleJudge(rules, states=False, located=True)
        self._resolvers: Final = [GapResolver(rule, environment, complete=complete) for rule in rules]
        self._asking: Final = {rule.id: RuleJudge([rule], states=False, located=True) for rule in rules if rule.ask}

    def judge(
        self, events: Sequence[Event], gaps: Sequence[DataGap], permitted: Mapping[int, Sequence[str]]
    ) -> tuple[RuleVerdict, ...]:
        """``permitted``: the place of a call -> the rules that a person let it break. To one of them with ``ask``, the
        call has not happened, as to the guard."""
        judged = self._judge.judge(events, complete=self._complete, explained=True)
        resolved = [
            self._resolve(resolver, verdict, events, gaps, permitted)
            for resolver, verdict in zip(self._resolvers, judged, strict=True)
        ]
        labels = event_labels(events) if any(verdict.at is not None for verdict in resolved) else []
        return tuple(_with_place(verdict, events, labels) for verdict in resolved)

    def _resolve(
        self,
        resolver: GapResolver,
        verdict: RuleVerdict,
        events: Sequence[Event],
        gaps: Sequence[DataGap],
        permitted: Mapping[int, Sequence[str]],
    ) -> RuleVerdict:
        """The verdict without the calls that a person permitted, or that gaps in others leave it undetermined."""
        left_out = {at for at, rules in permitted.items() if verdict.rule in rules}
        if left_out and (judge := self._asking.get(verdict.rule)):
            events = [replace(event, outcome="failed") if at in left_out else event for at, event in enumerate(events)]
            gaps = [gap for gap in gaps if gap.event not in left_out]
            verdict = judge.judge(events, complete=self._complete, explained=True)[0]
        return resolver.resolve_three_valued(verdict, gaps, events)

    def outcome(self, verdicts: Sequence[RuleVerdict]) -> tuple[Legality, tuple[ReadingsVerdict, ...], Sequence[str]]:
        """The outcome for a record, what it turns on, and what each reading says if it turns on one."""
        legality, readings = self._judge.legality(verdicts)
        disputed = self._judge.explain_readings(readings) if legality == "arguable" else ()
        return legality, readings, disputed


def reason_of(verdicts: Sequence[RuleVerdict], demanded: Iterable[str] = ()) -> str:
    """One sentence for each broken rule, then for each undetermined one. ``demanded``: rules with a finding at a call
    that the task demands."""
    ordered = [*(one for one in verdicts if one.broken), *(one for one in verdicts if one.undetermined)]
    return "; ".join(sentence_of(one, f" ({AT_REFERENCE})" if one.rule in demanded else "") for one in ordered)


def invalid_row(transcript: Transcript, reason: str) -> AuditRow:
    """The row of a record that cannot be judged."""
    return AuditRow(
        place=transcript.place,
        conversation=transcript.id,
        labels=transcript.labels,
        outcome="invalid",
        reason=reason,
        rules=(),
        events=(),
        notes=transcript.notes,
    )


def _with_place(verdict: RuleVerdict, events: Sequence[Event], labels: Sequence[str]) -> RuleVerdict:
    """The verdict with its outcome, and with the number of the call and of the message that it is about."""
    if verdict.at is None:
        return verdict.stated()
    return verdict.stated(call=labels[verdict.at], message=events[verdict.at].message)


def _is_demanded(verdict: RuleVerdict, events: Sequence[Event], transcript: Transcript) -> bool:
    return verdict.at is not None and (events[verdict.at].tool, events[verdict.at].arguments) in transcript.reference


def _is_users_own(environment: Environment, turn: Turn) -> bool:
    """Whether the user called a tool of their own, which rules on the agent's tools do not know."""
    return turn.call is not None and turn.call.caller == "user" and turn.call.tool not in environment.tools


def _first_step_back(turns: Sequence[Turn]) -> int | None:
    """The number of the first message that is earlier than the one before it; None if there is none."""
    times = [(turn.message.time, turn.number) for turn in turns if turn.message.time is not None]
    return next((number for (before, _), (time, number) in pairwise(times) if time < before), None)


def event_of_turn(environment: Environment, turn: Turn, whole: Actor | None, *, timed: bool) -> Event:
    """The event of a turn. `whole`: who acts in the conversation."""
    time, call = turn.message.time if timed else None, turn.call
    message, by = turn.message.place or str(turn.number), turn.message.by or whole
    if by is not None and by.session is None and whole is not None:
        by = replace(by, session=whole.session)
    if call is None:
        return message_event(turn.message.speaker or "agent", turn.message.text, time, message, by)
    result = None if call.answer is None else call.answer.content
    tool, told = environment.tools.get(call.tool), call.answer and call.answer.error
    promised = {declared.name for declared in tool.results} if tool else set[str]()
    if tool and isinstance(tool.returns, ObjectOf):
        promised |= tool.returns.fields.keys()
    outcome, error = outcome_of_call(result, told or None, promised, tool.error_texts if tool else ())
    if call.answer is None or call.tool in SPEAKERS:  # a tool of that name is no message: rules can say nothing of it
        outcome = "failed"
    result = None if error is not None else result if tool is None else tool.named_result(result)
    return Event(call.tool, call.arguments or {}, outcome, result, error, time, message, by)
