"""``lawtrace grade``: judge programs, or judge the attempts of a run again."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic import BaseModel, ConfigDict

from lawtrace.environments.domains.loader import Domain
from lawtrace.runs.cli.output import print_invalid, print_note, print_outcome, print_problems, print_result
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.recipe_flags import RecipeFlags
from lawtrace.runs.cli.recipe_overrides import stage_recipe
from lawtrace.runs.cli.shards import cluster_at, refuse_with_shard
from lawtrace.runs.cli.shortfalls import find_shortfalls
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.published import published_evaluation
from lawtrace.runs.report.run_tables import pair_score_table, user_score_table
from lawtrace.runs.report.terminal_tables import outcome_table, report_table
from lawtrace.runs.runner import Session
from lawtrace.runs.scoring.verdict_changes import (
    RuleChange,
    VerdictChange,
    compare_rules,
    compare_verdicts,
    replace_rules,
)
from lawtrace.runs.stages.artifacts import ATTEMPTS, TASKS, VERDICTS
from lawtrace.runs.stages.baseline_answers import baseline_programs
from lawtrace.runs.stages.resolve import curated_rules
from lawtrace.runs.stages.stage import Stage, StageContext, StageInputs
from lawtrace.runs.stages.submitted_programs import PROGRAMS, PROGRAMS_STAGE, SubmittedRow, read_programs
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shards import FoundShard, Shard, begin_record, end_record, merged_lines, record_path
from lawtrace.runs.store.stage_files import UsableRows, read_rows, read_usable_rows, write_lines, write_rows
from lawtrace.runs.store.stage_store import Products, StageFile, stage_key
from lawtrace.runs.store.task_file import match_to_tasks, read_usable_tasks
from lawtrace.runs.tasks import Task
from lawtrace.runs.web.export import write_run_report
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.choices import GRADING_PROFILES, GradingProfile
from lawtrace.schemas.errors import InputError, Problem
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.verdict_rows import OUTCOMES, Verdict

MAX_CHANGES = 20


def grade(
    flags: RecipeFlags,
    *,
    run: Path | None,
    tasks: Path | None,
    programs: list[Path] | None,
    profile: GradingProfile,
    compare: Path | None,
    out: Path,
    fail_under: float | None,
    shard: str | None,
    on: str | None,
    as_json: bool,
) -> None:
    """Judge what is given, or a shard of it, and write the verdicts."""
    part = None if shard is None else Shard.parse(shard)
    if on is not None and run is not None:
        raise InputError("--on divides programs that are to run, and the attempts of a run have run; leave it out")
    if part is not None:
        _check_divisible(profile, compare, fail_under)
    given = _read(run, tasks, programs, flags.env)
    recipe = stage_recipe(flags, given.domain.environment.name)
    rows, changed_rules = given.tasks, list[RuleChange]()
    if recipe.rules.file is not None:
        chosen = curated_rules(recipe, given.domain)
        rows = [replace_rules(task, chosen) for task in rows]
        changed_rules = compare_rules(given.tasks, rows)
    if compare is not None:
        check_output(compare, force=flags.force)
    if compare is not None or profile != "strict":
        _require_published(rows, "--compare" if compare else f"--profile {profile}")
    profiles: list[GradingProfile] = [name for name in GRADING_PROFILES if compare is not None or name == profile]
    stages: tuple[Stage[StageInputs, StageContext], ...] = (PROGRAMS_STAGE,)
    files: Mapping[GradingProfile, StageFile[Verdict]] = {"strict": VERDICTS}
    if profiles != ["strict"]:
        stages = (PROGRAMS_STAGE, *published_evaluation("stages:PUBLISHED_STAGES"))
        files = published_evaluation("stages:VERDICTS_BY_PROFILE")
    units, key = len(given.programs if given.attempts is None else given.attempts), ""
    records = () if part is None else (record_path(out),)
    if part is not None:
        key = _key(recipe, given, rows, profile)
        given = given.part(part)

    async def work(session: Session) -> Products:
        runner = session.runner(recipe, stages=stages)
        runner.give(TASKS, rows)
        if given.attempts is not None:
            runner.give(ATTEMPTS, given.attempts)
        else:
            baselines = baseline_programs(given.domain.environment, rows) if compare else []
            runner.give(PROGRAMS, [*given.programs, *baselines])
        return await runner.make(*(files[name] for name in profiles))

    runs_programs = given.attempts is None or profiles != ["strict"]
    with cluster_at(on, shard) as cluster:
        made = run_stages(
            recipe,
            out,
            "grade",
            work,
            *records,
            force=flags.force,
            sandbox=runs_programs,
            models=False,
            cluster=cluster,
        )
    verdicts, attempts = made[files[profile]], made[ATTEMPTS]
    write_rows(out, verdicts)
    print_problems(given.problems)
    if compare is not None:
        compare_profiles: Callable[..., Iterator[str]] = published_evaluation("comparison:compare_profiles")
        by_profile = {name: made[file] for name, file in files.items()}
        for line in compare_profiles(given.domain.environment, rows, attempts, by_profile, given.recorded, compare):
            print_note(line)
        print_note(f"Report: {write_run_report(compare, flags.env).path}")
    changed = compare_verdicts(given.verdicts, verdicts)
    graded = _Graded(
        unusable=[str(problem) for problem in given.problems],
        cut_short=_cut_short(attempts),
        changed_rules=changed_rules,
        moved=[str(one) for one in changed],
    )
    if not as_json:
        print_invalid((row.task, row.reason) for row in verdicts if row.outcome == "invalid")
        _print_changes(changed_rules, changed, graded.cut_short)
    if part is not None:
        record = begin_record("grade", part, out)
        end_record(record, out, key=key, units=units, options=graded.model_dump(mode="json"))
        summary = {"verdicts": len(verdicts), "shard": str(part), "units": units}
        shown = f"{len(verdicts)} of {units} verdicts (shard {part}). `lawtrace merge` joins all shards."
        print_outcome(summary, shown, as_json=as_json, out=out)
        raise typer.Exit(1 if graded.unusable else 0)
    _end(verdicts, graded, out, fail_under, as_json=as_json)


class _Graded(BaseModel):
    """What is known of graded programs besides the verdicts.

    Attributes:
        unusable: the problems of rows that have no verdict.
        cut_short: programs stopped by a limit or killed: status -> number.
        moved: how verdicts differ from those that a run had.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    unusable: list[str]
    cut_short: dict[str, int]
    changed_rules: list[RuleChange]
    moved: list[str]


def _end(
    verdicts: Sequence[Verdict], graded: _Graded, out: Path, fail_under: float | None, *, as_json: bool
) -> NoReturn:
    """Print the result, and end with the exit code that it deserves."""
    shortfalls = find_shortfalls({"": verdicts}, fail_under)
    print_outcome(
        {
            "verdicts": len(verdicts),
            **_outcomes(verdicts, len(graded.unusable)),
            "cut_short": graded.cut_short,
            "changed_rules": [asdict(rule) for rule in graded.changed_rules],
            "moved": graded.moved,
            "unusable": graded.unusable,
            "shortfalls": shortfalls,
        },
        outcome_table(verdicts, unusable=len(graded.unusable)),
        as_json=as_json,
        out=out,
    )
    for found in (pair_score_table(verdicts), user_score_table(verdicts)):
        if found is not None and not as_json:
            print_result(report_table(found))
    for shortfall in shortfalls:
        print_note(shortfall)
    raise typer.Exit(1 if graded.unusable or shortfalls else 0)


def merge_grades(
    shards: Sequence[FoundShard], out: Path, fail_under: float | None, *, force: bool, as_json: bool
) -> NoReturn:
    """Join the verdicts of all shards, print the result, and end with the exit code that it deserves."""
    check_output(out, force=force)
    write_lines(out, merged_lines(shards))
    parts = [_Graded.model_validate(shard.record.options) for shard in shards]
    graded = _Graded(
        unusable=parts[0].unusable,  # every shard reads all rows
        cut_short=dict(sum((Counter(part.cut_short) for part in parts), Counter[str]())),
        changed_rules=parts[0].changed_rules,
        moved=[one for part in parts for one in part.moved],
    )
    _end(read_rows(out, Verdict), graded, out, fail_under, as_json=as_json)


def _check_divisible(profile: GradingProfile, compare: Path | None, fail_under: float | None) -> None:
    """Check that programs are graded one by one. Raises InputError."""
    refuse_with_shard({"--fail-under": fail_under, "--compare": compare})
    if profile == "published-shared":
        raise InputError(
            "--profile published-shared judges a workflow program by what the goal program used up, so it has no "
            "shards; leave out --shard"
        )


def _key(recipe: Recipe, given: "_Given", tasks: Sequence[Task], profile: GradingProfile) -> str:
    """A hash over all that the verdicts depend on."""
    rows = given.programs if given.attempts is None else given.attempts
    judged_by = (given.domain.digest, recipe.tools, recipe.attempts.seconds, recipe.sandbox, profile)
    return stage_key("grade", version("lawtrace"), judged_by, tasks, rows, given.problems)


@dataclass(frozen=True, slots=True)
class _Given:
    """What is judged: the attempts of a run with their verdicts, or programs with the verdicts recorded with them."""

    domain: Domain
    tasks: list[Task]
    attempts: list[Attempt] | None
    programs: Sequence[SubmittedRow]
    recorded: Sequence[Any]
    verdicts: Sequence[Verdict]
    problems: list[Problem]

    def part(self, shard: Shard) -> "_Given":
        """What a shard judges of it."""
        attempts = None if self.attempts is None else [*shard.of(self.attempts)]
        return replace(self, attempts=attempts, programs=shard.of(self.programs))


def _read(run: Path | None, tasks: Path | None, programs: list[Path] | None, env: str | None) -> _Given:
    if (run is None) != (tasks is not None and bool(programs)) or (run is not None and (tasks or programs)):
        raise InputError("give either the folder of a run, or --tasks FILE and --programs FILE")
    if run is None:
        assert tasks is not None
        read, domain = read_usable_tasks(tasks, env)
        matched, recorded = _programs(read.rows, programs or [])
        return _Given(domain, read.rows, None, matched.rows, recorded, (), [*read.problems, *matched.problems])
    folder = RunFolder(run).existing()
    read, domain = read_usable_tasks(folder.tasks, env)
    attempts = match_to_tasks(read.rows, read_usable_rows(folder.attempts, Attempt))
    earlier = read_usable_rows(folder.verdicts, Verdict).rows if folder.verdicts.exists() else ()
    return _Given(domain, read.rows, attempts.rows, (), (), earlier, [*read.problems, *attempts.problems])


def _programs(tasks: list[Task], files: list[Path]) -> tuple[UsableRows[SubmittedRow], Sequence[Any]]:
    """The programs of all files about the tasks, and the verdicts recorded with them."""
    found, recorded = UsableRows[SubmittedRow](), list[Any]()
    for path in files:
        read = read_programs(path)
        found.rows += read.usable.rows
        found.places += read.usable.places
        found.problems += read.usable.problems
        recorded += read.recorded
    matched = match_to_tasks(tasks, found)
    if not matched.rows:
        first = f"; {matched.problems[0]}" if matched.problems else ""
        raise InputError(f"{', '.join(map(str, files))}: no usable program{first}")
    return matched, recorded


def _require_published(tasks: list[Task], option: str) -> None:
    for task in tasks:
        if task.published is None:
            raise InputError(f"{option} needs imported tasks, and {task.id!r} is not one; use `lawtrace tasks import`")


def _cut_short(attempts: Sequence[Attempt]) -> dict[str, int]:
    """Programs stopped by a limit or killed: status -> number. They have verdicts like the others."""
    statuses = Counter(attempt.execution.status for attempt in attempts if attempt.execution is not None)
    return {
        status: number for status, number in sorted(statuses.items()) if status.endswith("limit") or status == "killed"
    }


def _outcomes(verdicts: Sequence[Verdict], unusable: int) -> dict[str, dict[str, int]]:
    counts, denied = (
        {outcome: sum(v.outcome == outcome for v in verdicts if v.variant == variant) for outcome in OUTCOMES}
        for variant in ("authorized", "denied")
    )
    counts["invalid"] += unusable
    return {"outcomes": {**counts}, "denied": {**denied}}


def _print_changes(rules: list[RuleChange], verdicts: list[VerdictChange], cut_short: dict[str, int]) -> None:
    """Print the changed rules, how many verdicts each of them changed, the changed verdicts, and stopped programs."""
    for rule in rules:
        print_note(str(rule))
    because = Counter((one.change, rule) for one in verdicts for rule in (*one.now_broken, *one.no_longer_broken))
    for (change, rule), number in because.most_common():
        print_note(f"  {number} {'verdict' if number == 1 else 'verdicts'} {change} because of {rule}")
    for one in verdicts[:MAX_CHANGES]:
        print_note(str(one))
    if len(verdicts) > MAX_CHANGES:
        print_note(f"... and {len(verdicts) - MAX_CHANGES} more; --json lists them all")
    if cut_short:
        kinds = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in cut_short.items())
        print_note(f"Stopped programs, judged by their calls until then: {kinds}.")
