"""Checks of an environment declaration with its rules: what is useless or probably wrong, with a remedy for each.

    for issue in lint_declaration(environment, rules, regulation):
        print(issue.place, issue.what, issue.remedy)

An invalid declaration is rejected when it is built (`lawtrace.environments.spec.validation`). The checks here find
valid declarations that are useless. A claim that something can never happen is proved; without a proof no issue is
reported.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from random import Random

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Insert, InsertEach, RowsResult
from lawtrace.environments.spec.terms import arguments_of, tables_of
from lawtrace.environments.spec.tools import FromLookup, FromTrace, PhrasesByArgument, Tool
from lawtrace.solver.lint.findings import DeclarationIssue
from lawtrace.solver.lint.initial_states import SEEDS_CHECKED, check_initial_states
from lawtrace.solver.lint.rule_grounds import find_ungrounded
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.masking.instructions import find_leaks
from lawtrace.solver.rules import Rule


def lint_declaration(
    environment: Environment, rules: Sequence[Rule], regulation: Regulation, progress: Callable[[], None] = lambda: None
) -> tuple[DeclarationIssue, ...]:
    """All issues found: of an environment without state those of the rules.

    Checks of rules in the environment are skipped if the initial states are invalid.

    Args:
        environment: as declared.
        rules: its curated rule set, already accepted by `lawtrace.solver.rules.check_rules`.
        regulation: the regulation that the rules cite.
        progress: called again and again.
    """
    if not environment.simulated:
        return tuple(_check_rule_set(environment, rules, progress))
    static = (
        *_check_descriptions(environment),
        *_check_tool_roles(environment, rules),
        *_check_provisions(rules, regulation),
        *_check_grounds(environment, rules, regulation),
        *check_deadlines(environment, rules),
    )
    if invalid_states := tuple(check_initial_states(environment)):
        return (*invalid_states, *static)
    return (
        *_check_rule_set(environment, rules, progress),
        *_check_phrases(environment),
        *_check_agenda(environment),
        *static,
    )


def _check_rule_set(
    environment: Environment, rules: Sequence[Rule], progress: Callable[[], None]
) -> Iterator[DeclarationIssue]:
    """The findings of the rule-set analysis, above all tools that no compliant trace can call."""
    for finding in analyse_rules(environment, rules, progress=progress).findings:
        if finding.kind == "undecided":
            remedy = "none is needed; it may be all right"
            yield DeclarationIssue("rules", finding.message, remedy, finding.proof, undecided=True)
            continue
        if finding.kind == "unreachable":
            if finding.tool is not None and environment.tools[finding.tool].undeclared is not None:
                continue
            place, what = f"tool {finding.tool!r}", finding.message
            remedy = "check its refusals, add a tool that looks up its references, or loosen the rules named"
        else:
            place, what = f"rule {', '.join(finding.rules)}", f"{finding.kind}: {finding.message}"
            remedy = "change or drop one of the rules named; `lawtrace rules check` shows more"
        yield DeclarationIssue(place, what, remedy, finding.proof)


def _check_descriptions(environment: Environment) -> Iterator[DeclarationIssue]:
    """Parameters without effect, and missing descriptions."""
    for tool in environment.tools.values():
        used = {name for term in tool.terms for name in arguments_of(term)}
        for parameter in tool.parameters:
            if parameter.name not in used and tool.undeclared is None:
                yield DeclarationIssue(
                    f"tool {tool.name!r}, parameter {parameter.name!r}",
                    "it is never used: a wrong value goes unnoticed, because the call does the same",
                    "let an effect store it or a result depend on it, or remove it",
                )
        described = [
            ("the tool", tool.summary),
            *((f"parameter {parameter.name!r}", parameter.description) for parameter in tool.parameters),
            *((f"result {result.name!r}", result.description) for result in tool.results),
            *((f"exception {raised.exception}", raised.description) for raised in tool.raises),
            *(("a failure", failure.description) for failure in tool.fails),
        ]
        for thing, text in described:
            if not any(letter.isalpha() for letter in text):
                place, remedy = f"tool {tool.name!r}, {thing}", "describe it in a sentence; models read nothing else"
                yield DeclarationIssue(place, "it has no description", remedy)


def _check_agenda(environment: Environment) -> Iterator[DeclarationIssue]:
    """What happens without a call and is not described, is never planned, or makes no difference."""
    tools = environment.tools.values()
    inserted = {one.entity.table for tool in tools for one in tool.effects if isinstance(one, Insert | InsertEach)}
    shown = {result.entity.table for tool in tools for result in tool.results if isinstance(result, RowsResult)}
    seen = shown.union(*map(environment.changed_tables, tools), *(tables_of(t) for tool in tools for t in tool.terms))
    states = [environment.populate(Random(seed)) for seed in range(SEEDS_CHECKED if environment.agenda else 0)]
    for happening in environment.agenda:
        table = happening.entity.table
        place = f"what happens to {table!r}"
        if not any(letter.isalpha() for letter in happening.description):
            yield DeclarationIssue(place, "it has no description", "say in a sentence what happens; models read it")
        if table not in inserted and not any(state.tables.get(table) for state in states):
            what = f"no tool plans it, and none of {len(states)} initial states does"
            yield DeclarationIssue(place, what, "let populate or a tool make rows of the table, or remove it")
        if seen.isdisjoint(effect.entity.table for effect in happening.effects):
            what = "no tool shows or changes what it changes, or depends on it"
            yield DeclarationIssue(place, what, "let a look-up show it, or remove it")


def _check_phrases(environment: Environment) -> Iterator[DeclarationIssue]:
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


def _check_tool_roles(environment: Environment, rules: Sequence[Rule]) -> Iterator[DeclarationIssue]:
    """Compliance tools and events that do not fit together."""
    if not environment.compliance_tools:
        what = "no tool is a compliance tool, so masking hides nothing"
        yield DeclarationIssue("tools", what, "mark the tools that only serve the rules")
    records = any(isinstance(p.source, FromTrace) for tool in environment.tools.values() for p in tool.parameters)
    if environment.event_names and not records:
        yield DeclarationIssue(
            "tools",
            f"tools emit events ({environment.event_names[0]}), but no tool records them",
            "give a compliance tool a parameter FromTrace('pending_events', pending_events)",
        )
    named = {atom.tool for atom in s.atoms_of(rule.parsed for rule in rules)}
    judged = [tool for tool in environment.tools.values() if tool.name in named]
    shown = {table for tool in judged for term in tool.terms for table in tables_of(term)}
    for tool in environment.tools.values():
        place = f"tool {tool.name!r}"
        if tool.compliance and not tool.leak_words:
            yield DeclarationIssue(
                place,
                "it is a compliance tool without leak words, so an instruction may ask for it in other words",
                "list the stems of the words that would reveal it",
            )
        is_judged = tool.name in named or bool(environment.changed_tables(tool) & shown)
        if (tool.compliance or tool.critical) and not is_judged and isinstance(tool.duration, int):
            kind = "a compliance tool" if tool.compliance else "critical"
            what = f"it is {kind}, but no rule names it, and no tool that a rule names shows what it changes"
            yield DeclarationIssue(place, what, "write the rule that it serves, or remove the mark")


def _check_provisions(rules: Sequence[Rule], regulation: Regulation) -> Iterator[DeclarationIssue]:
    """Rules without a provision."""
    for rule in rules:
        if rule.regulation != regulation.id or not rule.provisions:
            yield DeclarationIssue(
                f"rule {rule.id!r}",
                f"it cites no provision of {regulation.id}",
                'cite the provision it comes from, or the entry of the manual with `source = "manual"`',
            )


def _check_grounds(
    environment: Environment, rules: Sequence[Rule], regulation: Regulation
) -> Iterator[DeclarationIssue]:
    """What rules demand and no reader of the provisions and the documentation can know."""
    for missing in find_ungrounded(environment, regulation, rules):
        yield DeclarationIssue(
            f"rule {missing.rule!r}",
            missing.sentence,
            "cite the provision that says it, say it in the tool's documentation if the tool works so, or drop that "
            "part of the rule",
            missing.searched_text,
            undecided=not missing.decided,
        )


def check_deadlines(environment: Environment, rules: Sequence[Rule]) -> Iterator[DeclarationIssue]:
    """Deadlines of duties that lie after the end of every session, so that missing them is never certain."""
    length = environment.clock.length
    for rule in rules:
        for window in dict.fromkeys(_duty_windows(rule.parsed, positive=True)):
            deadline = window.deadline(DEFAULT_START)
            if deadline is not None and deadline - DEFAULT_START >= length:
                yield DeclarationIssue(
                    f"rule {rule.id!r}",
                    f"its deadline {window} lies after the end of a session, which lasts {length} s, so a program that "
                    "ignores the duty is undetermined instead of broken",
                    "declare a longer session: Environment(clock=Clock(length=...))",
                )


def _duty_windows(formula: s.Formula, *, positive: bool) -> Iterator[Window]:
    """The windows within which something must happen. Negation turns a duty into a prohibition, and back."""
    match formula:
        case s.Not(operand):
            yield from _duty_windows(operand, positive=not positive)
        case s.Implies(left, right):
            yield from _duty_windows(left, positive=not positive)
            yield from _duty_windows(right, positive=positive)
        case _:
            duties = (s.Eventually, s.Until) if positive else (s.Always, s.Release, s.WeakUntil)
            if isinstance(formula, duties):
                yield formula.window
            for part in s.children(formula):
                yield from _duty_windows(part, positive=positive)
