"""Import of LogiSafetyBench: its labelled tasks with their ground truth.

The folder is the repository as published, where every law has a folder with its rules, or a flat folder.

The published reference programs print identifiers without quotes, so ``P-123456`` is a name and ``123-4567-8901`` a
subtraction; most do not run. The import quotes the identifiers. The target state of a task is the state that the
repaired program reaches in our simulator; differences to the published final state are listed in the notes of the task.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from benchmarks.published.domains import PUBLISHED_DOMAINS, PublishedDomain
from benchmarks.published.records import describe_row_error, parse_json_list
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.sandbox import Sandbox
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State, decode_state, encode_state
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.stages.execution import ProgramResult, run_program
from lawtrace.runs.store.stage_files import file_digest, read_text
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import STYLES, PublishedDomainName
from lawtrace.schemas.errors import InputError, Problem
from lawtrace.schemas.events import Json
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.task_rows import PublishedCase
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.rules import Rule, check_rules


@dataclass(frozen=True, slots=True)
class ImportedTasks:
    """The imported tasks, the rows that are empty as published, and the problems of invalid rows."""

    tasks: tuple[Task, ...]
    empty: tuple[str, ...]
    problems: tuple[Problem, ...]


def import_tasks(
    directory: Path, domain: PublishedDomainName, sandbox: Sandbox, on_row: Callable[[], None] = lambda: None
) -> ImportedTasks:
    """The labelled tasks of a domain; an invalid row becomes a problem.

    Raises InputError for missing files, all named at once, or one without valid rows.
    """
    published = PUBLISHED_DOMAINS[domain]
    loaded = load_domain(published.environment)
    rule_file, case_file, path = _find_files(directory, domain, published.law)
    rules = _rules(rule_file, loaded)
    cases, problems = _cases(case_file)
    rows, broken = parse_json_list(path, read_text(path))
    problems += broken
    tasks: dict[str, Task] = {}
    empty: list[str] = []
    for number, row in enumerate(rows, 1):
        place = f"{path}, row {number}"
        try:
            name = row["trace_id"]
            if name is None:
                empty.append(f"{place}: empty, as published")
            elif name not in cases:
                problems.append(Problem(place, f"there is no ground truth for {name}"))
            elif name in tasks:
                problems.append(Problem(place, f"{name} occurs twice; the first one is used"))
            else:
                tasks[name] = _task(row, cases[name], published, loaded.environment, rules, sandbox)
        except (KeyError, TypeError, AttributeError, ValueError, InputError) as error:
            problems.append(Problem(place, f"not as published: {describe_row_error(error)}"))
        on_row()
    if not tasks:
        raise InputError(f"{path}: no valid row" + (f"; {problems[0]}" if problems else ""))
    return ImportedTasks(tuple(tasks.values()), tuple(empty), tuple(problems))


def _cases(path: Path) -> tuple[dict[str, Mapping[str, Any]], list[Problem]]:
    """The ground truth by trace id, and the problems of rows without one."""
    cases: dict[str, Mapping[str, Any]] = {}
    problems: list[Problem] = []
    for number, case in enumerate(_required_list(path, "test_cases"), 1):
        try:
            cases.setdefault(str(case["trace_id"]), case)
        except (KeyError, TypeError):
            problems.append(Problem(f"{path}, case {number}", "not as published: there is no 'trace_id'"))
    return cases, problems


def _task(
    row: Mapping[str, Any],
    case: Mapping[str, Any],
    published: PublishedDomain,
    environment: Environment,
    rules: Sequence[Rule],
    sandbox: Sandbox,
) -> Task:
    day = _day(row["trace_id"])
    variables = published.variables(_variables(row["init_block"], row["trace_id"]))
    initial = decode_state(published.state(case["initial_state"], day, variables), environment.entities)
    program = _with_variables(published.repair(row["ground_truth_program"]), variables)
    ran = run_program(sandbox, environment, initial, program, {})
    verdicts = judge_rules(rules, ran.events, (), end=ran.end)
    theirs = decode_state(published.state(case["final_state"], day, variables), environment.entities)
    notes = [*_differences(environment, published, initial, ran, theirs), *published.notes]
    notes += [f"the repaired reference breaks {verdict.rule}" for verdict in verdicts if verdict.broken]
    notes += [f"{verdict.rule} is undetermined: {verdict.undetermined}" for verdict in verdicts if verdict.undetermined]
    return Task(
        id=row["trace_id"],
        source="LogiSafetyBench",
        environment=environment.name,
        environment_version=environment.version,
        rules=tuple(rules),
        applicable=tuple(verdict.rule for verdict in verdicts if verdict.triggered),
        initial_state=encode_state(initial, environment.entities),
        target_state=encode_state(ran.final, environment.entities),
        program=program,
        literal=dict.fromkeys(STYLES, _literal_program(program, environment)),
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
    for name, value in variables.items():
        program = re.sub(rf"(?m)^{name} = .*$", lambda _, name=name, value=value: f"{name} = {value!r}", program)
    return program


def _literal_program(program: str, environment: Environment) -> str:
    hidden = re.compile("|".join(rf"\.{name}\(" for name in sorted(environment.compliance_tools)))
    return "\n".join(line for line in program.splitlines() if not hidden.search(line)) + "\n"


def _differences(
    environment: Environment, published: PublishedDomain, initial: State, ran: ProgramResult, theirs: State
) -> Iterator[str]:
    if ran.execution.died:
        yield f"the repaired reference program died: {ran.execution.error}"
    for event in ran.events:
        if not event.completed:
            yield f"the repaired reference's {event.tool} did not complete: {event.error or 'success is false'}"
    beyond = {table: rows for table, rows in ran.final.tables.items() if table not in published.kept}
    expected = State({**theirs.tables, **beyond})
    for difference in compare_states(environment, initial, expected, ran.final):
        yield f"target differs from the published one: {difference}"


def _day(trace_id: str) -> str:
    """The date of a trace, from its id."""
    day = re.search(r"_(\d{4})(\d{2})(\d{2})_", trace_id)
    return "-".join(day.groups()) if day else "2025-12-10"


def _variables(init_block: str, trace_id: str) -> dict[str, Json]:
    try:
        return {
            statement.targets[0].id: ast.literal_eval(statement.value)
            for statement in ast.parse(init_block).body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        }
    except (SyntaxError, ValueError) as error:
        raise InputError(f"task {trace_id}: its init_block is not a list of assignments of plain values") from error


def _rules(path: Path, loaded: Domain) -> tuple[Rule, ...]:
    rules: dict[str, Rule] = {}
    try:
        for entry in _required_list(path, "valid_ltl_rules"):
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
    except (KeyError, TypeError) as error:  # a verdict needs all rules
        raise InputError(f"{path}: not as published: {error!r}") from error
    check_rules(rules.values(), loaded.environment)
    return tuple(rules.values())


_RULES = "7_label_ltl_rules.json"
"""The rules of a law in its published folder, after labelling by hand."""


def _find_files(directory: Path, domain: PublishedDomainName, law: str) -> tuple[Path, ...]:
    """The files of a domain in the folder or below, as published or flat: rules, cases, labelled tasks.

    Raises InputError that names every missing file with its published place, or the places of one that differs.
    """
    cases, labelled = f"{domain}_ground_truth_cases.json", f"labeled_{domain}_dataset.json"
    places = {
        f"{law}/{_RULES}": (f"ltl_generator/results/{law}/{_RULES}", f"{law}_rules.json"),
        cases: (f"results/ground_truth_data/{cases}", cases),
        labelled: (f"results/benchmark_data/{labelled}", labelled),
    }
    found = {name: _find(directory, name, flat) for name, (_, flat) in places.items()}
    missing = [f"{place} (flat: {flat})" for name, (place, flat) in places.items() if found[name] is None]
    if missing:
        raise InputError(
            f"{directory}: no published {domain}: missing {'; '.join(missing)}. Name the folder of the repository as "
            "published, or a folder with these files"
        )
    return tuple(path for path in found.values() if path is not None)


def _find(directory: Path, *names: str) -> Path | None:
    """The file of one of the names in the folder or below. Raises InputError for several that differ."""
    found = sorted({path for name in names for path in directory.rglob(name) if path.is_file()})
    if len({file_digest(path) for path in found}) > 1:
        places = ", ".join(str(path.relative_to(directory)) for path in found)
        raise InputError(f"{directory}: several different {names[-1]}: {places}; name the folder of one of them")
    return found[0] if found else None


def _required_list(path: Path, key: str) -> list[Any]:
    """The list under a key of a JSON file. Raises InputError if it is incomplete."""
    try:
        found: Any = json.loads(read_text(path))[key]
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: not as published: expected an object with a list {key!r}") from error
    if not isinstance(found, list):
        raise InputError(f"{path}: not as published: {key!r} is not a list")
    return cast("list[Any]", found)
