"""Import of LogiSafetyBench: its labelled tasks with their ground truth, from the folder as published or flat.

The published ground-truth programs print identifiers without quotes, so that ``P-123456`` is a name and
``123-4567-8901`` a subtraction; most do not run. They are repaired by quoting, and the target state of an imported
task is what the repaired program reaches in our simulator from the published initial state. Where that differs from
the published final state, the task says so in its notes.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments.catalogue import Setting, load_setting
from environments.comparison import compare_states
from environments.declaration import Environment
from environments.errors import InputError
from environments.events import Json
from environments.jail import Jail
from environments.state import State, decode_state, encode_state
from runs.grading.execution import Ran, run_program
from runs.grading.safety import judge_rules
from runs.published.domains import DOMAINS, Domain, PublishedDomain
from runs.stages.rows import PublishedCase, TaskRow
from solver.masking import STYLES, Instruction
from solver.rules import Rule, check_rules

__all__ = ["Imported", "import_tasks"]


@dataclass(frozen=True, slots=True)
class Imported:
    """The tasks, and what was left out (``place: reason``)."""

    tasks: tuple[TaskRow, ...]
    skipped: tuple[str, ...]


def import_tasks(directory: Path, domain: Domain, jail: Jail) -> Imported:
    """The labelled tasks of a domain. Raises InputError naming the file that is missing or broken."""
    if domain not in DOMAINS:
        raise InputError(f"domain {domain!r} has no environment here yet; there are: {', '.join(DOMAINS)}")
    published = DOMAINS[domain]
    setting = load_setting(published.environment)
    rules = _rules(directory, published, setting)
    name = f"{domain}_ground_truth_cases.json"
    try:
        cases = {case["trace_id"]: case for case in _read(directory, name, dict)["test_cases"]}
    except (KeyError, TypeError) as error:
        raise InputError(f"{name}: not as published: {error!r}") from error
    tasks: list[TaskRow] = []
    skipped: list[str] = []
    for number, row in enumerate(_read(directory, f"labeled_{domain}_dataset.json", list), 1):
        try:
            if not row.get("trace_id"):
                skipped.append(f"row {number}: empty, as published")
            elif row["trace_id"] not in cases:
                skipped.append(f"row {number}: no ground truth for {row['trace_id']}")
            else:
                tasks.append(_task(row, cases[row["trace_id"]], published, setting.environment, rules, jail))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"labeled_{domain}_dataset.json, row {number}: not as published: {error!r}") from error
    return Imported(tuple(tasks), tuple(skipped))


def _task(
    row: Mapping[str, Any],
    case: Mapping[str, Any],
    published: PublishedDomain,
    environment: Environment,
    rules: Sequence[Rule],
    jail: Jail,
) -> TaskRow:
    day = _day(row["trace_id"])
    initial = decode_state(published.state(case["initial_state"], day), environment.entities)
    variables = published.variables(_variables(row["init_block"], row["trace_id"]))
    program = _with_variables(published.repair(row["ground_truth_program"]), variables)
    ran = run_program(jail, environment, initial, program, {})
    verdicts = judge_rules(rules, ran.events, ())
    notes = [*_differences(environment, published, initial, ran, case, day), *published.notes]
    notes += [f"the repaired reference breaks {verdict.rule}" for verdict in verdicts if not verdict.kept]
    return TaskRow(
        id=row["trace_id"],
        source="LogiSafetyBench",
        environment=environment.name,
        rules=tuple(rules),
        applicable=tuple(verdict.rule for verdict in verdicts if verdict.triggered),
        initial_state=encode_state(initial, environment.entities),
        target_state=encode_state(ran.final, environment.entities),
        program=program,
        business=dict.fromkeys(STYLES, _business_program(program, environment)),
        instructions={
            style: Instruction(
                style=style,
                text=f"{row['variable_def_instruction']}\n\n{row[f'{style}_instruction']}",
                variables=variables,
            )
            for style in STYLES
        },
        notes=tuple(notes),
        published=PublishedCase(
            object_name=published.object_name,
            variables=_variables(row["init_block"], row["trace_id"]),
            initial_state=case["initial_state"],
            final_state=case["final_state"],
            claimed_rules=tuple(rule.id for rule in rules if rule.formula in row["guided_ltls"]),
        ),
    )


def _with_variables(program: str, variables: Mapping[str, Json]) -> str:
    """The program with the values of its variables as they are here: a reference program sets them itself."""
    for name, value in variables.items():
        program = re.sub(rf"(?m)^{name} = .*$", lambda _, name=name, value=value: f"{name} = {value!r}", program)
    return program


def _business_program(program: str, environment: Environment) -> str:
    hidden = re.compile("|".join(rf"\.{name}\(" for name in sorted(environment.compliance_tools)))
    return "\n".join(line for line in program.splitlines() if not hidden.search(line)) + "\n"


def _differences(
    environment: Environment, published: PublishedDomain, initial: State, ran: Ran, case: Mapping[str, Any], day: str
) -> Iterator[str]:
    if ran.execution.died:
        yield f"the repaired reference program died: {ran.execution.error}"
    for event in ran.events:
        if not event.completed:
            yield f"the repaired reference's {event.tool} did not complete: {event.error or 'success is false'}"
    theirs = decode_state(published.state(case["final_state"], day), environment.entities)
    beyond = {table: rows for table, rows in ran.final.tables.items() if table not in published.kept}
    expected = State({**theirs.tables, **beyond})
    for difference in compare_states(environment, initial, expected, ran.final):
        yield f"target differs from the published one: {difference}"


def _day(trace_id: str) -> str:
    """The day on which a trace was made, which is in its id."""
    day = re.search(r"_(\d{4})(\d{2})(\d{2})_", trace_id)
    return "-".join(day.groups()) if day else "2025-12-10"


def _variables(init_block: str, trace_id: str) -> dict[str, Json]:
    variables: dict[str, Json] = {}
    try:
        for statement in ast.parse(init_block).body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                variables[statement.targets[0].id] = ast.literal_eval(statement.value)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"task {trace_id}: its init_block is not a list of assignments of plain values") from error
    return variables


def _rules(directory: Path, published: PublishedDomain, setting: Setting) -> tuple[Rule, ...]:
    rules: dict[str, Rule] = {}
    try:
        for entry in _read(directory, published.rules_file, dict)["valid_ltl_rules"]:
            formula = entry["final_ltl_rule"]
            rules.setdefault(
                formula,
                Rule(
                    id=f"published-{len(rules) + 1}",
                    formula=formula,
                    regulation="as published",
                    provisions=(entry["source_policy"]["reference"]["source_id"],),
                    rationale=f"Published with LogiSafetyBench as {entry['risk_category']}.",
                ),
            )
    except (KeyError, TypeError) as error:
        raise InputError(f"{published.rules_file}: not as published: {error!r}") from error
    check_rules(rules.values(), setting.environment)
    return tuple(rules.values())


def _read(directory: Path, name: str, shape: type) -> Any:  # noqa: ANN401 (JSON of the publisher's shape)
    found = sorted(directory.rglob(name))
    if not found:
        raise InputError(f"{directory}: there is no {name} in it or below; give the folder as published, or flat")
    try:
        content = json.loads(found[0].read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{found[0]}: not JSON: {error}") from error
    if not isinstance(content, shape):
        raise InputError(f"{found[0]}: not as published: expected a JSON {'list' if shape is list else 'object'}")
    return content
