"""Rule examples: traces that keep, break or leave open a rule, run against it, and the words that they rest on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.interpretations import legality_of, question_groups
from lawtrace.solver.logic.signature import Declared, Signature, environment_signature
from lawtrace.solver.logic.terms import kind_of
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.rule_status import OUTCOMES
from lawtrace.solver.rules import Rule, RuleExample, RuleFile, SessionExample
from lawtrace.solver.trace_notation import WrittenTrace, read_trace


@dataclass(frozen=True, slots=True)
class ExampleFinding:
    """What is wrong with an example.

    Attributes:
        rule: the id of the rule; empty for an example of the whole rule set.
        example: which one, such as ``example 2, kept``.
        message: a sentence.
    """

    rule: str
    example: str
    message: str


def count_examples(file: RuleFile) -> int:
    """The number of traces."""
    return sum(len(example.traces) for _, examples in file.examples for example in examples) + len(file.sessions)


def run_examples(file: RuleFile, environment: Environment, regulation: Regulation) -> tuple[ExampleFinding, ...]:
    """Run all examples of a rule file.

    A trace must have the verdict that it stands under, call what is declared, and name a tool of its rule. The words
    must be in a provision that the rule cites.
    """
    signature = environment_signature(environment)
    together = Monitor({rule.id: rule.compiled for rule in file.rules} if file.sessions else {})
    return (
        *(
            ExampleFinding(rule.id, f"example {number}{place}", message)
            for rule, examples in file.examples
            for number, example in enumerate(examples, 1)
            for place, message in (*_misquoted(rule, example, regulation), *_misjudged(rule, example, signature))
        ),
        *(
            ExampleFinding("", f"example {number}, {example.about!r}", message)
            for number, example in enumerate(file.sessions, 1)
            for message in _session_faults(file.rules, together, example, signature)
        ),
    )


def _misquoted(rule: Rule, example: RuleExample, regulation: Regulation) -> Iterator[tuple[str, str]]:
    if not example.words or rule.regulation != regulation.id:
        return
    cited = [_plain(part.words()) for citation in rule.provisions for part in regulation.cited(citation)]
    if not any(_contains(text, example.words) for text in cited):
        yield "", f"the words {example.words!r} are in none of the provisions that the rule cites"


def _contains(text: str, words: str) -> bool:
    """Whether the parts between the ellipses follow one another in the text."""
    place = 0
    for part in map(_plain, words.split("...")):
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _misjudged(rule: Rule, example: RuleExample, signature: Signature) -> Iterator[tuple[str, str]]:
    for expected, text in example.traces.items():
        place = f", {expected}"
        try:
            trace = read_trace(text)
            if faults := list(_undeclared(trace.events, signature)):
                yield from ((place, fault) for fault in faults)
                continue
            if not any(event.tool in rule.tools for event in trace.events) and expected == "kept":
                yield place, f"no call is of a tool that the rule names ({', '.join(sorted(rule.tools))})"
            (found,) = _judge(Monitor({rule.id: rule.compiled}), trace).values()
        except InputError as error:
            yield place, str(error)
            continue
        if found != expected:
            yield place, f"the rule is {found}"


def _session_faults(
    rules: Sequence[Rule], together: Monitor, example: SessionExample, signature: Signature
) -> Iterator[str]:
    """`together`: the monitor of all rules."""
    try:
        trace = read_trace(example.trace)
        if faults := list(_undeclared(trace.events, signature)):
            yield from faults
            return
        found = _judge(together, trace)
    except InputError as error:
        yield str(error)
        return
    verdict = legality_of(question_groups(rules), rules, found)
    if example.verdict not in (None, verdict):
        yield f"it is {verdict}, not {example.verdict}"
    for rule in example.breaks:
        if found.get(rule) == "kept":
            yield f"{rule} is kept"
        elif rule not in found:
            yield f"there is no rule {rule!r}"
    yield from (
        f"{rule} is {verdict}" for rule, verdict in found.items() if verdict != "kept" and rule not in example.breaks
    )


def _judge(monitor: Monitor, trace: WrittenTrace) -> Mapping[str, TraceOutcome]:
    """What the trace does to each rule. Raises InputError for a rule about time if an event has none."""
    monitor.clear()
    monitor.run(trace.events)
    statuses = monitor.statuses(trace.end)
    for rule, status in statuses.items():
        if status.unknown:
            raise InputError(f"{rule} cannot be judged: {status.unknown}")
    return {rule: OUTCOMES[status.ending] for rule, status in statuses.items()}


def _undeclared(events: tuple[Event, ...], signature: Signature) -> Iterator[str]:
    """What a call has that no declaration of its tool knows."""
    for event in events:
        tool = signature.get(event.tool)
        if tool is None:
            yield f"there is no tool `{event.tool}`"
            continue
        arguments = Declared("object", fields=tool.arguments)
        for field, message in (
            *_misfits(dict(event.arguments), arguments, ""),
            *_misfits(event.result, tool.result, ""),
        ):
            yield f"`{event.tool}`: {field.removeprefix('.') or 'the result'} {message}"


def _misfits(value: Json, declared: Declared, field: str) -> Iterator[tuple[str, str]]:
    """The fields of a value that do not exist, and those of another kind."""
    if value is None:
        return
    if declared.kind is not None and kind_of(value) != declared.kind:
        yield field, f"is a {kind_of(value)}, not a {declared.kind}"
    elif isinstance(value, list):
        for item in value:
            yield from _misfits(item, declared.elements or Declared(), field)
    elif isinstance(value, dict) and declared.fields is not None:
        for name, part in value.items():
            known = declared.fields.get(name, declared.others)
            if known is None:
                yield f"{field}.{name}", "does not exist"
            else:
                yield from _misfits(part, known, f"{field}.{name}")
