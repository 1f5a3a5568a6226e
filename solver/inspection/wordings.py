"""Phrases that cannot be put into an instruction, and words in them that would give a compliance step away."""

import re
from collections.abc import Iterator
from random import Random

from environments.declaration import Environment, FromLookup, FromTrace, FromUser, Tool
from solver.inspection.drawing import draw_arguments
from solver.inspection.flaws import Flaw
from solver.masking import find_leaks
from solver.wording import say_value

__all__ = ["inspect_wordings"]

DRAWS = 20


def inspect_wordings(environment: Environment) -> Iterator[Flaw]:
    """What would have every instruction for a call rejected, or leave it without words."""
    looked_up = {
        parameter.source.entity.table
        for tool in environment.tools.values()
        for parameter in tool.parameters
        if isinstance(parameter.source, FromLookup)
    }
    for tool in environment.tools.values():
        if tool.phrases is None:
            continue
        yield from _phrase(environment, tool, "step", tool.phrases.step)
        if tool.phrases.outcome is not None:
            yield from _phrase(environment, tool, "outcome", tool.phrases.outcome)
        elif tool.name in environment.changing_tools:
            yield Flaw(
                kind="phrase",
                place=f"tool {tool.name!r}, phrases",
                what="it changes what a goal is about, and no phrase says so",
                remedy="give it an `outcome`, or no goal can ask for it",
            )
        teaches = {result.entity.table for result in tool.teaching} & looked_up
        if tool.phrases.thing is not None:
            yield from _phrase(environment, tool, "thing", tool.phrases.thing)
        elif teaches:
            yield Flaw(
                kind="phrase",
                place=f"tool {tool.name!r}, phrases",
                what=f"other tools refer to the {sorted(teaches)[0]} that it finds, and no phrase names one",
                remedy="give it a `thing` ('the {type} account'), or users must say identifiers",
            )
        yield from _values(environment, tool)


def _phrase(environment: Environment, tool: Tool, name: str, phrase: str) -> Iterator[Flaw]:
    place = f"tool {tool.name!r}, phrase {name!r}"
    always = re.sub(r"\[\w+:[^\]]*\]", "", phrase)
    for parameter in tool.parameters:
        said = f"{{{parameter.name}}}"
        if isinstance(parameter.source, FromTrace):
            continue
        boolean = parameter.kind.schema()["type"] == "boolean"
        if not parameter.required and said in always:
            yield Flaw(
                kind="phrase",
                place=place,
                what=f"it says {said} always, and {parameter.name!r} may be left out",
                remedy=f"write [{parameter.name}: ... {said} ...], which appears only where it is given",
            )
        elif name == "thing" and tool.phrases and tool.phrases.outcome:
            continue  # the outcome says it; the phrase only points at what the call made
        elif said not in phrase and not (boolean and f"[{parameter.name}:" in phrase):
            yield Flaw(
                kind="phrase",
                place=place,
                what=f"it does not say {parameter.name!r}, which nobody could then know",
                remedy=f"put {said} into it",
            )
    leaks = find_leaks(environment, re.sub(r"\{\w+\}|\[\w+:", " ", phrase))
    if leaks:
        yield Flaw(
            kind="phrase",
            place=place,
            what=f"it gives a compliance step away: {leaks[0]!r}; every instruction with it would be rejected",
            remedy="say it in other words, or narrow the telltales",
        )


def _values(environment: Environment, tool: Tool) -> Iterator[Flaw]:
    """What users say of their own must not give a compliance step away either."""
    random, told = Random(0), set[str]()
    for _ in range(DRAWS):
        drawn = draw_arguments(tool, environment.populate(random), random)
        for parameter in tool.parameters:
            value = drawn.get(parameter.name)
            if value is None or parameter.name in told or not isinstance(parameter.source, FromUser):
                continue
            words = say_value(parameter.kind.encode(value), parameter.kind)
            if leaks := find_leaks(environment, words):
                told.add(parameter.name)
                yield Flaw(
                    kind="phrase",
                    place=f"tool {tool.name!r}, parameter {parameter.name!r}",
                    what=f"what a user says for it can give a compliance step away: {leaks[0]!r}",
                    remedy="choose other names in the initial states, or narrow the telltales",
                    proof=f"For example {words!r}.",
                )
