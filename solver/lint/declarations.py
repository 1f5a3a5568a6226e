"""Checks of an environment declaration with its rules: what is useless or probably wrong, with a remedy for each.

    for issue in lint_declaration(environment, rules, regulation):
        print(issue.place, issue.what, issue.remedy)

An invalid declaration is rejected when it is built (`lawtrace.environments.spec.validation`). The checks here find
valid declarations that are useless. A claim that something can never happen is proved; without a proof no issue is
reported.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, RowsResult, ValueResult
from lawtrace.environments.spec.terms import arguments_of, fields_of
from lawtrace.environments.spec.tools import FromTrace, Parameter
from lawtrace.environments.spec.types import ListOf, WrongFormat, WrongType, is_text_type, type_at
from lawtrace.solver.lint.cross_references import cross_reference
from lawtrace.solver.lint.findings import DeclarationIssue
from lawtrace.solver.lint.initial_states import check_initial_states, check_traces
from lawtrace.solver.lint.phrase_checks import check_phrases
from lawtrace.solver.lint.rule_grounds import find_ungrounded
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.logic import terms
from lawtrace.solver.logic.conditions import Comparison, Condition, ElementCondition, Operator, condition_parts
from lawtrace.solver.logic.syntax import (
    Always,
    Eventually,
    Formula,
    Implies,
    Not,
    Release,
    Until,
    WeakUntil,
    atoms_of,
    children,
)
from lawtrace.solver.logic.terms import Element, FieldPath, LiteralList, LiteralValue
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.rules import Rule

Path = tuple[str | int, ...]
"""Steps into an argument."""


def lint_declaration(
    environment: Environment,
    rules: Sequence[Rule],
    regulation: Regulation,
    progress: Callable[[], None] = lambda: None,
) -> tuple[DeclarationIssue, ...]:
    """All issues found. Checks that begin with an initial state are skipped if the initial states are invalid.

    Args:
        environment: as declared.
        rules: its curated rule set, already accepted by `lawtrace.solver.rules.check_rules`.
        regulation: the regulation that the rules cite.
        progress: called again and again.
    """
    static = (
        *_check_descriptions(environment),
        *_check_tool_roles(environment, rules, regulation),
        *_check_provisions(environment, rules, regulation),
        *check_rule_constants(environment, rules),
        *_check_grounds(environment, rules, regulation),
        *check_deadlines(environment, rules),
        *_check_format_exceptions(environment),
        *check_facts(environment),
    )
    if invalid_states := tuple(check_initial_states(environment)):
        return (*invalid_states, *static)
    return (
        *_check_rule_set(environment, rules, progress),
        *check_phrases(environment),
        *static,
        *check_traces(environment, rules, progress),
    )


def lint_recorded_tools(
    environment: Environment,
    rules: Sequence[Rule],
    regulation: Regulation,
    progress: Callable[[], None] = lambda: None,
) -> tuple[DeclarationIssue, ...]:
    """The issues of an environment without state: those of the rules. Parameters as of `lint_declaration`."""
    return (
        *_check_rule_set(environment, rules, progress),
        *(one for one in _check_provisions(environment, rules, regulation) if one.place.startswith("provision")),
        *check_rule_constants(environment, rules),
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
            if parameter.name not in used:
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


def _check_tool_roles(
    environment: Environment, rules: Sequence[Rule], regulation: Regulation
) -> Iterator[DeclarationIssue]:
    """Compliance tools, critical tools and events that do not fit together."""
    records = any(isinstance(p.source, FromTrace) for tool in environment.tools.values() for p in tool.parameters)
    for missing, what, remedy in (
        (
            not environment.compliance_tools,
            "no tool is a compliance tool, so masking hides nothing",
            "mark the tools that only serve the rules",
        ),
        (
            not environment.critical_tools,
            "no tool is critical, so S.C. coverage has no meaning",
            "mark the tools that the rules are about",
        ),
        (
            not environment.changing_tools,
            "no ordinary tool changes anything, so a goal cannot be stated",
            "give one an effect",
        ),
        (
            environment.event_names and not records,
            f"tools emit events ({', '.join(environment.event_names[:1])}), but no tool records them",
            "give a compliance tool a parameter FromTrace('pending_events', pending_events)",
        ),
    ):
        if missing:
            yield DeclarationIssue("tools", what, remedy)
    rules_of_tool = cross_reference(environment, regulation, rules).tools
    for tool in environment.tools.values():
        place, named = f"tool {tool.name!r}", bool(rules_of_tool[tool.name].rules)
        if tool.compliance and not tool.leak_words:
            yield DeclarationIssue(
                place,
                "it is a compliance tool without leak words, so an instruction may ask for it in other words",
                "list the stems of the words that would reveal it",
            )
        if tool.compliance and not named:
            yield DeclarationIssue(
                place,
                "it is a compliance tool, but no rule names it, so hiding it changes nothing",
                "write the rule that it serves, or make it an ordinary tool",
            )
        elif tool.critical and not named:
            remedy = "write the rule that makes it critical, or remove the mark"
            yield DeclarationIssue(place, "it is critical, but no rule names it", remedy)


def _check_provisions(
    environment: Environment, rules: Sequence[Rule], regulation: Regulation
) -> Iterator[DeclarationIssue]:
    """Rules without a provision, and provisions with a reading but without a rule."""
    references = cross_reference(environment, regulation, rules)
    for rule in references.rules_without_provisions:
        yield DeclarationIssue(
            f"rule {rule!r}",
            f"it cites no provision of {regulation.id}",
            "cite the provision it comes from; if it goes further than the text, say why in `derived`",
        )
    for citation in references.provisions_without_rules:
        if regulation.by_citation[citation].reading is not None:
            yield DeclarationIssue(
                f"provision {citation!r}",
                "its reading applies it to the tools, but no rule cites it",
                "write the rule, or remove the reading",
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


def check_rule_constants(environment: Environment, rules: Sequence[Rule]) -> Iterator[DeclarationIssue]:
    """Comparisons of an argument with a text that the argument can never equal or contain."""
    for rule in rules:
        for atom in atoms_of([rule.parsed]):
            tool = environment.tools.get(atom.tool)
            if tool is None:  # a message
                continue
            for comparison, elements in _comparisons(atom.condition):
                for field, text in _text_comparisons(comparison):
                    path = elements.get(field.name, ()) + field.path if isinstance(field, Element) else field.path
                    parameter = next((p for p in tool.parameters if path[:1] == (p.name,)), None)
                    if parameter is not None and (
                        reason := _why_impossible(environment, parameter, path[1:], comparison.operator, text)
                    ):
                        yield DeclarationIssue(
                            f"rule {rule.id!r}",
                            f"`{comparison}` matches no call of {tool.name}: {reason}",
                            "use a value that the argument can have, or an event that a tool `emits`",
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


def _duty_windows(formula: Formula, *, positive: bool) -> Iterator[Window]:
    """The windows within which something must happen. Negation turns a duty into a prohibition, and back."""
    match formula:
        case Not(operand):
            yield from _duty_windows(operand, positive=not positive)
        case Implies(left, right):
            yield from _duty_windows(left, positive=not positive)
            yield from _duty_windows(right, positive=positive)
        case _:
            duties = (Eventually, Until) if positive else (Always, Release, WeakUntil)
            if isinstance(formula, duties):
                yield formula.window
            for part in children(formula):
                yield from _duty_windows(part, positive=positive)


def _comparisons(
    condition: Condition | None, elements: Mapping[str, Path] = MappingProxyType({})
) -> Iterator[tuple[Comparison, Mapping[str, Path]]]:
    """The comparisons in a condition, each with the fields of whose lists the named elements are."""
    if isinstance(condition, Comparison):
        yield condition, elements
    if isinstance(condition, ElementCondition):
        of = condition.elements
        inside = elements.get(of.name, ()) + of.path if isinstance(of, Element) else ()
        path = of.path if isinstance(of, FieldPath) else inside
        elements = {**elements, condition.name: path}
    for part in condition_parts(condition) if condition is not None else ():
        yield from _comparisons(part, elements)


def _text_comparisons(comparison: Comparison) -> Iterator[tuple[FieldPath | Element, str]]:
    """The field of an argument, or of an element of it, with each text that it is compared with."""
    for one, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(one, FieldPath | Element):
            yield from ((one, text) for text in _text_literals(other))


def _text_literals(operand: terms.Term) -> Iterator[str]:
    constants = operand.items if isinstance(operand, LiteralList) else (operand,)
    for constant in constants:
        if isinstance(constant, LiteralValue) and isinstance(constant.content, str):
            yield constant.content


def _why_impossible(
    environment: Environment, parameter: Parameter, path: Path, operator: Operator, text: str
) -> str | None:
    """Why no part of the argument there can compare so with the text; None if one can."""
    source = parameter.source
    if isinstance(source, FromTrace) and source.function is pending_events and text not in environment.event_names:
        nearest = difflib.get_close_matches(text, environment.event_names, 1)
        return f"no tool emits {text!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else "")
    part = type_at(parameter.type, path)
    while isinstance(part, ListOf):
        part = part.items
    if part is None or (is_text_type(part) and operator not in ("==", "!=", "in")):
        return None  # any text is before or after others, and may begin, end or contain one
    try:
        part.decode(text)
    except (WrongFormat, WrongType) as error:
        return str(error)
    return None


def check_facts(environment: Environment) -> Iterator[DeclarationIssue]:
    """Facts that no rule can depend on, because no result shows them."""
    results = [result for tool in environment.tools.values() for result in tool.results]
    shown: set[tuple[str, str]] = set()
    read: set[tuple[str, str]] = set()
    for result in results:
        match result:
            case RowsResult():
                for rows in (result, *result.parts):
                    shown |= {(rows.entity.table, name) for name in rows.fields}
                read |= {field for term in result.terms() for field in fields_of(term)}
            case ValueResult(term=term):
                read |= set(fields_of(term))
            case KeyResult():
                pass
    for fact in environment.facts:
        if (fact.entity.table, fact.field) not in shown | read:
            yield DeclarationIssue(
                f"fact {fact.name!r}",
                f"no rule can depend on it: no result shows the field {fact.field!r} of {fact.entity.table!r}",
                "show the field in the result of a look-up, or remove the fact",
            )


def _check_format_exceptions(environment: Environment) -> Iterator[DeclarationIssue]:
    """Exceptions without a condition mean a malformed argument; no parameter of the tool can be malformed."""
    for tool in environment.tools.values():
        raised_by_format = {parameter.malformed for parameter in tool.parameters if parameter.type.can_be_malformed}
        for raised in tool.raises:
            if raised.when is None and raised.exception not in raised_by_format:
                yield DeclarationIssue(
                    f"tool {tool.name!r}, exception {raised.exception}: {raised.description}",
                    "it never happens: it has no condition, and no parameter has a format",
                    "give it a condition (when=...), name it as the parameter's `malformed`, or remove it",
                )
