"""Checks that the offline reader understands the phrases of a declaration; part of `lawtrace env check`.

A run with offline roles has each request read by the offline reader and rejects those that it misreads, so an
environment with such phrases gets no tasks without a model.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import cast, get_args

from lawtrace.agents.roles.instruction_roles import RequestReading, instruction_plan
from lawtrace.agents.scripted.request_parser import read_lines
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import Style
from lawtrace.solver.lint.declarations import DeclarationIssue
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import check_reader_calls
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace, literal_calls, replay

TRACES = 12
LENGTH = 8
REQUESTS = 2
"""How many requests are drawn for each tool that changes something."""
REMEDY = (
    "begin with telling words of the tool's name or summary, and call things as their identifiers are called ('the "
    "booking' for a booking_code); or have a model read requests (`independent_reader` in a recipe)"
)


def check_phrases(environment: Environment, rules: Sequence[Rule]) -> Iterator[DeclarationIssue]:
    """The phrases that are mostly read as another tool; if there are none, the styles that are mostly misread."""
    traces = [*_requests(environment)] if environment.facts else [*_traces(environment, rules)]
    tools = cast("Sequence[Mapping[str, object]]", document(environment)["tools"])
    for style in get_args(Style):
        lines, misread, objected = Counter[str](), dict[str, list[str]](), list[str]()
        for trace in traces:
            said = _said(environment, trace, style)
            calls, taken_for = read_lines([words for _, words in said], tools, goal=style == "goal")
            for (tool, words), taken in zip(said, taken_for, strict=True):
                lines[tool] += 1
                if taken not in {tool, None}:
                    misread.setdefault(tool, []).append(f"read as {taken}: {words}")
            if None in taken_for:
                continue
            reading = RequestReading.model_validate({"calls": calls}).calls
            objected += check_reader_calls(environment, trace, style, reading)[:1]
        phrase = "outcome" if style == "goal" else "step"
        wrong = {tool: examples for tool, examples in misread.items() if len(examples) * 2 > lines[tool]}
        for tool, examples in wrong.items():
            yield _flaw(f"tool {tool!r}, phrase {phrase!r}", examples[0])
        if not wrong and len(objected) * 2 > len(traces):
            yield _flaw(f"the phrases {phrase!r}", f"read as something else: {objected[0]}")


def _traces(environment: Environment, rules: Sequence[Rule]) -> Iterator[Trace]:
    return synthesize(environment, rules, count=TRACES, length=LENGTH, seed=1, mode="tasks")


def _requests(environment: Environment) -> Iterator[Trace]:
    """Requests without the compliance calls that complete them, since tasks are made of requests."""
    writer = RequestWriter(environment)
    for tool in writer.changes:
        for number in range(REQUESTS):
            random = Random(f"{environment.name}/{tool}/{number}")
            initial = environment.populate(random)
            calls = writer.draw(initial, [tool], random)
            if calls is None:
                continue
            yield Trace(initial, calls, replay(environment, initial, calls).state)


def _said(environment: Environment, trace: Trace, style: Style) -> list[tuple[str, str]]:
    """The tool and the words of each line of the request."""
    calls = literal_calls(environment, trace.calls)
    numbers = goal_calls(environment, trace.initial, calls) if style == "goal" else tuple(range(len(calls)))
    plan = cast("Sequence[Mapping[str, str]]", instruction_plan(environment, calls, numbers, style))
    return [(entry["tool"], entry["in_words"]) for entry in plan]


def _flaw(place: str, what: str) -> DeclarationIssue:
    return DeclarationIssue(place, f"without a model it is {what}", REMEDY)
