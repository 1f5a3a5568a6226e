"""Masking checks: an instruction states all values, reveals no compliance step, and is executable by a reader.

The hidden steps are a function of the trace (:func:`lawtrace.solver.traces.literal_calls`). These checks precede any
model's review of the wording: the text states every value of the literal calls and does not reveal a compliance step,
and the calls that an independent reader derives from it have the effect of the trace.
"""

import json
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import decode_arguments
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import PhrasesByArgument, Tool
from lawtrace.environments.spec.types import ValueType, WrongFormat, WrongType
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Event, Json, SaidByUser, scalars
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.models import StrictModel
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.surface_forms import plain, value_spans
from lawtrace.solver.masking.wording import format_value
from lawtrace.solver.traces import PlannedCall, Trace, drop_calls, literal_calls, resolve_path


class ReaderReference(StrictModel):
    """A reader's argument taken from an earlier result: call number (from 1) and the path into its result."""

    from_call: int
    path: tuple[str | int, ...]


_ReaderItem = Annotated[ReaderReference | Json, Field(union_mode="left_to_right")]
ReaderArgument = ReaderReference | list[_ReaderItem] | Json
"""An argument as a reader gives it: a value, a reference, or a list of these."""


class ReaderCall(StrictModel):
    """One call that an independent reader derives from an instruction."""

    tool: str
    arguments: dict[str, Annotated[ReaderArgument, Field(union_mode="left_to_right")]]


def requested_calls(
    environment: Environment, initial: State, calls: Sequence[PlannedCall], style: Style
) -> tuple[PlannedCall, ...]:
    """The calls that a style asks for: for a goal the changes and the look-ups they need, for a workflow every literal
    call.
    """
    literal = literal_calls(environment, calls)
    if style == "workflow":
        return literal
    needed = goal_calls(environment, initial, literal)
    return drop_calls(literal, (number for number in range(len(literal)) if number not in needed))


def find_leaks(environment: Environment, text: str, *, event_phrases: bool = True) -> list[str]:
    """Text that reveals a compliance step: tool names, leak words and event names, as found.

    A name of one word, such as *Wait*, counts only where the tool declares no leak words: in ordinary use it is a word.
    With ``event_phrases`` an event's name in ordinary words counts too. Generated instructions can avoid *bill
    payment*; in imported texts these are just words.
    """
    stems: list[str] = []
    for name in sorted(environment.compliance_tools):
        spaced, leak_words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name), environment.tools[name].leak_words
        stems += [*leak_words, *([name, spaced] if " " in spaced or not leak_words else [])]
    for name in environment.event_names:
        stems += [name, *([name.replace("_", " ")] if event_phrases else [])]
    return _stem_matches(text, stems)


def _stem_matches(text: str, stems: Sequence[str]) -> list[str]:
    """The words that begin with a stem, each spelling once; a stem inside a longer match does not count again."""
    matches = [match for stem in stems for match in _stem_pattern(stem).finditer(text)]
    spans = {match.span() for match in matches}
    outermost = [
        match[0]
        for match in matches
        if not any(span != match.span() and span[0] <= match.start() and match.end() <= span[1] for span in spans)
    ]
    return list(dict.fromkeys(outermost))


def _stem_pattern(stem: str) -> re.Pattern[str]:
    # A word begins after any character but a letter or digit, and at a capital: audit, re-audit, new_audit, newAudit.
    start = r"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z])))"
    spaced = re.escape(stem).replace(r"\ ", r"[\s_]+")
    return re.compile(rf"{start}{spaced}\w*", re.IGNORECASE)


def find_missing(
    environment: Environment, calls: Sequence[PlannedCall], numbers: Sequence[int], text: str
) -> list[str]:
    """The user's values in those calls that the text does not state, as ``tool.parameter = value``."""
    missing: list[str] = []
    for number in numbers:
        tool = environment.tools[calls[number].event.tool]
        for name in calls[number].said:
            value = calls[number].event.arguments[name]
            if value is None or isinstance(value, bool) or _is_worded(tool, name):
                continue
            value_type = tool.parameter(name).type
            if not value_spans(plain(text), value, value_type):
                missing.append(f"{tool.name}.{name} = {format_value(value, value_type)}")
    return list(dict.fromkeys(missing))


def _is_worded(tool: Tool, name: str) -> bool:
    """Whether phrases of their own say the value in other words."""
    return isinstance(tool.phrases, PhrasesByArgument) and tool.phrases.parameter == name


def find_unknowable(
    environment: Environment, calls: Sequence[PlannedCall], numbers: Sequence[int], known: str
) -> list[str]:
    """The arguments of those calls that a caller who has ``known`` (the request and its values) could not know.

    An argument that comes from an earlier result or from the trace is known by construction. One without an origin, as
    in an imported trace, must be stated or occur in an earlier result.
    """
    unknowable: list[str] = []
    for number in numbers:
        tool = environment.tools[calls[number].event.tool]
        seen = [value for call in calls[:number] for value in scalars(call.event.result)]
        for name, argument in calls[number].event.arguments.items():
            if not isinstance(calls[number].origins.get(name, SaidByUser()), SaidByUser):
                continue
            value_type = tool.parameter(name).type
            for value in scalars(argument):
                if value is None or isinstance(value, bool) or value in seen:
                    continue
                if not any(mentions(known, str(spelling)) for spelling in _spellings(value, value_type)):
                    unknowable.append(f"{tool.name}.{name} = {value}")
    return list(dict.fromkeys(unknowable))


def _spellings(value: Json, value_type: ValueType) -> list[Json]:
    """The spellings of a value that a text may use: in words, as JSON, and a whole amount without decimals."""
    whole = [str(int(value))] if isinstance(value, float) and value.is_integer() else []
    return [format_value(value, value_type), str(value), *whole]


def mentions(text: str, value: str) -> bool:
    """Whether a text states a value as a whole."""
    # 22.6 must not be found inside 122.65, nor 122.65 inside 9,122.65.
    return re.search(rf"(?<![\w.])(?<!\d,){re.escape(value)}(?!\w|[.,]\d)", text) is not None


def check_wording(environment: Environment, trace: Trace, instruction: Instruction) -> list[str]:
    """Defects found without a reader: leaks (also in the variables), missing values, tool names in a goal."""
    calls = literal_calls(environment, trace.calls)
    numbers = goal_calls(environment, trace.initial, calls) if instruction.style == "goal" else range(len(calls))
    whole = f"{instruction.text}\n{instruction.variables}"
    objections = [f"it reveals a hidden step: {leak!r}" for leak in find_leaks(environment, whole)]
    objections += [f"it does not say {what}" for what in find_missing(environment, calls, numbers, instruction.text)]
    if instruction.style == "goal":
        named = _stem_matches(instruction.text, [call.event.tool for call in calls])
        objections += [f"a goal must not name a tool, but it says {name!r}" for name in dict.fromkeys(named)]
    return objections


def check_reader_calls(
    environment: Environment, trace: Trace, style: Style, reading: Sequence[ReaderCall]
) -> list[str]:
    """Defects of the calls that a reader derived from the instruction; empty if they have the effect of the trace.

    For a workflow: the same literal calls in the same order. For a goal: the target state.
    """
    events, final, trouble = _simulate(environment, trace.initial, reading)
    if trouble:
        return [trouble]
    if style == "goal":
        differences = compare_states(environment, trace.initial, trace.final, final)
        return [f"acting on it reaches another state: {difference}" for difference in differences]
    expected = [planned.event for planned in literal_calls(environment, trace.calls)]
    for number, (wanted, read) in enumerate(zip(expected, events, strict=False), 1):
        if not _same_call(environment, wanted, read):
            return [f"step {number} reads as {_call_text(read)}, not as {_call_text(wanted)}"]
    if len(expected) != len(events):
        return [f"it reads as {len(events)} steps, not as {len(expected)}"]
    return []


def _simulate(
    environment: Environment, initial: State, reading: Sequence[ReaderCall]
) -> tuple[list[Event], State, str | None]:
    session = Session(environment, initial)
    for number, read in enumerate(reading, 1):
        arguments: dict[str, Json] = {}
        for name, value in read.arguments.items():
            try:
                arguments[name] = _resolve(value, session.events)
            except (LookupError, TypeError):
                reason = f"call {number} ({read.tool}) of the reading takes {name!r} from a missing result"
                return session.events, session.state, reason
        event = session.call(read.tool, arguments).event
        if not event.completed:
            reason = event.error or "it did not succeed"
            return session.events, session.state, f"call {number} of the reading, {_call_text(event)}, fails: {reason}"
    return session.events, session.state, None


def _resolve(argument: ReaderArgument, events: Sequence[Event]) -> Json:
    match argument:
        case ReaderReference(from_call=number, path=path):
            if not 1 <= number <= len(events):
                raise LookupError(number)
            return resolve_path(events[number - 1].result, path)
        case list():
            return [_resolve(item, events) for item in argument]
        case _:
            return argument


def _same_call(environment: Environment, wanted: Event, read: Event) -> bool:
    if wanted.tool != read.tool:
        return False
    tool = environment.tools[wanted.tool]
    try:
        return decode_arguments(tool, wanted.arguments) == decode_arguments(tool, read.arguments)
    except (WrongType, WrongFormat):
        return False


def _call_text(event: Event) -> str:
    arguments = (f"{name}={_readable(value)}" for name, value in event.arguments.items())
    return f"{event.tool}({', '.join(arguments)})"


def _readable(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else repr(value)
