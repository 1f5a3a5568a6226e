"""Phrases that cannot be put into an instruction, and words in them that would give a compliance step away."""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from random import Random

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, PhrasesByArgument, Tool
from lawtrace.solver.lint.findings import DeclarationIssue
from lawtrace.solver.lint.initial_states import sample_arguments
from lawtrace.solver.masking.instructions import find_leaks
from lawtrace.solver.masking.wording import format_value

SAMPLED_CALLS = 20


def check_phrases(environment: Environment) -> Iterator[DeclarationIssue]:
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
        for name in ("step", "outcome", "thing"):
            texts = {case: getattr(phrases, name) for case, phrases in tool.phrases.variants.items()}
            yield from _phrases(environment, tool, name, {case: text for case, text in texts.items() if text})
        yield from _missing_phrases(environment, tool, looked_up)
        yield from _leaking_values(environment, tool)


def _missing_phrases(environment: Environment, tool: Tool, looked_up: AbstractSet[str]) -> Iterator[DeclarationIssue]:
    variants = tool.phrases.variants.values() if tool.phrases else ()
    if tool.name in environment.changing_tools and all(phrases.outcome is None for phrases in variants):
        yield DeclarationIssue(
            kind="phrase",
            place=f"tool {tool.name!r}, phrases",
            what="it changes what a goal is about, and no phrase says so",
            remedy="give it an `outcome`, or no goal can ask for it",
        )
    teaches = {result.entity.table for result in tool.revealing_results} & looked_up
    if teaches and all(phrases.noun_phrase is None for phrases in variants):
        yield DeclarationIssue(
            kind="phrase",
            place=f"tool {tool.name!r}, phrases",
            what=f"other tools refer to the {sorted(teaches)[0]} that it finds, and no phrase names one",
            remedy="give it a `thing` ('the {type} account'), or users must say identifiers",
        )


def _phrases(environment: Environment, tool: Tool, name: str, cases: Mapping[str, str]) -> Iterator[DeclarationIssue]:
    """The phrases of one name, for every case of the argument that they may depend on."""
    for case, phrase in cases.items():
        # What one case has no use for, another may say.
        optional = [f"{{{parameter.name}}}" for parameter in tool.parameters if not parameter.required]
        elsewhere = " ".join(said for said in optional if any(said in text for text in cases.values()))
        chooses = tool.phrases.parameter if isinstance(tool.phrases, PhrasesByArgument) else None
        if name == "thing" and not tool.lookups:
            # Of what a call made, users say what tells it from others; of what is looked up, all that finds it.
            elsewhere = " ".join(f"{{{parameter.name}}}" for parameter in tool.parameters)
        yield from _phrase(environment, tool, f"{name} of {case}" if case else name, phrase, elsewhere, chooses)


def _phrase(
    environment: Environment, tool: Tool, name: str, phrase: str, elsewhere: str, chooses: str | None
) -> Iterator[DeclarationIssue]:
    place = f"tool {tool.name!r}, phrase {name!r}"
    always = re.sub(r"\[\w+:[^\]]*\]", "", phrase)
    for parameter in tool.parameters:
        said = f"{{{parameter.name}}}"
        if isinstance(parameter.source, FromTrace) or parameter.name == chooses:
            continue
        if said in elsewhere and said not in phrase:
            continue
        boolean = parameter.kind.schema()["type"] == "boolean"
        if not parameter.required and said in always:
            yield DeclarationIssue(
                kind="phrase",
                place=place,
                what=f"it says {said} always, and {parameter.name!r} may be left out",
                remedy=f"write [{parameter.name}: ... {said} ...], which appears only where it is given",
            )
        elif said not in phrase and not (boolean and f"[{parameter.name}:" in phrase):
            yield DeclarationIssue(
                kind="phrase",
                place=place,
                what=f"it does not say {parameter.name!r}, which nobody could then know",
                remedy=f"put {said} into it",
            )
    leaks = find_leaks(environment, re.sub(r"\{\w+\}|\[\w+:", " ", phrase))
    if leaks:
        yield DeclarationIssue(
            kind="phrase",
            place=place,
            what=f"it gives a compliance step away: {leaks[0]!r}; every instruction with it would be rejected",
            remedy="say it in other words, or narrow the telltales",
        )


def _leaking_values(environment: Environment, tool: Tool) -> Iterator[DeclarationIssue]:
    """What users say of their own must not give a compliance step away either."""
    random, told = Random(0), set[str]()
    for _ in range(SAMPLED_CALLS):
        drawn = sample_arguments(tool, environment.populate(random), random)
        for parameter in tool.parameters:
            value = drawn.get(parameter.name)
            if value is None or parameter.name in told or not isinstance(parameter.source, FromUser):
                continue
            words = format_value(parameter.kind.encode(value), parameter.kind)
            if leaks := find_leaks(environment, words):
                told.add(parameter.name)
                yield DeclarationIssue(
                    kind="phrase",
                    place=f"tool {tool.name!r}, parameter {parameter.name!r}",
                    what=f"what a user says for it can give a compliance step away: {leaks[0]!r}",
                    remedy="choose other names in the initial states, or narrow the telltales",
                    proof=f"For example {words!r}.",
                )
