"""``lawtrace rules review`` and ``lawtrace tasks review``: people accept, reject or edit, on a local web page."""

import importlib.util
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lawtrace.environments.catalogue import load_setting
from lawtrace.environments.errors import CannotCarryOut
from lawtrace.environments.events import Json
from lawtrace.runs.cli.extracting import read_regulation
from lawtrace.runs.cli.options import WhereEnvironment, WhichEnvironment
from lawtrace.runs.cli.output import make_table, say, show, show_json
from lawtrace.runs.report.texts import percent, show_interval
from lawtrace.runs.reviewing.agreement import Summary, summarize_review
from lawtrace.runs.reviewing.ballot import Ballot
from lawtrace.runs.reviewing.opinions import OpinionRow
from lawtrace.runs.reviewing.protocol import Protocol, load_protocol
from lawtrace.runs.reviewing.rules import RulesUnderReview
from lawtrace.runs.reviewing.signed import SignedBook
from lawtrace.runs.reviewing.subjects import Subject
from lawtrace.runs.reviewing.tasks import TasksUnderReview
from lawtrace.runs.tasks import read_tasks
from lawtrace.runs.trails import read_trail, trail_beside
from lawtrace.solver.rules import load_rules

if TYPE_CHECKING:
    from lawtrace.runs.reviewing.desk import Desk  # needs the extra `view`

Recipe = Annotated[Path | None, typer.Option("--recipe", help="The protocol: reviewers, rounds, decision, quota.")]
Opinions = Annotated[Path | None, typer.Option("--opinions", help="The file of opinions; by default beside the file.")]
Out = Annotated[Path | None, typer.Option("--out", help="Where to write what is accepted; by default beside the file.")]
Status = Annotated[bool, typer.Option("--status", help="Serve nothing: print where the review stands.")]
Host = Annotated[str, typer.Option(help="Where to listen; anywhere but on loopback a token is needed.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def review_rules(
    file: Annotated[Path, typer.Argument(help="The rules.")],
    env: WhichEnvironment = "banking",
    document: Annotated[Path | None, typer.Option(help="The regulation that they were drawn from.")] = None,
    recipe: Recipe = None,
    opinions: Opinions = None,
    out: Out = None,
    status: Status = False,
    host: Host = "127.0.0.1",
    port: Port = 8719,
    as_json: AsJson = False,
) -> None:
    """Review rules in the browser: provision, formula, automaton and traces from the solver side by side."""
    setting = load_setting(env)
    if document is not None:
        setting = setting.with_regulation(read_regulation(document)[0])
    trail = read_trail(trail_beside(file)) if trail_beside(file).exists() else None
    subject = RulesUnderReview(load_rules(file), setting, trail)
    _review(subject, file, recipe, opinions, out, status=status, host=host, port=port, as_json=as_json)


def review_tasks(
    file: Annotated[Path, typer.Argument(help="The tasks.")],
    env: WhereEnvironment = None,
    recipe: Recipe = None,
    opinions: Opinions = None,
    out: Out = None,
    status: Status = False,
    host: Host = "127.0.0.1",
    port: Port = 8719,
    as_json: AsJson = False,
) -> None:
    """Review tasks in the browser: each instruction beside the calls of its reference; a pair passes if both do."""
    tasks, setting = read_tasks(file, env)
    subject = TasksUnderReview(tasks, setting)
    _review(subject, file, recipe, opinions, out, status=status, host=host, port=port, as_json=as_json)


def _review(
    subject: Subject,
    file: Path,
    recipe: Path | None,
    opinions: Path | None,
    out: Path | None,
    *,
    status: bool,
    host: str,
    port: int,
    as_json: bool,
) -> None:
    protocol = load_protocol(recipe) if recipe else Protocol()
    book = SignedBook(opinions or file.with_suffix(".opinions.jsonl"), OpinionRow)
    if not status:
        serve_desk(lambda: _pages(subject, protocol, book), host=host, port=port, as_json=as_json)
    ballot = Ballot(protocol, subject.items(), book.rows)
    accepted = out or file.with_suffix(".accepted.jsonl")
    written = subject.export(ballot.accepted(), accepted)
    summary = summarize_review(ballot)
    if as_json:
        show_json({**_as_json(summary), "out": str(accepted), "written": written})
        return
    table = make_table("round", "items", "all say the same", "mean Cohen's kappa", "Fleiss' kappa")
    for line in summary.rounds:
        kappas = ("–" if kappa is None else f"{kappa:.2f}" for kappa in (line.cohen, line.fleiss))
        table.add_row(str(line.round), str(line.items), percent(line.unanimous), *kappas)
    show(table)
    interval = f" ({show_interval(summary.interval)})" if summary.interval else ""
    show(
        f"{summary.accepted} accepted, {summary.rejected} rejected, {summary.pending} open; acceptance rate "
        f"{percent(summary.rate)}{interval}; reviewers: {', '.join(summary.reviewers) or 'none yet'}."
    )
    if summary.stale:
        say(f"{summary.stale} opinions do not count: on words that have changed since, or of people who do not review.")
    say(f"Opinions: {book.path}. Written: {accepted}, {written} {subject.noun}s.")


def serve_desk(make: Callable[[], "Desk"], *, host: str, port: int, as_json: bool) -> None:
    """Serve the pages until Ctrl-C. ``make`` is called where the extra ``view`` is there; raises CannotCarryOut."""
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise CannotCarryOut("reviewing needs the extra 'view': pip install 'lawtrace[view]'")
    from lawtrace.runs.reviewing.server import serve_review

    def tell(address: str) -> None:
        say(f"Review at {address} Stop with Ctrl-C.")
        if as_json:
            show_json({"address": address})

    with suppress(KeyboardInterrupt):
        serve_review(make(), host=host, port=port, on_ready=tell)


def _pages(subject: Subject, protocol: Protocol, book: SignedBook[OpinionRow]) -> "Desk":
    from lawtrace.runs.reviewing.pages import Pages

    return Pages(subject, protocol, book)


def _as_json(summary: Summary) -> dict[str, Json]:
    rounds: list[Json] = [
        {
            "round": line.round,
            "items": line.items,
            "unanimous": line.unanimous,
            "cohen_kappa": line.cohen,
            "fleiss_kappa": line.fleiss,
        }
        for line in summary.rounds
    ]
    return {
        "accepted": summary.accepted,
        "rejected": summary.rejected,
        "pending": summary.pending,
        "acceptance_rate": summary.rate,
        "rounds": rounds,
        "reviewers": list(summary.reviewers),
    }
