"""``lawtrace tasks sample`` and ``tasks adjudicate``: sessions for annotators, and what is read back of them."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from lawtrace.runs.cli.output import make_table, problem_notes
from lawtrace.runs.release.sessions import JudgedSession, draw, read_sets, run_attempts, sessions_of
from lawtrace.runs.release.sheets import compare, read_forms, read_key, solver_record, write_adjudication, write_sample
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.schemas.errors import InputError


def sample_sessions(
    release: Annotated[Path, typer.Argument(help="Folder or name of a release, or a task file.")],
    runs: Annotated[list[Path] | None, typer.Argument(help="Runs of models on its tasks.")] = None,
    out: Annotated[Path, typer.Option(help="Output folder.")] = Path("sample"),
    count: Annotated[int, typer.Option(min=1, help="Number of sessions.")] = 500,
    failing: Annotated[bool, typer.Option("--failing", help="All failing attempts of the runs instead.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
) -> CommandResult:
    """Write sessions for annotators to judge.

    They see law, manual, tools, the request and the calls, and no verdict. References, habits, mutants and attempts of
    models are drawn evenly by set, verdict and decision point. OUT/sheets is for annotators; OUT/key.jsonl is not.
    """
    if (out / "key.jsonl").exists():
        raise InputError(f"{out}: holds a sample, which would no longer fit its answers; choose a new folder")
    if failing and not runs:
        raise InputError("--failing needs the runs of which attempts are to be adjudicated")
    sets, random = read_sets(release), Random(seed)
    attempts = run_attempts(runs or (), sets)
    rows = [one.row() for one in attempts]
    if failing:
        judged = [one for one, row in zip(attempts, rows, strict=True) if row.shows_law and row.fails]
        sessions = [JudgedSession.of(one) for one in judged if not one.verdict.model.startswith("baseline:")]
        random.shuffle(sessions)
    else:
        sessions = draw(sessions_of(sets, attempts, random), count, random)
    keys = write_sample(out, sessions, "failing" if failing else "sample")
    write_rows(out / "attempts.jsonl", rows)
    counts = Counter((key.environment, key.law, key.goal) for key in keys)
    table = make_table(("environment", "law", "goal", "sessions"), ((*kind, n) for kind, n in sorted(counts.items())))
    short = f" There are no more than these; {count} were asked for." if not failing and len(keys) < count else ""
    return CommandResult(
        {"sessions": len(keys), "attempts": len(rows), "kinds": {**Counter(key.kind for key in keys)}},
        [table, f"{len(keys)} sessions.{short} Give annotators {out / 'sheets'}, and nothing else of {out}."],
        out,
    )


def adjudicate(
    folder: Annotated[Path, typer.Argument(help="Folder of `tasks sample`, with answers/ANNOTATOR/*.json.")],
) -> CommandResult:
    """Read annotators' forms, and write what is to be adjudicated.

    Sessions on which annotators differ from each other or from the verdict become sheets in FOLDER/adjudication, which
    show law and session alone. With its answers there, the same command records what is settled.
    """
    keys = read_key(folder)
    first, second = read_forms(folder, "annotator"), read_forms(folder, "adjudicator")
    compared = compare(keys, [*first.judgments, *second.judgments])
    waiting = write_adjudication(folder, compared)
    write_rows(folder / "judgments.jsonl", [*first.judgments, *second.judgments])
    record = solver_record(compared)
    if any(key.drawn == "failing" for key in keys):
        write_rows(folder / "solver_record.jsonl", record)
    settled = {one.id for one in second.judgments}
    open_ids = [id_ for id_ in waiting if id_ not in settled]
    problems = [*first.problems, *second.problems]
    unquoted = [*first.unquoted, *second.unquoted]
    told = f"{len(unquoted)} judgments quote no words of law or manual, {unquoted[0]} first" if unquoted else ""
    unjudged = sum(not one.settling for one in compared)
    return CommandResult(
        {
            "sessions": len(keys),
            "judgments": len(first.judgments),
            "unjudged": unjudged,
            "differ": len(waiting),
            "to_adjudicate": len(open_ids),
            "wrong": [one.key.id for one in compared if one.is_wrong and one.key.id not in open_ids],
            "whose": {**Counter(row.whose for row in record)},
            "problems": [str(one) for one in problems],
            "unquoted": unquoted,
        },
        [
            f"{len(first.judgments)} judgments of {len(keys) - unjudged} of {len(keys)} sessions; on {len(waiting)} "
            f"annotators differ from each other or from the verdict, and {len(open_ids)} of these are to be adjudicated"
            + (f": give the adjudicator {folder / 'adjudication' / 'sheets'}." if open_ids else ".")
        ],
        folder / "judgments.jsonl",
        [*problem_notes(problems), *filter(None, [told])],
        1 if problems or open_ids or unjudged else 0,
    )
