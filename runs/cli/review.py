"""``lawtrace rules review`` and ``tasks review``: people accept, reject, edit or judge, on a local web page."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lawtrace.agents.conversations.formalized_group import FormalizedGroup, GivenJudgment
from lawtrace.runs.cli import options
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.rules_extract import read_regulation
from lawtrace.runs.cli.view import serve_site
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.text import percent, show_interval
from lawtrace.runs.store.stage_files import read_usable_lines
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.web.append_log import AppendLog
from lawtrace.runs.web.review.decisions import OpinionRow, ReviewState, ReviewSummary
from lawtrace.runs.web.review.rule_items import RuleReview
from lawtrace.runs.web.review.session_items import SessionReview
from lawtrace.runs.web.review.task_items import TaskReview
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rule_file

if TYPE_CHECKING:
    from lawtrace.runs.web.site import Site  # needs the extra `view`


def review_rules(
    file: Annotated[Path, typer.Argument(help="Rule file to review.")],
    env: options.EnvironmentOption = "banking",
    document: Annotated[Path | None, typer.Option(help="Regulation from which the rules were extracted.")] = None,
    reviewers: options.ReviewersOption = 1,
    opinions: options.ReviewOpinionsOption = None,
    out: options.ReviewOutOption = None,
    force: options.ForceOption = False,
    status: options.ReviewStatusOption = False,
    host: options.ReviewHostOption = "127.0.0.1",
    port: options.ReviewPortOption = 8719,
    as_json: options.JsonOption = False,
) -> CommandResult:
    """Review rules, or judge sessions, in the browser.

    Shows provision, formula and solver traces side by side. Of a file of formalizations, it asks about the sessions.
    """
    domain = load_domain(env)
    if document is not None:
        domain = domain.with_regulation(read_regulation(document, domain))
    serve = None if status else partial(serve_site, what="Review", host=host, port=port, as_json=as_json)
    groups = read_usable_lines(file, FormalizedGroup.model_validate_json, empty=True)
    if groups.rows:
        if out is not None:
            raise InputError("--out: sessions are not accepted; --opinions names the file of answers")
        log = AppendLog(opinions or file.with_suffix(".answers.jsonl"), GivenJudgment)
        return _review_sessions(SessionReview(groups.valid(), domain.regulation, log, reviewers), serve)
    subject = RuleReview(load_rule_file(file), domain)
    return _review(subject, file, reviewers, opinions, out, serve, force=force)


def review_tasks(
    file: Annotated[Path, typer.Argument(help="Task file to review.")],
    env: options.EnvironmentFolderOption = None,
    reviewers: options.ReviewersOption = 1,
    opinions: options.ReviewOpinionsOption = None,
    out: options.ReviewOutOption = None,
    force: options.ForceOption = False,
    status: options.ReviewStatusOption = False,
    host: options.ReviewHostOption = "127.0.0.1",
    port: options.ReviewPortOption = 8719,
    as_json: options.JsonOption = False,
) -> CommandResult:
    """Review tasks in the browser.

    Shows each instruction beside the calls of its reference. A pair passes if both instructions do.
    """
    tasks, domain = read_tasks(file, env)
    subject = TaskReview(tasks, domain)
    serve = None if status else partial(serve_site, what="Review", host=host, port=port, as_json=as_json)
    return _review(subject, file, reviewers, opinions, out, serve, force=force)


def _review(
    subject: RuleReview | TaskReview,
    file: Path,
    reviewers: int,
    opinions: Path | None,
    out: Path | None,
    serve: "Callable[[Callable[[], Site]], None] | None",
    *,
    force: bool,
) -> CommandResult:
    log = AppendLog(opinions or file.with_suffix(".opinions.jsonl"), OpinionRow)
    accepted = out or file.with_suffix(".accepted.jsonl")
    check_output(accepted, force=force or log.path.exists())  # with decisions, an earlier review wrote it

    def pages() -> "Site":
        from lawtrace.runs.web.review.review_pages import ReviewPages

        return ReviewPages(subject, log, reviewers)

    if serve is not None:
        serve(pages)
    state = ReviewState(subject.items(), log.rows, reviewers)
    written = subject.export(state.accepted(), accepted)
    summary = state.summary()
    interval = f" ({show_interval(summary.interval)})" if summary.interval else ""
    counted = {name: value for name, value in asdict(summary).items() if name != "interval"}
    return CommandResult(
        {**counted, "written": written},
        (
            f"{summary.accepted} accepted, {summary.rejected} rejected, {summary.pending} open; acceptance rate "
            f"{percent(summary.acceptance_rate)}{interval}; {_judged(summary)}.",
            _agreement(summary, "items decided without an edit"),
            f"{summary.stale} decisions on other text do not count. Decisions: {log.path}.",
        ),
        accepted,
    )


def _review_sessions(subject: SessionReview, serve: "Callable[[Callable[[], Site]], None] | None") -> CommandResult:
    def pages() -> "Site":
        from lawtrace.runs.web.review.session_pages import SessionPages

        return SessionPages(subject)

    if serve is not None:
        serve(pages)
    summary = subject.state.summary()
    told = f"{summary.accepted} sessions judged, {summary.pending} open; {_judged(summary)}."
    return CommandResult(
        {
            "judged": summary.accepted,
            "open": summary.pending,
            "reviewers": summary.reviewers,
            "unanimous": summary.unanimous,
            "cohen_kappa": summary.cohen_kappa,
            "command": subject.command,
        },
        (told, _agreement(summary, "judged sessions"), f"Answers: {subject.log.path}."),
        notes=(f"`{subject.command}` continues with the answers.",) if summary.reviewers and subject.command else (),
    )


def _judged(summary: ReviewSummary) -> str:
    return f"judged by {', '.join(f'{name} {count}' for name, count in summary.reviewers.items()) or 'none yet'}"


def _agreement(summary: ReviewSummary, items: str) -> str:
    cohen, fleiss = ("–" if kappa is None else f"{kappa:.2f}" for kappa in (summary.cohen_kappa, summary.fleiss_kappa))
    shares = f"unanimous {percent(summary.unanimous)}, mean Cohen's kappa {cohen}, Fleiss' kappa {fleiss}"
    return f"Agreement on {summary.compared} {items}: {shares}."
