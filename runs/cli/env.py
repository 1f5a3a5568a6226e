"""``lawtrace env``: list, show and check environments."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, get_args

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.environments.regulations.regulation import MANUAL, Act, Provision
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.tools import Tool
from lawtrace.runs.cli.options import NameArgument
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.schemas.events import Json
from lawtrace.schemas.questions import Question
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.solver.lint.cross_references import CrossReference, CrossReferences, cross_reference
from lawtrace.solver.rules import Definition, Rule, RuleKind, check_rules, load_rules

if TYPE_CHECKING:
    from lawtrace.solver.lint.declarations import DeclarationIssue

NONE = "none"
NOT_SORTED = "not sorted"


def list_environments() -> CommandResult:
    """List the built-in environments, and their rules by kind."""
    domains = [load_domain(name) for name in BUILT_IN_DOMAINS]
    kinds = {domain.environment.name: _kinds(load_rules(domain.rules_file)) for domain in domains}
    counts = {name: {**counted} for name, counted in kinds.items()}
    return CommandResult({"environments": [*kinds], "kinds": counts}, _list_tables(domains, kinds))


def _list_tables(domains: Sequence[Domain], kinds: Mapping[str, Counter[str]]) -> Iterator[Table]:
    rows = (
        (one.name, one.title, len(one.tools), kinds[one.name].total(), len(one.facts), domain.regulation.title)
        for domain in domains
        for one in (domain.environment,)
    )
    yield make_table(("environment", "title", "tools", "rules", "facts", "regulation"), rows)
    sorted_rules = [name for name, counted in kinds.items() if set(counted) != {NOT_SORTED}]
    counts = ((kind, *(kinds[name][kind] for name in sorted_rules)) for kind in (*get_args(RuleKind), NOT_SORTED))
    yield make_table(("kind of rule", *sorted_rules), (row for row in counts if any(row[1:])))


def _kinds(rules: Sequence[Rule]) -> Counter[str]:
    return Counter(rule.kind or NOT_SORTED for rule in rules)


def show_environment(name: NameArgument) -> CommandResult:
    """Show tools, rules and provisions, linked to each other."""
    domain = load_domain(name)
    rules = load_rules(domain.rules_file)
    check_rules(rules, domain.environment, domain.regulation)
    references = cross_reference(domain.environment, domain.regulation, rules)
    tables = [_acts(domain.regulation.acts)] if domain.regulation.acts else []
    tables.append(_provisions(domain, references))
    if domain.regulation.manual:
        tables.append(_manual(domain, rules))
    if questions := {question.id: question for rule in rules for question in rule.questions}:
        tables.append(_questions(list(questions.values()), rules))
    if definitions := {one.name + str(one.under): one for rule in rules for one in rule.definitions}:
        tables.append(_definitions(list(definitions.values())))
    tables += [_rules(rules), _tools(domain, references)]
    return CommandResult(_shown(domain, rules, references), tables)


def check_environment(name: NameArgument) -> CommandResult:
    """Check a declaration, its rules and its initial states.

    Exit code 1 if there are findings. Questions left undecided are listed, and are not findings.
    """
    from lawtrace.solver.lint.declarations import lint_declaration
    from lawtrace.solver.lint.recorded_tools import find_blind_spots

    domain = load_domain(name)
    rules = load_rules(domain.rules_file)
    check_rules(rules, domain.environment, domain.regulation)
    simulated = domain.environment.simulated
    with ProgressBars().stage(f"looking through {domain.environment.name}", None) as step:
        issues = lint_declaration(domain.environment, rules, domain.regulation, step)
        flaws = [issue for issue in issues if not issue.undecided]
        undecided = [issue for issue in issues if issue.undecided]
    unseen = () if simulated else find_blind_spots(domain.environment, rules)
    shown: list[RenderableType] = [_flaws(flaws) if flaws else f"No findings for {domain.environment.name}."]
    shown += [Text(f"Left undecided: {issue.what}.", style="dim") for issue in undecided]
    shown += ["What an audit cannot see:", *(Text(f"- {sentence}.") for sentence in unseen)] if unseen else []
    return CommandResult(
        {
            "environment": domain.environment.name,
            "findings": [asdict(flaw) for flaw in flaws],
            "undecided": [issue.what for issue in undecided],
            "unseen": [*unseen],
        },
        shown,
        exit_code=1 if flaws else 0,
    )


def _flaws(flaws: "Sequence[DeclarationIssue]") -> Table:
    def text(flaw: "DeclarationIssue") -> Text:
        proof = f"\n{flaw.proof}" if flaw.proof else ""
        return Text.assemble(flaw.what, "\n", ("Remedy: ", "dim"), flaw.remedy, (proof, "dim"))

    return make_table(("place", "problem, remedy, proof"), ((flaw.place, text(flaw)) for flaw in flaws))


def _shown(domain: Domain, rules: Sequence[Rule], references: CrossReferences) -> dict[str, Json]:
    return {
        "documentation": document(domain.environment),
        "rules": [json.loads(rule.model_dump_json()) for rule in rules],
        **({"manual": [*domain.regulation.manual]} if domain.regulation.manual else {}),
        "provisions": {
            name: {"rules": [*of.rules], "tools": [*of.targets]} for name, of in references.provisions.items()
        },
        "tools": {name: {"rules": [*of.rules], "provisions": [*of.targets]} for name, of in references.tools.items()},
    }


def _tools(domain: Domain, references: CrossReferences) -> Table:
    def lines(tool: Tool) -> Text:
        linked = references.tools[tool.name]
        return _lines(
            parameters=domain.environment.signatures[tool.name],
            event=[tool.emits] if tool.emits else (),
            kind=[word for word, holds in (("compliance", tool.compliance), ("critical", tool.critical)) if holds],
            rules=linked.rules or [NONE],
            provisions=linked.targets or [NONE],
        )

    rows = ((name, lines(tool)) for name, tool in domain.environment.tools.items())
    return make_table(("tool", "parameters, rules and provisions"), rows, title="Tools")


def _rules(rules: Sequence[Rule]) -> Table:
    def lines(rule: Rule) -> Text:
        return _lines(
            formula=[rule.formula],
            provisions=rule.provisions or [NONE],
            under=[f"{name}: {' or '.join(readings)}" for name, readings in rule.under.items()],
            source=[rule.source] if rule.source == "manual" else (),
            reason=[rule.rationale] if rule.rationale else (),
        )

    return make_table(("rule", "formula, provisions"), ((rule.id, lines(rule)) for rule in rules), title="Rules")


def _in_force(part: Act | Provision) -> str:
    since = f"from {part.in_force_from}" if part.in_force_from else ""
    return f"{since} to {part.in_force_to}".strip() if part.in_force_to else since


def _acts(acts: Sequence[Act]) -> Table:
    rows = ((act.id, act.reference, str(act.consolidated), _in_force(act)) for act in acts)
    return make_table(("act", "reference", "version of", "in force"), rows, title="Law")


def _provisions(domain: Domain, references: CrossReferences) -> Table:
    law = domain.regulation

    def lines(name: str, of: CrossReference) -> Text:
        dates = _in_force(provision := law.by_citation[name])
        linked = _lines(rules=of.rules or [NONE], tools=of.targets, in_force=[dates] if dates else ())
        return Text.assemble(provision.words(), "\n", linked)

    rows = [(name, lines(name, of)) for name, of in references.provisions.items()]
    rows += [(one.citation, Text(f"left out: {one.about}", style="dim")) for one in law.omissions]
    return make_table(("provision", "text, rules and tools"), rows, title=law.title)


def _manual(domain: Domain, rules: Sequence[Rule]) -> Table:
    def resting(citation: str) -> list[str]:
        return [rule.id for rule in rules if rule.source == "manual" and citation in rule.provisions]

    entries = ((f"{MANUAL}{number}", entry) for number, entry in enumerate(domain.regulation.manual, 1))
    rows = ((name, Text.assemble(entry, "\n", _lines(rules=resting(name) or [NONE]))) for name, entry in entries)
    return make_table(("entry", "text, rules"), rows, title="Manual of the owner")


def _questions(questions: Sequence[Question], rules: Sequence[Rule]) -> Table:
    def lines(question: Question) -> Iterator[Text]:
        yield Text(f"{', '.join(question.provisions)}: {question.asks}")
        for reading in question.readings:
            resting = [rule.id for rule in rules if reading.id in rule.under.get(question.id, ())]
            basis = f" ({reading.basis})" if reading.basis else ""
            yield Text.assemble((f"{reading.id}: ", "dim"), reading.means, basis, "\n", _lines(rules=resting))

    rows = ((question.id, Text("\n").join(lines(question))) for question in questions)
    return make_table(("open question", "readings, and the rules under them"), rows, title="Open questions")


def _definitions(definitions: Sequence[Definition]) -> Table:
    def lines(one: Definition) -> Text:
        under = [f"{name}: {' or '.join(readings)}" for name, readings in one.under.items()]
        return _lines(means=[one.means] if one.means else (), formula=[one.formula], under=under)

    rows = (
        (f"{one.name}({', '.join(one.parameters)})" if one.parameters else one.name, lines(one)) for one in definitions
    )
    return make_table(("definition", "meaning, formula"), rows, title="Definitions")


def _lines(**said: Sequence[str]) -> Text:
    """One line for each non-empty value, as Text because formulas contain brackets."""
    lines = [(f"{name}: ", ", ".join(words)) for name, words in said.items() if words]
    return Text("\n").join(Text.assemble((name, "dim"), words) for name, words in lines)
