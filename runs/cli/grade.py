"""``lawtrace grade``: judge programs, or judge the attempts of a run again."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.errors import InputError, Problem
from lawtrace.environments.events import Json
from lawtrace.environments.sandbox import Backend, Jail, JailPool, choose_backend
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.cli.options import EnvironmentFolderOption, JsonOption, SandboxOption
from lawtrace.runs.cli.output import ProgressBars, print_invalid, print_json, print_note, print_problems, print_result
from lawtrace.runs.ingest.programs import SubmittedRow, read_programs
from lawtrace.runs.ingest.published_records import RecordedVerdict
from lawtrace.runs.published.profile_comparison import RECORD_PROFILE, compare_profiles, write_comparison
from lawtrace.runs.published.published_grading import judge_attempts_published
from lawtrace.runs.recipe import BASELINES
from lawtrace.runs.report.content import load_comparison_content
from lawtrace.runs.report.terminal_tables import outcome_table
from lawtrace.runs.schemas.task_rows import Attempt, Task
from lawtrace.runs.schemas.verdict_rows import OUTCOMES, PUBLISHED_PROFILES, GradingProfile, Verdict
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.scoring.verdict_changes import (
    RuleChange,
    VerdictChange,
    compare_rules,
    compare_verdicts,
    replace_rules,
)
from lawtrace.runs.stages.attempts_stage import execute_programs
from lawtrace.runs.stages.baseline_answers import baseline_programs
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import UsableRows, read_usable_rows, write_rows
from lawtrace.runs.store.task_file import match_to_tasks, read_usable_tasks
from lawtrace.runs.web.export import write_report
from lawtrace.solver.rules import check_rules, load_rules


def grade(
    run: Annotated[Path | None, typer.Argument(help="Folder of a finished run to judge again.")] = None,
    tasks: Annotated[Path | None, typer.Option(help="Task file (JSON lines).")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option(help='JSON lines {"task", "style", "program"}, attempts, or published records.'),
    ] = None,
    env: EnvironmentFolderOption = None,
    rules: Annotated[Path | None, typer.Option(help="Rule file; default: the rules of the tasks.")] = None,
    profile: Annotated[GradingProfile, typer.Option(help="Grading profile.")] = "strict",
    compare: Annotated[
        Path | None,
        typer.Option(help="Output folder for a comparison of all profiles."),
    ] = None,
    sandbox: SandboxOption = "bwrap",
    out: Annotated[Path, typer.Option(help="Output file (JSON lines).")] = Path("verdicts.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Judge programs or the attempts of a run."""
    backend = choose_backend(sandbox or "bwrap")
    if run is not None and (tasks is not None or programs):
        raise InputError("give the folder of a run, or --tasks FILE and --programs FILE, not both")
    if run is not None:
        folder = RunFolder(run).existing()
        read, domain = read_usable_tasks(folder.tasks, env)
        rows = read.rows
        matched = match_to_tasks(rows, read_usable_rows(folder.attempts, Attempt))
        attempts, recorded = matched.rows, list[RecordedVerdict]()
        problems = [*read.problems, *matched.problems]
    elif tasks is None or not programs:
        raise InputError("give the folder of a run, or --tasks FILE and --programs FILE")
    else:
        read, domain = read_usable_tasks(tasks, env)
        rows = read.rows
        submitted, recorded, found = _programs(rows, programs)
        problems = [*read.problems, *found]
        if compare is not None:
            submitted += baseline_programs(domain.environment, rows)
        with JailPool(backend=backend) as jails, ProgressBars().stage("programs in the jail", len(submitted)) as step:
            attempts = execute_programs(domain.environment, rows, submitted, jails, step, regulation=domain.regulation)
    changed_rules: list[RuleChange] = []
    if rules is not None:
        chosen = load_rules(rules)
        check_rules(chosen, domain.environment)
        judged_before, rows = rows, [replace_rules(task, chosen) for task in rows]
        changed_rules = compare_rules(judged_before, rows)
    if compare is not None:
        _compare(domain.environment, rows, attempts, recorded, compare, backend)
    verdicts = _verdicts(domain.environment, rows, attempts, profile, backend)
    write_rows(out, verdicts)
    earlier = RunFolder(run).verdicts if run is not None else None
    before = read_usable_rows(earlier, Verdict).rows if earlier is not None and earlier.exists() else []
    print_problems(problems)
    changed_verdicts = compare_verdicts(before, verdicts)
    _print_outcomes(verdicts, changed_rules, changed_verdicts, _cut_short(attempts), problems, out, as_json=as_json)
    raise typer.Exit(1 if problems else 0)


def _verdicts(
    environment: Environment, tasks: list[Task], attempts: list[Attempt], profile: GradingProfile, backend: Backend
) -> list[Verdict]:
    by_id = {task.id: task for task in tasks}
    if profile == "strict":
        return [judge(environment, by_id[attempt.task], attempt) for attempt in attempts]
    _require_published(tasks, f"--profile {profile}")
    with Jail(backend=backend) as jail, ProgressBars().stage("published mock", len(attempts)) as step:
        return judge_attempts_published(by_id, attempts, jail, profile, step)


def _compare(
    environment: Environment,
    tasks: list[Task],
    attempts: list[Attempt],
    recorded: list[RecordedVerdict],
    folder: Path,
    backend: Backend,
) -> None:
    _require_published(tasks, "--compare")
    with (
        Jail(backend=backend) as jail,
        ProgressBars().stage("every profile", len(attempts) * len(PUBLISHED_PROFILES)) as step,
    ):
        comparison = compare_profiles(environment, tasks, attempts, recorded, jail, step)
    write_comparison(comparison, folder)
    report = folder / "report.html"
    write_report(load_comparison_content(comparison), report)
    same = len(recorded) - len(comparison.unreproduced)
    print_note(f"{same} of {len(recorded)} recorded verdicts are reproduced by {RECORD_PROFILE}.")
    for rows, sides in ((comparison.unreproduced, "recorded"), (comparison.differences, "strict and published")):
        ours = Counter(row.cause for row in rows if row.model in BASELINES)
        for cause, count in Counter(row.cause for row in rows).most_common():
            baselines = f" ({ours[cause]} of them baselines)" if ours[cause] else ""
            print_note(f"  {sides}: {count} differ by {cause}{baselines}")
    print_note(f"Report: {report}")


def _require_published(tasks: list[Task], option: str) -> None:
    for task in tasks:
        if task.published is None:
            raise InputError(f"{option} needs imported tasks, and {task.id!r} is not one; use `lawtrace tasks import`")


def _programs(tasks: list[Task], files: list[Path]) -> tuple[list[SubmittedRow], list[RecordedVerdict], list[Problem]]:
    """The programs of all files, the verdicts recorded with them, and the problems of unusable rows."""
    found_rows, recorded = UsableRows[SubmittedRow](), list[RecordedVerdict]()
    for path in files:
        read = read_programs(path)
        found_rows.rows += read.usable.rows
        found_rows.places += read.usable.places
        found_rows.problems += read.usable.problems
        recorded += read.recorded
    matched = match_to_tasks(tasks, found_rows)
    if not matched.rows:
        first = f"; {matched.problems[0]}" if matched.problems else ""
        raise InputError(f"{', '.join(map(str, files))}: no usable program{first}")
    kept = {(row.task, row.style, row.model) for row in matched.rows}
    verdicts = {(row.task, row.style, row.model): row for row in reversed(recorded)}
    return matched.rows, [row for key, row in verdicts.items() if key in kept][::-1], matched.problems


def _cut_short(attempts: list[Attempt]) -> dict[str, int]:
    """Programs stopped by a limit or killed: status -> number. They have verdicts like the others."""
    statuses = Counter(attempt.execution.status for attempt in attempts if attempt.execution is not None)
    return {
        status: number for status, number in sorted(statuses.items()) if status.endswith("limit") or status == "killed"
    }


def _print_outcomes(
    verdicts: list[Verdict],
    changed_rules: list[RuleChange],
    changed_verdicts: list[VerdictChange],
    cut_short: dict[str, int],
    problems: list[Problem],
    out: Path,
    *,
    as_json: bool,
) -> None:
    if as_json:
        counts, denied = (
            {outcome: sum(v.outcome == outcome for v in verdicts if v.variant == variant) for outcome in OUTCOMES}
            for variant in ("authorized", "denied")
        )
        counts["invalid"] += len(problems)
        rules: list[Json] = [asdict(rule) for rule in changed_rules]
        lines: list[Json] = [str(one) for one in changed_verdicts]
        unusable: list[Json] = [str(problem) for problem in problems]
        summary: dict[str, Json] = {
            "verdicts": len(verdicts),
            "outcomes": {**counts},
            "denied": {**denied},
            "cut_short": {**cut_short},
            "changed_rules": rules,
            "moved": lines,
            "unusable": unusable,
            "out": str(out),
        }
        print_json(summary)
        return
    print_result(outcome_table(verdicts, unusable=len(problems)))
    print_invalid((row.task, row.reason) for row in verdicts if row.outcome == "invalid")
    _print_changes(changed_rules, changed_verdicts)
    if cut_short:
        kinds = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in cut_short.items())
        print_note(f"Stopped programs, judged by their calls until then: {kinds}.")
    print_note(f"Written: {out}")


MAX_CHANGES = 20


def _print_changes(changed_rules: list[RuleChange], changed_verdicts: list[VerdictChange]) -> None:
    """Print the changed rules, how many verdicts each of them changed, and the changed verdicts."""
    for rule in changed_rules:
        print_note(str(rule))
    because = Counter(
        (one.change, rule) for one in changed_verdicts for rule in (*one.now_broken, *one.no_longer_broken)
    )
    for (change, rule), number in because.most_common():
        print_note(f"  {number} {'verdict' if number == 1 else 'verdicts'} {change} because of {rule}")
    for one in changed_verdicts[:MAX_CHANGES]:
        print_note(str(one))
    if len(changed_verdicts) > MAX_CHANGES:
        print_note(f"... and {len(changed_verdicts) - MAX_CHANGES} more; --json lists them all")
