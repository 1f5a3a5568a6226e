"""``lawtrace rules``: the commands on rules, and ``lawtrace rules check``."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.cli.options import EnvironmentOption, RulesOption
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.report.build_tables import strength_tables
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.terminal_tables import report_table
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import MutationScore
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.coverage.mutations import measure_mutation_score
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.lint.findings import RuleSetAnalysis
from lawtrace.solver.lint.rule_examples import ExampleFinding, count_examples, run_examples
from lawtrace.solver.lint.rule_grounds import Ungrounded, find_ungrounded
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import Rule, RuleFile, check_rules, load_rule_file

_STRENGTH = TypeAdapter(MutationScore)


def check_rule_set(
    env: EnvironmentOption = "banking",
    rules: RulesOption = None,
    mutate: Annotated[int, typer.Option(min=0, help="Mutate this many traces and count what the rules notice.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the mutated traces.")] = 1,
) -> CommandResult:
    """Check a rule set.

    Checks that rules parse, name existing tools and fields, are satisfiable together, leave every tool reachable, are
    not redundant, and demand nothing that neither the provisions they cite nor the documentation of the tools say. With
    --mutate, also judges compliant traces with one change each.

    Exit code 1 if there are findings or undecided questions, except about provisions that are not there.
    """
    domain = load_domain(env)
    file = rules or domain.rules_file
    examples = load_rule_file(file)
    chosen = examples.rules
    check_rules(chosen, domain.environment, domain.regulation)
    with ProgressBars().stage("questions about the rules", None) as step:
        analysis = analyse_rules(domain.environment, chosen, progress=step)
    simulated = domain.environment.simulated  # without a state no model is under test
    ungrounded = find_ungrounded(domain.environment, domain.regulation, chosen) if simulated else ()
    wrong = run_examples(examples, domain.environment, domain.regulation)
    strength = _measure(domain.environment, chosen, mutate, seed) if mutate else None
    result = analysis.model_dump(mode="json", include={"findings", "breaking", "calling", "assumptions"})
    parts = [asdict(part) for part in ungrounded]
    mutants = {"strength": _STRENGTH.dump_python(strength, mode="json")} if strength else {}
    return CommandResult(
        {"rules": len(chosen), **result, "ungrounded": parts, **_examples(examples, wrong), **mutants},
        _shown(chosen, analysis, ungrounded, wrong, count_examples(examples), strength),
        exit_code=1 if analysis.findings or wrong or any(part.decided for part in ungrounded) else 0,
    )


def _shown(
    rules: tuple[Rule, ...],
    analysis: RuleSetAnalysis,
    ungrounded: Sequence[Ungrounded],
    wrong: Sequence[ExampleFinding],
    examples: int,
    strength: MutationScore | None,
) -> Iterator[RenderableType]:
    yield rule_table(rules)
    if analysis.breaking:
        yield _witness_table(analysis)
    found = analysis.findings or ungrounded or wrong
    yield _finding_table(analysis, ungrounded, wrong) if found else "No findings."
    if examples:
        yield f"Examples: {examples - len({(one.rule, one.example) for one in wrong})} of {examples} hold."
    for assumption in analysis.assumptions:
        yield Text(assumption, style="dim")
    if strength:
        for table in strength_tables(strength):
            yield report_table(table)
        for survivor in strength.survivors:
            yield Text(f"{survivor.trace}: {survivor.change}: {survivor.reason}", style="dim")


def _measure(environment: Environment, rules: tuple[Rule, ...], count: int, seed: int) -> MutationScore:
    traces = synthesize(environment, rules, count=count, length=8, seed=seed)
    with ProgressBars().stage("mutated traces", None):
        return measure_mutation_score(environment, rules, [(f"trace {n}", trace) for n, trace in enumerate(traces, 1)])


def rule_table(rules: tuple[Rule, ...]) -> Table:
    """A table of rules. Other fields are below each formula, so that it fits in 80 columns."""

    def about(rule: Rule) -> str:
        size = f"{len(found.verdicts)} states" if isinstance(found := rule.compiled, Automaton) else "evaluated"
        return f"{rule.template}, {size}; {', '.join(rule.provisions) or 'no provision'}"

    rows = ((rule.id, Text.assemble(rule.formula, "\n", (about(rule), "dim"))) for rule in rules)
    return make_table(("rule", "formula; template, states; provisions"), rows)


def _witness_table(analysis: RuleSetAnalysis) -> Table:
    """A witness for each rule, to check by eye whether the rule forbids what it should."""
    rows = ((rule, ", ".join(witness.steps) or "(no calls)") for rule, witness in analysis.breaking.items())
    return make_table(("rule", "trace that breaks only this rule"), rows)


def _examples(file: RuleFile, wrong: Sequence[ExampleFinding]) -> dict[str, Json]:
    """The examples in the JSON output, for a file that has some."""
    if not (total := count_examples(file)):
        return {}
    return {"examples": {"run": total, "wrong": [asdict(one) for one in wrong]}}


def _finding_table(
    analysis: RuleSetAnalysis, ungrounded: Sequence[Ungrounded], wrong: Sequence[ExampleFinding]
) -> Table:
    found = [(finding.kind, finding.message, finding.proof) for finding in analysis.findings]
    for part in ungrounded:
        kind = "ungrounded" if part.decided else "undecided"
        found.append((kind, f"{part.rule}: {part.sentence}", part.searched_text))
    rows = [(kind, Text.assemble(message, "\n", (proof, "dim"))) for kind, message, proof in found]
    rows += [("example", Text(f"{one.rule + ', ' if one.rule else ''}{one.example}: {one.message}")) for one in wrong]
    return make_table(("finding", "description, proof"), rows)
