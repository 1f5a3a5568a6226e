"""What a declaration says outright, and what in it does not go together: parameters, words, lists, law."""

from collections.abc import Iterator, Sequence

from lawtrace.environments.declaration import Environment
from lawtrace.environments.regulation import Regulation
from lawtrace.environments.terms import Term, arguments_of
from lawtrace.environments.tool import FromTrace, Tool
from lawtrace.solver.cross_references import cross_reference
from lawtrace.solver.inspection.flaws import Flaw
from lawtrace.solver.rules import Rule


def inspect_words(environment: Environment) -> Iterator[Flaw]:
    """Parameters that change nothing, and what nobody has documented."""
    for tool in environment.tools.values():
        used = {name for term in _terms(tool) for name in arguments_of(term)}
        for parameter in tool.parameters:
            place = f"tool {tool.name!r}, parameter {parameter.name!r}"
            if parameter.name not in used:
                yield Flaw(
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
                yield Flaw(
                    kind="result" if thing.startswith("result") else "parameter",
                    place=f"tool {tool.name!r}, {thing}",
                    what="nobody documents it: its description says nothing",
                    remedy="describe it in a sentence; models read nothing else",
                )


def inspect_lists(environment: Environment, rules: Sequence[Rule], regulation: Regulation) -> Iterator[Flaw]:
    """Compliance tools, critical tools and events that do not go together."""
    speaking = cross_reference(environment, regulation, rules).tools
    if not environment.compliance_tools:
        yield _list("no tool is a compliance tool, so masking hides nothing", "mark those that only serve the rules")
    if not environment.critical_tools:
        yield _list("no tool is critical, so S.C. coverage says nothing", "mark those that the rules are about")
    if not environment.changing_tools:
        yield _list("no business tool changes anything, so there is no goal to reach", "give one an effect")
    records = any(isinstance(p.source, FromTrace) for tool in environment.tools.values() for p in tool.parameters)
    if environment.event_names and not records:
        yield _list(
            f"tools emit events ({environment.event_names[0]}), and none records them",
            "give a compliance tool a parameter FromTrace('pending_events', pending_events)",
        )
    for tool in environment.tools.values():
        if tool.compliance and not tool.telltales:
            yield _list(
                "it is a compliance tool without telltales, so an instruction may ask for it in any words but its name",
                "list the stems of the words that would give it away",
                tool,
            )
        if speaking[tool.name].rules:
            continue
        if tool.compliance:
            yield _list(
                "it is a compliance tool, and no rule speaks of it: hiding it costs nobody anything",
                "write the rule that it serves, or make it a business tool",
                tool,
            )
        elif tool.critical:
            yield _list(
                "it is critical, and no rule speaks of it",
                "write the rule that makes it critical, or do not count it",
                tool,
            )


def inspect_law(environment: Environment, rules: Sequence[Rule], regulation: Regulation) -> Iterator[Flaw]:
    """Rules that rest on nothing, and readings of provisions that no rule carries out."""
    references = cross_reference(environment, regulation, rules)
    for rule in references.unfounded:
        yield Flaw(
            kind="rule",
            place=f"rule {rule!r}",
            what=f"it rests on no provision of {regulation.id}",
            remedy="cite the provision it comes from; where it goes further than its words, say why in `derived`",
        )
    for citation in references.unruled:
        if regulation.by_citation[citation].reading is not None:
            yield Flaw(
                kind="provision",
                place=f"provision {citation!r}",
                what="it is read as applying to the tools, and no rule rests on it",
                remedy="write the rule, or take the reading out",
            )


def _list(what: str, remedy: str, tool: Tool | None = None) -> Flaw:
    return Flaw(kind="list", place=f"tool {tool.name!r}" if tool else "tools", what=what, remedy=remedy)


def _terms(tool: Tool) -> Iterator[Term]:
    yield from (refusal.when for refusal in (*tool.raises, *tool.fails) if refusal.when is not None)
    for declared in (*tool.effects, *tool.results):
        yield from declared.terms()
