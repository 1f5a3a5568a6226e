"""Words that rules compare arguments with, and that no argument can be: such a rule says nothing of what was meant."""

import difflib
from collections.abc import Iterator, Sequence

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.terms import Term, arguments_of
from lawtrace.environments.spec.tools import FromTrace, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, WrongFormat, WrongType
from lawtrace.solver.lint.cross_references import cross_reference
from lawtrace.solver.lint.findings import DeclarationIssue, IssueKind
from lawtrace.solver.lint.initial_states import check_initial_states, check_traces
from lawtrace.solver.lint.phrase_checks import check_phrases
from lawtrace.solver.lint.refusals import check_refusals
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.ltlf.conditions import Comparison, Condition, FieldPath, LiteralValue, Operand, condition_parts
from lawtrace.solver.ltlf.conditions import LiteralList as Literals
from lawtrace.solver.ltlf.syntax import atoms_of
from lawtrace.solver.rules import Rule


def check_rule_constants(environment: Environment, rules: Sequence[Rule]) -> Iterator[DeclarationIssue]:
    """Each comparison of an argument with a text that the argument never is or holds."""
    for rule in rules:
        for atom in atoms_of([rule.parsed]):
            tool = environment.tools[atom.tool]
            for comparison in _comparisons(atom.condition):
                for field, word in _text_comparisons(comparison):
                    parameter = next((p for p in tool.parameters if field.path == (p.name,)), None)
                    if parameter is not None and (why := _why_impossible(environment, parameter, word)):
                        yield DeclarationIssue(
                            kind="rule",
                            place=f"rule {rule.id!r}",
                            what=f"`{comparison}` is about no call of {tool.name}: {why}",
                            remedy="write a word that the argument can be, or that a tool `emits`",
                        )


def _comparisons(condition: Condition | None) -> Iterator[Comparison]:
    if isinstance(condition, Comparison):
        yield condition
    for part in condition_parts(condition) if condition is not None else ():
        yield from _comparisons(part)


def _text_comparisons(comparison: Comparison) -> Iterator[tuple[FieldPath, str]]:
    """The field of an argument and the texts beside it."""
    for one, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(one, FieldPath):
            yield from ((one, word) for word in _text_literals(other))


def _text_literals(operand: Operand) -> Iterator[str]:
    constants = operand.items if isinstance(operand, Literals) else (operand,)
    for constant in constants:
        if isinstance(constant, LiteralValue) and isinstance(constant.value, str):
            yield constant.value


def _why_impossible(environment: Environment, parameter: Parameter, word: str) -> str | None:
    """Why the argument can neither be the word nor hold it."""
    source, kind = parameter.source, parameter.kind
    if isinstance(source, FromTrace) and source.function is pending_events and word not in environment.event_names:
        nearest = difflib.get_close_matches(word, environment.event_names, 1)
        return f"no tool emits {word!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else "")
    try:
        (kind.items if isinstance(kind, ListOf) else kind).decode(word)
    except (WrongFormat, WrongType) as error:
        return str(error)
    return None


def check_descriptions(environment: Environment) -> Iterator[DeclarationIssue]:
    """Parameters that change nothing, and what nobody has documented."""
    for tool in environment.tools.values():
        used = {name for term in _declared_terms(tool) for name in arguments_of(term)}
        for parameter in tool.parameters:
            place = f"tool {tool.name!r}, parameter {parameter.name!r}"
            if parameter.name not in used:
                yield DeclarationIssue(
                    kind="parameter",
                    place=place,
                    what="it is never used: the call does the same whatever its value, so a wrong one goes unnoticed",
                    remedy="let an effect keep it or a result depend on it, or take it out",
                )
        said = [
            ("the tool", tool.summary),
            *((f"parameter {parameter.name!r}", parameter.description) for parameter in tool.parameters),
            *((f"result {result.name!r}", result.description) for result in tool.results),
            *((f"exception {raised.exception}", raised.description) for raised in tool.raises),
            *(("a failure", failure.description) for failure in tool.fails),
        ]
        for thing, words in said:
            if not any(letter.isalpha() for letter in words):
                yield DeclarationIssue(
                    kind="result" if thing.startswith("result") else "parameter",
                    place=f"tool {tool.name!r}, {thing}",
                    what="nobody documents it: its description says nothing",
                    remedy="describe it in a sentence; models read nothing else",
                )


def check_tool_roles(
    environment: Environment, rules: Sequence[Rule], regulation: Regulation
) -> Iterator[DeclarationIssue]:
    """Compliance tools, critical tools and events that do not go together."""
    speaking = cross_reference(environment, regulation, rules).tools
    if not environment.compliance_tools:
        yield _tool_role_issue(
            "no tool is a compliance tool, so masking hides nothing", "mark those that only serve the rules"
        )
    if not environment.critical_tools:
        yield _tool_role_issue(
            "no tool is critical, so S.C. coverage says nothing", "mark those that the rules are about"
        )
    if not environment.changing_tools:
        yield _tool_role_issue("no business tool changes anything, so there is no goal to reach", "give one an effect")
    records = any(isinstance(p.source, FromTrace) for tool in environment.tools.values() for p in tool.parameters)
    if environment.event_names and not records:
        yield _tool_role_issue(
            f"tools emit events ({environment.event_names[0]}), and none records them",
            "give a compliance tool a parameter FromTrace('pending_events', pending_events)",
        )
    for tool in environment.tools.values():
        if tool.compliance and not tool.leak_words:
            yield _tool_role_issue(
                "it is a compliance tool without telltales, so an instruction may ask for it in any words but its name",
                "list the stems of the words that would give it away",
                tool,
            )
        if speaking[tool.name].rules:
            continue
        if tool.compliance:
            yield _tool_role_issue(
                "it is a compliance tool, and no rule speaks of it: hiding it costs nobody anything",
                "write the rule that it serves, or make it a business tool",
                tool,
            )
        elif tool.critical:
            yield _tool_role_issue(
                "it is critical, and no rule speaks of it",
                "write the rule that makes it critical, or do not count it",
                tool,
            )


def check_provisions(
    environment: Environment, rules: Sequence[Rule], regulation: Regulation
) -> Iterator[DeclarationIssue]:
    """Rules that rest on nothing, and readings of provisions that no rule carries out."""
    references = cross_reference(environment, regulation, rules)
    for rule in references.rules_without_provisions:
        yield DeclarationIssue(
            kind="rule",
            place=f"rule {rule!r}",
            what=f"it rests on no provision of {regulation.id}",
            remedy="cite the provision it comes from; where it goes further than its words, say why in `derived`",
        )
    for citation in references.provisions_without_rules:
        if regulation.by_citation[citation].reading is not None:
            yield DeclarationIssue(
                kind="provision",
                place=f"provision {citation!r}",
                what="it is read as applying to the tools, and no rule rests on it",
                remedy="write the rule, or take the reading out",
            )


def _tool_role_issue(what: str, remedy: str, tool: Tool | None = None) -> DeclarationIssue:
    return DeclarationIssue(kind="list", place=f"tool {tool.name!r}" if tool else "tools", what=what, remedy=remedy)


def _declared_terms(tool: Tool) -> Iterator[Term]:
    yield from (refusal.when for refusal in (*tool.raises, *tool.fails) if refusal.when is not None)
    for declared in (*tool.effects, *tool.results):
        yield from declared.terms()


__all__ = ["DeclarationIssue", "IssueKind", "lint_declaration"]


def lint_declaration(
    environment: Environment, rules: Sequence[Rule], regulation: Regulation
) -> tuple[DeclarationIssue, ...]:
    """Every flaw found. Where the initial states themselves are unsound, nothing that begins with one is asked.

    Args:
        environment: as declared.
        rules: its curated rule set, as `lawtrace.solver.rules.check_rules` lets it pass.
        regulation: what the rules rest on.
    """
    states = tuple(check_initial_states(environment))
    said = (
        *check_descriptions(environment),
        *check_tool_roles(environment, rules, regulation),
        *check_provisions(environment, rules, regulation),
        *check_rule_constants(environment, rules),
    )
    if states:  # everything else begins with an initial state
        return (*states, *said)
    return (
        *_rule_set_issues(environment, rules),
        *check_refusals(environment),
        *check_phrases(environment),
        *said,
        *check_traces(environment, rules),
    )


def _rule_set_issues(environment: Environment, rules: Sequence[Rule]) -> Iterator[DeclarationIssue]:
    """What the analysis of the rule set says, as flaws: tools that no compliant trace can call before all."""
    for finding in analyse_rules(environment, rules).findings:
        if finding.kind == "unreachable":
            yield DeclarationIssue(
                kind="unreachable tool",
                place=f"tool {finding.tool!r}",
                what=finding.message,
                remedy="add a tool that looks up what it refers to, or loosen the rules that are named",
                proof=finding.proof,
            )
        else:
            yield DeclarationIssue(
                kind="rule",
                place=f"rule {', '.join(finding.rules)}",
                what=f"{finding.kind}: {finding.message}",
                remedy="change or drop one of the rules named; `lawtrace rules check` shows more",
                proof=finding.proof,
            )
