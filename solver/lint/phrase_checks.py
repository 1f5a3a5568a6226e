"""Checks of the phrases of tools: missing phrases, and words that leak a compliance call."""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import FromLookup, FromTrace, PhrasesByArgument, Tool
from lawtrace.solver.lint.findings import DeclarationIssue
from lawtrace.solver.masking.instructions import find_leaks


def check_phrases(environment: Environment) -> Iterator[DeclarationIssue]:
    """Phrases that are missing, or that would make every instruction for a call fail the masking checks."""
    referred = {
        parameter.source.entity.table
        for tool in environment.tools.values()
        for parameter in tool.parameters
        if isinstance(parameter.source, FromLookup)
    }
    for tool in environment.tools.values():
        if tool.phrases is None:
            continue
        for name in ("step", "outcome", "noun_phrase"):
            texts = {case: getattr(phrases, name) for case, phrases in tool.phrases.variants.items()}
            yield from _check_variants(environment, tool, name, {case: text for case, text in texts.items() if text})
        yield from _missing_phrases(environment, tool, referred)


def _missing_phrases(environment: Environment, tool: Tool, referred: AbstractSet[str]) -> Iterator[DeclarationIssue]:
    variants = tool.phrases.variants.values() if tool.phrases else ()
    if tool.name in environment.changing_tools and all(phrases.outcome is None for phrases in variants):
        yield DeclarationIssue(
            f"tool {tool.name!r}, phrases",
            "it changes the state that a goal is about, but has no `outcome` phrase",
            "give it an `outcome`, or no goal can ask for it",
        )
    revealed = {result.entity.table for result in tool.revealing_results} & referred
    if revealed and all(phrases.noun_phrase is None for phrases in variants):
        yield DeclarationIssue(
            f"tool {tool.name!r}, phrases",
            f"other tools refer to the {sorted(revealed)[0]} that it finds, but it has no `noun_phrase`",
            "give it a `noun_phrase` ('the {type} account'), or users must state identifiers",
        )


def _check_variants(
    environment: Environment, tool: Tool, name: str, variants: Mapping[str, str]
) -> Iterator[DeclarationIssue]:
    """Check one phrase of a tool, in each variant that depends on an argument."""
    for case, phrase in variants.items():
        # An optional argument may be stated by another variant.
        optional = [f"{{{parameter.name}}}" for parameter in tool.parameters if not parameter.required]
        elsewhere = " ".join(field for field in optional if any(field in text for text in variants.values()))
        selector = tool.phrases.parameter if isinstance(tool.phrases, PhrasesByArgument) else None
        if name == "noun_phrase" and not tool.lookups:
            # A noun phrase for a created row need only distinguish it; one for a look-up states all search arguments.
            elsewhere = " ".join(f"{{{parameter.name}}}" for parameter in tool.parameters)
        yield from _check_phrase(environment, tool, f"{name} of {case}" if case else name, phrase, elsewhere, selector)


def _check_phrase(
    environment: Environment, tool: Tool, name: str, phrase: str, elsewhere: str, selector: str | None
) -> Iterator[DeclarationIssue]:
    place = f"tool {tool.name!r}, phrase {name!r}"
    unconditional = re.sub(r"\[\w+:[^\]]*\]", "", phrase)
    for parameter in tool.parameters:
        field = f"{{{parameter.name}}}"
        if isinstance(parameter.source, FromTrace) or parameter.name == selector:
            continue
        if field in elsewhere and field not in phrase:
            continue
        boolean = parameter.type.schema()["type"] == "boolean"
        if not parameter.required and field in unconditional:
            yield DeclarationIssue(
                place,
                f"it always states {field}, but {parameter.name!r} may be left out",
                f"write [{parameter.name}: ... {field} ...], which appears only if it is given",
            )
        elif field not in phrase and not (boolean and f"[{parameter.name}:" in phrase):
            yield DeclarationIssue(
                place,
                f"it does not state {parameter.name!r}, which a reader could then not know",
                f"put {field} into it",
            )
    leaks = find_leaks(environment, re.sub(r"\{\w+\}|\[\w+:", " ", phrase))
    if leaks:
        yield DeclarationIssue(
            place,
            f"it reveals a compliance step: {leaks[0]!r}; every instruction with it would be rejected",
            "use other words, or narrow the leak words",
        )
