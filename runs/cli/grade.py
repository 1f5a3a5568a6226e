"""``lawtrace grade``: verdicts on programs that are given, or on a finished run again."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from environments.declaration import Environment
from environments.errors import InputError
from environments.events import Json
from environments.jail import Jail, Jails
from runs.assemble import content_of_comparison
from runs.cli.options import WhereEnvironment
from runs.cli.output import Bars, say, show, show_json
from runs.files import read_rows, write_rows
from runs.grading.judge import judge
from runs.grading.regrading import MovedVerdict, moved_verdicts, with_rules
from runs.grading.verdict import OUTCOMES, PUBLISHED_PROFILES, Profile, VerdictRow
from runs.layout import RunFolder
from runs.programs import read_programs, read_verdicts_beside
from runs.published.comparison import FROM_RECORDS, compare_profiles, write_comparison
from runs.published.grading import judge_pairs_published
from runs.published.records import RecordedVerdict
from runs.report.build import write_report
from runs.report.terminal import outcome_table
from runs.stages.attempt import check_tasks_exist, run_programs
from runs.stages.rows import AttemptRow, ProgramRow, TaskRow
from runs.tasks import read_tasks
from solver.rules import check_rules, load_rules

__all__ = ["grade"]


def grade(
    run: Annotated[
        Path | None, typer.Argument(help="The folder of a finished run, to grade its attempts again.")
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="The tasks (JSON lines).")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option(help='Programs: JSON lines {"task", "style", "program"}, or a published record file. Repeatable.'),
    ] = None,
    env: WhereEnvironment = None,
    rules: Annotated[Path | None, typer.Option(help="Judge by this rule file instead of the tasks' own rules.")] = None,
    profile: Annotated[Profile, typer.Option(help="How verdicts are reached.")] = "strict",
    compare: Annotated[
        Path | None,
        typer.Option(
            help="For imported tasks: judge by every profile, and keep the comparison with its report in this folder."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("verdicts.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Judge programs in the jail: is the goal reached, and were all rules kept?"""
    if run is not None and (tasks is not None or programs):
        raise InputError("give either the folder of a run, or --tasks FILE and --programs FILE, not both")
    if run is not None:
        folder = RunFolder(run).existing()
        rows, setting = read_tasks(folder.tasks, env)
        attempts = read_rows(folder.attempts, AttemptRow)
        check_tasks_exist(rows, attempts, str(folder.attempts))
    elif tasks is None or not programs:
        raise InputError("give the folder of a run, or --tasks FILE and --programs FILE")
    else:
        rows, setting = read_tasks(tasks, env)
        attempts = _attempts(setting.environment, rows, programs)
    if rules is not None:
        chosen = load_rules(rules)
        check_rules(chosen, setting.environment)
        rows = [with_rules(task, chosen) for task in rows]
    if compare is not None:
        recorded = [verdict for path in programs or () for verdict in read_verdicts_beside(path)]
        _compare(setting.environment, rows, attempts, recorded, compare)
    verdicts = _verdicts(setting.environment, rows, attempts, profile)
    write_rows(out, verdicts)
    earlier = RunFolder(run).verdicts if run is not None else None
    before = read_rows(earlier, VerdictRow) if earlier is not None and earlier.exists() else []
    _say_result(verdicts, moved_verdicts(before, verdicts), out, as_json=as_json)


def _verdicts(
    environment: Environment, tasks: list[TaskRow], attempts: list[AttemptRow], profile: Profile
) -> list[VerdictRow]:
    by_id = {task.id: task for task in tasks}
    if profile == "strict":
        return [judge(environment, by_id[attempt.task], attempt) for attempt in attempts]
    _require_published(tasks, f"--profile {profile}")
    with Jail() as jail, Bars().stage("published mock", len(attempts)) as step:
        return judge_pairs_published(by_id, attempts, jail, profile, step)


def _compare(
    environment: Environment,
    tasks: list[TaskRow],
    attempts: list[AttemptRow],
    recorded: list[RecordedVerdict],
    folder: Path,
) -> None:
    _require_published(tasks, "--compare")
    with Jail() as jail, Bars().stage("every profile", len(attempts) * len(PUBLISHED_PROFILES)) as step:
        comparison = compare_profiles(environment, tasks, attempts, recorded, jail, step)
    write_comparison(comparison, folder)
    report = folder / "report.html"
    write_report(content_of_comparison(comparison), report)
    same = len(recorded) - len(comparison.unreproduced)
    say(f"{same} of {len(recorded)} recorded verdicts come out the same by {FROM_RECORDS}.")
    for rows, sides in ((comparison.unreproduced, "recorded"), (comparison.differences, "strict and published")):
        for cause, count in Counter(row.cause for row in rows).most_common():
            say(f"  {sides}: {count} differ by {cause}")
    say(f"Report: {report}")


def _require_published(tasks: list[TaskRow], option: str) -> None:
    for task in tasks:
        if task.published is None:
            raise InputError(
                f"{option} judges imported tasks, and task {task.id!r} is not one; `lawtrace tasks import` makes them"
            )


def _attempts(environment: Environment, tasks: list[TaskRow], files: list[Path]) -> list[AttemptRow]:
    wanted: list[ProgramRow] = []
    for path in files:
        rows = read_programs(path)
        check_tasks_exist(tasks, rows, str(path))
        wanted += rows
    with Jails() as jails, Bars().stage("programs in the jail", len(wanted)) as step:
        return run_programs(environment, tasks, wanted, jails, step)


def _say_result(verdicts: list[VerdictRow], moved: list[MovedVerdict], out: Path, *, as_json: bool) -> None:
    if as_json:
        counts, denied = (
            {outcome: sum(v.outcome == outcome for v in verdicts if v.family == family) for outcome in OUTCOMES}
            for family in ("ordinary", "denied")
        )
        lines: list[Json] = [str(one) for one in moved]
        show_json(
            {"verdicts": len(verdicts), "outcomes": {**counts}, "denied": {**denied}, "moved": lines, "out": str(out)}
        )
        return
    show(outcome_table(verdicts))
    for one in moved:
        say(str(one))
    say(f"Written: {out}")
