"""Gaps in recorded data: what a record leaves open about its calls, and the rules that this leaves undetermined.

A declaration says which values a call may have. Where a recorded call has others, or none, two things are open: whether
the tool counts it as done, and what the rule's conditions on those fields would say. A verdict stands only if no answer
to these questions changes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, cast

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, RowsResult
from lawtrace.environments.spec.open_types import ANY, OrNull
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import ListOf, ObjectOf, ValueType, WrongFormat, WrongType
from lawtrace.runs.audit.transcripts import RecordedCall, Turn
from lawtrace.runs.scoring.judge import RuleJudge
from lawtrace.schemas.events import Event, Json, event_labels
from lawtrace.schemas.verdict_rows import RuleVerdict
from lawtrace.solver.logic.terms import RESULT
from lawtrace.solver.open_reads import find_open_reads
from lawtrace.solver.predicates import fields_read
from lawtrace.solver.rules import Rule

MAX_OPEN_CALLS = 4
"""For how many calls a rule is judged with and without each of them. With more it is undetermined."""

NAMED_PROBLEMS = 5
"""How many problems of one call a reason names."""

_NO_SUCH_FIELD: Final = "there is no such field"

Path = tuple[str, ...]
"""The names on the way to a field of a call, without places in lists: ``("result", "payees", "payee_id")``."""
Problem = tuple[Path, str]
"""A field, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class DataGap:
    """What the record leaves open about one call.

    Attributes:
        event: its index among the events.
        reason: a sentence for readers.
        open: whether it is open if the call counts as completed.
        fields: the fields whose values do not fit their declaration, or are not recorded.
    """

    event: int
    reason: str
    open: bool
    fields: tuple[Path, ...] = ()


def find_gaps(environment: Environment, turns: Sequence[Turn], events: Sequence[Event]) -> list[DataGap]:
    """The gaps in the calls of a transcript, in order."""
    gaps: list[DataGap] = []
    labels = event_labels(events)
    for number, (turn, event) in enumerate(zip(turns, events, strict=True)):
        call = turn.call
        if call is None:
            continue
        if call.answer is None:
            reason = f"call {labels[number]}, {call.tool}: no result is recorded"
            gaps.append(DataGap(number, reason, True, ((RESULT,),)))
        elif event.completed and (tool := environment.tools.get(call.tool)):
            arguments = [*_arguments(tool, call)]
            simulated = environment.simulated
            result = event.result if simulated else call.answer.content
            results = (
                _results(tool, result) if simulated else _misfit((RESULT,), "", RESULT, tool.returns or ANY, result)
            )
            # A field that is not declared does no harm: what a rule reads is there.
            problems = [*arguments, *(one for one in results if not one[1].endswith(_NO_SUCH_FIELD))]
            if problems:
                first, *others = dict.fromkeys(text for _, text in problems)
                shown = "; ".join((first, *others[: NAMED_PROBLEMS - 1]))
                more = f"; {len(others) + 1 - NAMED_PROBLEMS} more" if len(others) >= NAMED_PROBLEMS else ""
                fields = tuple(dict.fromkeys(place for place, _ in problems))
                # A tool without state declares no refusals: that it has answered is all there is to know.
                is_open = bool(arguments) and simulated
                gaps.append(DataGap(number, f"call {labels[number]}, {call.tool}: {shown}{more}", is_open, fields))
    return gaps


class GapResolver:
    """What decides whether a verdict on a rule stands whatever the gaps hold, prepared once for the rule."""

    def __init__(self, rule: Rule, environment: Environment, *, complete: bool) -> None:
        self._open_reads: Final = find_open_reads(rule.parsed, environment)
        self._complete: Final = complete
        self._judge: Final = RuleJudge([rule], states=False)
        self._tools: Final = rule.tools
        self._any_call: Final = rule.counts_steps
        self._fields: Final = tuple(
            (tool, tuple(step for step in field.path if isinstance(step, str)), str(field))
            for tool, field in sorted(fields_read(rule.parsed), key=str)
        )

    def resolve_three_valued(
        self, verdict: RuleVerdict, gaps: Sequence[DataGap], events: Sequence[Event]
    ) -> RuleVerdict:
        """The verdict, or that the rule is undetermined because of these gaps."""
        if verdict.undetermined or not (gaps or self._open_reads):
            return verdict
        about = [gap for gap in gaps if self._any_call or events[gap.event].tool in self._tools]
        uncertain = [gap for gap in about if gap.open]
        found = self._field_in_gap(about, events) or self._open_part(events)
        if found is None and not self._stands(uncertain, events):
            found = uncertain[0], "whether the call counts decides the rule"
        if found is None:
            return verdict
        gap, why = found
        changes: dict[str, object] = {"undetermined": f"{gap.reason}; {why}", "at": gap.event}
        return verdict.model_copy(update={"kept": False, "explanation": "", "violations": (), **changes})

    def _field_in_gap(self, gaps: Sequence[DataGap], events: Sequence[Event]) -> tuple[DataGap, str] | None:
        """Why a condition of the rule cannot be evaluated; None if each can."""
        for tool, read, name in self._fields:
            for gap in gaps:
                overlap = any(read[: len(missing)] == missing[: len(read)] for missing in gap.fields)
                if overlap and events[gap.event].tool == tool:
                    return gap, f"the rule reads {name}"
        return None

    def _open_part(self, events: Sequence[Event]) -> tuple[DataGap, str] | None:
        """A part that the rule reads, a schema leaves open, and a call does not have; None if each is there."""
        lost = self._open_reads.lost(events)
        return None if lost is None else (DataGap(lost.event, lost.reason, False), f"the rule reads {lost.read}")

    def _stands(self, open_calls: Sequence[DataGap], events: Sequence[Event]) -> bool:
        """Whether the verdict is the same whichever of these calls count."""
        if not open_calls or len(open_calls) > MAX_OPEN_CALLS:
            return not open_calls
        verdicts: set[tuple[bool, bool]] = set()
        for counted in product((True, False), repeat=len(open_calls)):
            read = [*events]
            for gap, counts in zip(open_calls, counted, strict=True):
                read[gap.event] = replace(events[gap.event], outcome="completed" if counts else "failed")
            (verdict,) = self._judge.judge(read, complete=self._complete)
            verdicts.add((verdict.kept, verdict.broken))
        return len(verdicts) == 1


def _arguments(tool: Tool, call: RecordedCall) -> Iterator[Problem]:
    if call.arguments is None:
        yield from (((parameter.name,), "the arguments are not a JSON object") for parameter in tool.parameters)
        return
    declared = {parameter.name for parameter in tool.parameters}
    yield from (((name,), f"there is no parameter {name!r}") for name in call.arguments if name not in declared)
    for parameter in tool.parameters:
        raw = call.arguments.get(parameter.name)
        if raw is not None:
            yield from _misfit((parameter.name,), "argument ", parameter.name, parameter.type, raw)
        elif parameter.required:
            yield (parameter.name,), f"argument {parameter.name!r} is missing"


def _results(tool: Tool, result: Json) -> Iterator[Problem]:
    """What does not fit the declared results of a tool with state. In a row, a field without a value may be null, and
    other fields do no harm."""
    if tool.results and not isinstance(result, dict):
        yield (RESULT,), "the result is not an object with fields"
        return
    fields = cast("Mapping[str, Json]", result)
    for one in tool.results:
        if one.name not in fields:
            yield (RESULT, one.name), f"result {one.name!r} is missing"
            continue
        may_be_null = isinstance(one, KeyResult) or (isinstance(one, RowsResult) and one.single)
        kind = OrNull(one.type) if may_be_null else one.type
        in_rows = isinstance(one, RowsResult)
        yield from _misfit((RESULT, one.name), "result ", one.name, kind, fields[one.name], in_rows=in_rows)


def _misfit(
    place: Path, what: str, name: str, kind: ValueType, value: Json, *, in_rows: bool = False
) -> Iterator[Problem]:
    """What does not fit in a value, each part by itself.

    ``name``: of the part, for readers: ``flights[1].date``. ``in_rows``: objects are rows; see `_results`.
    """
    match kind, value:
        case ListOf(items=items), list():
            for number, item in enumerate(value):
                yield from _misfit(place, what, f"{name}[{number}]", items, item, in_rows=in_rows)
        case OrNull(), None:
            pass
        case OrNull(value=inner), _:
            yield from _misfit(place, what, name, inner, value, in_rows=in_rows)
        case ObjectOf(fields=fields, optional=optional, others=others), dict():
            for field in [field for field in value if field not in fields and not in_rows]:
                if others is None:
                    yield (*place, field), f"{what}{f'{name}.{field}'!r}: {_NO_SUCH_FIELD}"
                else:
                    yield from _misfit((*place, field), what, f"{name}.{field}", others, value[field])
            for field, part in fields.items():
                may_be_null = isinstance(part, OrNull) or (in_rows and not isinstance(part, ListOf))
                if value.get(field) is not None:
                    yield from _misfit((*place, field), what, f"{name}.{field}", part, value[field], in_rows=in_rows)
                elif field not in optional and not (field in value and may_be_null):
                    yield (*place, field), f"{what}{f'{name}.{field}'!r} is missing"
        case _:
            try:
                kind.decode(value)
            except (WrongType, WrongFormat) as problem:
                yield place, f"{what}{name!r}: {problem.message}"
