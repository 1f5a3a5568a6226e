"""``lawtrace grade``: verdicts on programs that are given, or on a finished run again."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.declaration import Environment
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.jail import Jail, Jails, Walls
from lawtrace.environments.problems import Problem
from lawtrace.runs.assemble import content_of_comparison
from lawtrace.runs.cli.options import WhereEnvironment
from lawtrace.runs.cli.output import Bars, say, say_invalid, say_problems, show, show_json
from lawtrace.runs.cli.sandbox import WhichSandbox, walls_for, warn_of_sandboxes
from lawtrace.runs.files import Usable, read_usable_rows, write_rows
from lawtrace.runs.grading.judge import judge
from lawtrace.runs.grading.regrading import ChangedRule, MovedVerdict, changed_rules, moved_verdicts, with_rules
from lawtrace.runs.grading.verdict import OUTCOMES, PUBLISHED_PROFILES, Profile, VerdictRow
from lawtrace.runs.layout import RunFolder
from lawtrace.runs.programs import Given, read_programs
from lawtrace.runs.published.comparison import FROM_RECORDS, compare_profiles, write_comparison
from lawtrace.runs.published.grading import judge_pairs_published
from lawtrace.runs.published.records import RecordedVerdict
from lawtrace.runs.recipe import BASELINES
from lawtrace.runs.report.build import write_report
from lawtrace.runs.report.terminal import outcome_table
from lawtrace.runs.stages.attempt import run_programs
from lawtrace.runs.stages.built_in import baseline_programs
from lawtrace.runs.stages.rows import AttemptRow, TaskRow
from lawtrace.runs.tasks import read_usable_tasks, sift
from lawtrace.solver.rules import check_rules, load_rules


def grade(
    run: Annotated[
        Path | None, typer.Argument(help="The folder of a finished run, to grade its attempts again.")
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="The tasks (JSON lines).")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option(
            help='Programs: JSON lines {"task", "style", "program"}, attempts, or a published record file. Repeatable.'
        ),
    ] = None,
    env: WhereEnvironment = None,
    rules: Annotated[Path | None, typer.Option(help="Judge by this rule file instead of the tasks' own rules.")] = None,
    profile: Annotated[Profile, typer.Option(help="How verdicts are reached.")] = "strict",
    compare: Annotated[
        Path | None,
        typer.Option(help="For imported tasks: judge by every profile, the baselines too; where the comparison goes."),
    ] = None,
    sandbox: WhichSandbox = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("verdicts.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Judge programs in the jail: is the goal reached, and were all rules kept?"""
    walls = walls_for(sandbox)
    if run is not None and (tasks is not None or programs):
        raise InputError("give either the folder of a run, or --tasks FILE and --programs FILE, not both")
    if run is not None:
        folder = RunFolder(run).existing()
        read, setting = read_usable_tasks(folder.tasks, env)
        rows = read.rows
        sifted = sift(rows, read_usable_rows(folder.attempts, AttemptRow))
        attempts, recorded = sifted.rows, list[RecordedVerdict]()
        problems = [*read.problems, *sifted.problems]
    elif tasks is None or not programs:
        raise InputError("give the folder of a run, or --tasks FILE and --programs FILE")
    else:
        read, setting = read_usable_tasks(tasks, env)
        rows = read.rows
        wanted, recorded, found = _programs(rows, programs)
        problems = [*read.problems, *found]
        if compare is not None:
            wanted += baseline_programs(setting.environment, rows)
        with Jails(walls=walls) as jails, Bars().stage("programs in the jail", len(wanted)) as step:
            attempts = run_programs(setting.environment, rows, wanted, jails, step, regulation=setting.regulation)
    changed: list[ChangedRule] = []
    if rules is not None:
        chosen = load_rules(rules)
        check_rules(chosen, setting.environment)
        judged_before, rows = rows, [with_rules(task, chosen) for task in rows]
        changed = changed_rules(judged_before, rows)
    if compare is not None:
        _compare(setting.environment, rows, attempts, recorded, compare, walls)
    verdicts = _verdicts(setting.environment, rows, attempts, profile, walls)
    write_rows(out, verdicts)
    earlier = RunFolder(run).verdicts if run is not None else None
    before = read_usable_rows(earlier, VerdictRow).rows if earlier is not None and earlier.exists() else []
    warn_of_sandboxes(attempt.sandbox for attempt in attempts)
    say_problems(problems)
    moved = moved_verdicts(before, verdicts)
    _say_result(verdicts, changed, moved, _cut_short(attempts), problems, out, as_json=as_json)
    raise typer.Exit(1 if problems else 0)


def _verdicts(
    environment: Environment, tasks: list[TaskRow], attempts: list[AttemptRow], profile: Profile, walls: Walls
) -> list[VerdictRow]:
    by_id = {task.id: task for task in tasks}
    if profile == "strict":
        return [judge(environment, by_id[attempt.task], attempt) for attempt in attempts]
    _require_published(tasks, f"--profile {profile}")
    with Jail(walls=walls) as jail, Bars().stage("published mock", len(attempts)) as step:
        return judge_pairs_published(by_id, attempts, jail, profile, step)


def _compare(
    environment: Environment,
    tasks: list[TaskRow],
    attempts: list[AttemptRow],
    recorded: list[RecordedVerdict],
    folder: Path,
    walls: Walls,
) -> None:
    _require_published(tasks, "--compare")
    with Jail(walls=walls) as jail, Bars().stage("every profile", len(attempts) * len(PUBLISHED_PROFILES)) as step:
        comparison = compare_profiles(environment, tasks, attempts, recorded, jail, step)
    write_comparison(comparison, folder)
    report = folder / "report.html"
    write_report(content_of_comparison(comparison), report)
    same = len(recorded) - len(comparison.unreproduced)
    say(f"{same} of {len(recorded)} recorded verdicts come out the same by {FROM_RECORDS}.")
    for rows, sides in ((comparison.unreproduced, "recorded"), (comparison.differences, "strict and published")):
        ours = Counter(row.cause for row in rows if row.model in BASELINES)
        for cause, count in Counter(row.cause for row in rows).most_common():
            baselines = f" ({ours[cause]} of them baselines)" if ours[cause] else ""
            say(f"  {sides}: {count} differ by {cause}{baselines}")
    say(f"Report: {report}")


def _require_published(tasks: list[TaskRow], option: str) -> None:
    for task in tasks:
        if task.published is None:
            raise InputError(
                f"{option} judges imported tasks, and task {task.id!r} is not one; `lawtrace tasks import` makes them"
            )


def _programs(tasks: list[TaskRow], files: list[Path]) -> tuple[list[Given], list[RecordedVerdict], list[Problem]]:
    """The programs to judge, the verdicts recorded beside them, and what could not be used."""
    everything, recorded = Usable[Given](), list[RecordedVerdict]()
    for path in files:
        read = read_programs(path)
        everything.rows += read.usable.rows
        everything.places += read.usable.places
        everything.problems += read.usable.problems
        recorded += read.recorded
    sifted = sift(tasks, everything)
    if not sifted.rows:
        first = f"; {sifted.problems[0]}" if sifted.problems else ""
        raise InputError(f"{', '.join(map(str, files))}: no program can be used{first}")
    kept = {(row.task, row.style, row.model) for row in sifted.rows}
    verdicts = {(row.task, row.style, row.model): row for row in reversed(recorded)}
    return sifted.rows, [row for key, row in verdicts.items() if key in kept][::-1], sifted.problems


def _cut_short(attempts: list[AttemptRow]) -> dict[str, int]:
    """How many programs did not end by themselves: status -> number. Each has its verdict all the same."""
    statuses = Counter(attempt.execution.status for attempt in attempts if attempt.execution is not None)
    return {
        status: number for status, number in sorted(statuses.items()) if status.endswith("limit") or status == "killed"
    }


def _say_result(
    verdicts: list[VerdictRow],
    changed: list[ChangedRule],
    moved: list[MovedVerdict],
    cut_short: dict[str, int],
    problems: list[Problem],
    out: Path,
    *,
    as_json: bool,
) -> None:
    if as_json:
        counts, denied = (
            {outcome: sum(v.outcome == outcome for v in verdicts if v.family == family) for outcome in OUTCOMES}
            for family in ("ordinary", "denied")
        )
        counts["invalid"] += len(problems)
        rules: list[Json] = [asdict(rule) for rule in changed]
        lines: list[Json] = [str(one) for one in moved]
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
        show_json(summary)
        return
    show(outcome_table(verdicts, unusable=len(problems)))
    say_invalid((row.task, row.reason) for row in verdicts if row.outcome == "invalid")
    _say_moved(changed, moved)
    if cut_short:
        kinds = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in cut_short.items())
        say(f"Programs that did not end by themselves, and were judged by what they did until then: {kinds}.")
    say(f"Written: {out}")


SHOWN_MOVES = 20


def _say_moved(changed: list[ChangedRule], moved: list[MovedVerdict]) -> None:
    """Which rules are not what they were, how many verdicts each moved, and which verdicts."""
    for rule in changed:
        say(str(rule))
    because = Counter((one.change, rule) for one in moved for rule in (*one.now_broken, *one.no_longer_broken))
    for (change, rule), number in because.most_common():
        say(f"  {number} {'verdict' if number == 1 else 'verdicts'} {change} because of {rule}")
    for one in moved[:SHOWN_MOVES]:
        say(str(one))
    if len(moved) > SHOWN_MOVES:
        say(f"... and {len(moved) - SHOWN_MOVES} more; --json lists them all")
