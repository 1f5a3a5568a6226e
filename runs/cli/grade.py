"""``lawtrace grade``: judge programs, or judge the attempts of a run again."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import FailUnderOption, OutOption
from lawtrace.runs.cli.output import invalid_notes, print_note, print_shown, problem_notes
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.recipe_flags import SELECTION, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.cli.thresholds import find_shortfalls
from lawtrace.runs.grading import count_by_outcome, count_cut_short, read_input, require_published
from lawtrace.runs.published import published_evaluation
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.outcome_tables import docket_table, pair_score_table, user_score_table
from lawtrace.runs.report.tables import filled
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
from lawtrace.runs.stages.stage import Stage, StageContext, StageInputs
from lawtrace.runs.stages.submitted_programs import PROGRAMS, PROGRAMS_STAGE
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.stage_store import Products, StageFile
from lawtrace.runs.store.task_file import select_tasks
from lawtrace.runs.web.export import write_run_report
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.choices import GRADING_PROFILES, GradingProfile
from lawtrace.schemas.verdict_rows import Verdict

MAX_CHANGES = 20


@recipe_flags("rules", *SELECTION, env="folder", budget=False)
def grade(
    flags: RecipeFlags,
    run: Annotated[Path | None, typer.Argument(help="Folder of a finished run to judge again.")] = None,
    tasks: Annotated[Path | None, typer.Option(help="Task file (JSON lines).")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option(metavar="<path>", help='JSON lines {"task", "style", "program"}, attempts, or published records.'),
    ] = None,
    profile: Annotated[GradingProfile, typer.Option(help="Grading profile.")] = "strict",
    compare: Annotated[Path | None, typer.Option(help="Output folder for a comparison of all profiles.")] = None,
    out: OutOption = Path("verdicts.jsonl"),
    fail_under: FailUnderOption = None,
) -> CommandResult:
    """Judge programs or the attempts of a run.

    The rules are those of the tasks, unless --rules or the recipe names a rule file.

    Exit code 1 if a model has no judged attempt or too low a Pass@1, or if a row is unusable.
    """
    given = read_input(run, tasks, programs, flags.env)
    inputs = stage_recipe(flags, given.domain.environment.name)
    recipe = inputs.recipe
    given = given.of_tasks(select_tasks(given.tasks, recipe.tasks, "the tasks"))
    rows, changed_rules = given.tasks, list[RuleChange]()
    if recipe.rules.file is not None:
        rows = [replace_rules(task, inputs.rules) for task in rows]
        changed_rules = compare_rules(given.tasks, rows)
    if compare is not None:
        check_output(compare, force=flags.force)
    stages: tuple[Stage[StageInputs, StageContext], ...] = (PROGRAMS_STAGE,)
    files: Mapping[GradingProfile, StageFile[Verdict]] = {"strict": VERDICTS}
    if compare is not None or profile != "strict":
        require_published(rows, "--compare" if compare else f"--profile {profile}")
        stages = (PROGRAMS_STAGE, *published_evaluation("stages:PUBLISHED_STAGES"))
        files = published_evaluation("stages:VERDICTS_BY_PROFILE")
    profiles: list[GradingProfile] = [name for name in GRADING_PROFILES if compare is not None or name == profile]

    async def work(session: Session) -> Products:
        runner = session.runner(inputs, stages=stages)
        runner.give(TASKS, rows)
        baselines = baseline_programs(given.domain.environment, rows) if compare and run is None else []
        runner.give(PROGRAMS, [*given.rows, *baselines])
        return await runner.make(*(files[name] for name in profiles))

    sandbox = profiles != ["strict"] or any(isinstance(row, Answer) for row in given.rows)
    made = run_stages(recipe, out, "grade", work, force=flags.force, sandbox=sandbox, models=False)
    verdicts, attempts = made[files[profile]], made[ATTEMPTS]
    write_rows(out, verdicts)
    print_shown(problem_notes(given.problems))
    if compare is not None:
        compare_profiles: Callable[..., Iterator[str]] = published_evaluation("comparison:compare_profiles")
        by_profile = {name: made[file] for name, file in files.items()}
        for line in compare_profiles(given.domain.environment, rows, attempts, by_profile, given.recorded, compare):
            print_note(line)
        print_note(f"Report: {write_run_report(compare, flags.env).path}")
    changed = compare_verdicts(given.verdicts, verdicts)
    unusable, cut_short = [str(problem) for problem in given.problems], count_cut_short(attempts)
    invalid = invalid_notes((row.task, row.reason) for row in verdicts if row.outcome == "invalid")
    shortfalls = find_shortfalls({"": verdicts}, fail_under)
    scores = map(report_table, filled(pair_score_table(verdicts), docket_table(verdicts), user_score_table(verdicts)))
    return CommandResult(
        {
            "verdicts": len(verdicts),
            "outcomes": {**count_by_outcome(verdicts, len(unusable))},
            "cut_short": {**cut_short},
            "changed_rules": [asdict(one) for one in changed_rules],
            "moved": [str(one) for one in changed],
            "unusable": [*unusable],
            "shortfalls": [*shortfalls],
        },
        [
            *invalid,
            *_change_notes(changed_rules, changed, cut_short),
            outcome_table(verdicts, unusable=len(unusable)),
            *scores,
        ],
        out,
        shortfalls,
        1 if unusable or shortfalls else 0,
    )


def _change_notes(rules: list[RuleChange], verdicts: list[VerdictChange], cut_short: dict[str, int]) -> Iterator[Note]:
    """The changed rules, how many verdicts each of them changed, the changed verdicts, and stopped programs."""
    for rule in rules:
        yield Note(str(rule))
    because = Counter((one.change, rule) for one in verdicts for rule in (*one.now_broken, *one.no_longer_broken))
    for (change, rule), number in because.most_common():
        yield Note(f"  {number} {'verdict' if number == 1 else 'verdicts'} {change} because of {rule}")
    for one in verdicts[:MAX_CHANGES]:
        yield Note(str(one))
    if len(verdicts) > MAX_CHANGES:
        yield Note(f"... and {len(verdicts) - MAX_CHANGES} more; --json lists them all")
    if cut_short:
        kinds = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in cut_short.items())
        yield Note(f"Stopped programs, judged by their calls until then: {kinds}.")
