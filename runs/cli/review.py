"""``lawtrace rules review`` and ``lawtrace tasks review``: people accept, reject or edit, on a local web page."""

from pathlib import Path
from typing import TYPE_CHECKING

from lawtrace.environments.domains.loader import load_domain
from lawtrace.runs.cli.output import print_outcome
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.rules_extract import read_regulation
from lawtrace.runs.cli.view import serve_site
from lawtrace.runs.report.text import percent, show_interval
from lawtrace.runs.store.provenance_file import provenance_path, read_provenance
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.web.review.append_log import AppendLog
from lawtrace.runs.web.review.decisions import OpinionRow, ReviewState, ReviewSubject
from lawtrace.runs.web.review.rule_items import RuleReview
from lawtrace.runs.web.review.task_items import TaskReview
from lawtrace.solver.rules import load_rules

if TYPE_CHECKING:
    from lawtrace.runs.web.site import Site  # needs the extra `view`


def review_rules(
    *,
    file: Path,
    env: str,
    document: Path | None,
    reviewers: int,
    opinions: Path | None,
    out: Path | None,
    force: bool,
    status: bool,
    host: str,
    port: int,
    as_json: bool,
) -> None:
    """Serve or summarise the review of a rule file."""
    domain = load_domain(env)
    if document is not None:
        domain = domain.with_regulation(read_regulation(document, domain))
    provenance = read_provenance(provenance_path(file)) if provenance_path(file).exists() else None
    subject = RuleReview(load_rules(file), domain, provenance)
    _review(subject, file, reviewers, opinions, out, force=force, status=status, host=host, port=port, as_json=as_json)


def review_tasks(
    *,
    file: Path,
    env: str | None,
    reviewers: int,
    opinions: Path | None,
    out: Path | None,
    force: bool,
    status: bool,
    host: str,
    port: int,
    as_json: bool,
) -> None:
    """Serve or summarise the review of a task file."""
    tasks, domain = read_tasks(file, env)
    subject = TaskReview(tasks, domain)
    _review(subject, file, reviewers, opinions, out, force=force, status=status, host=host, port=port, as_json=as_json)


def _review(
    subject: ReviewSubject,
    file: Path,
    reviewers: int,
    opinions: Path | None,
    out: Path | None,
    *,
    force: bool,
    status: bool,
    host: str,
    port: int,
    as_json: bool,
) -> None:
    log = AppendLog(opinions or file.with_suffix(".opinions.jsonl"), OpinionRow)
    accepted = out or file.with_suffix(".accepted.jsonl")
    check_output(accepted, force=force or log.path.exists())  # with decisions, an earlier review wrote it
    if not status:
        serve_site(lambda: _pages(subject, log, reviewers), "Review", host=host, port=port, as_json=as_json)
    state = ReviewState(subject.items(), log.rows, reviewers)
    written = subject.export(state.accepted(), accepted)
    summary = state.summary()
    cohen, fleiss = ("–" if kappa is None else f"{kappa:.2f}" for kappa in (summary.cohen, summary.fleiss))
    interval = f" ({show_interval(summary.interval)})" if summary.interval else ""
    print_outcome(
        {
            "accepted": summary.accepted,
            "rejected": summary.rejected,
            "pending": summary.pending,
            "acceptance_rate": summary.rate,
            "compared": summary.compared,
            "unanimous": summary.unanimous,
            "cohen_kappa": summary.cohen,
            "fleiss_kappa": summary.fleiss,
            "reviewers": [*summary.reviewers],
            "stale": summary.stale,
            "written": written,
        },
        f"{summary.accepted} accepted, {summary.rejected} rejected, {summary.pending} open; acceptance rate "
        f"{percent(summary.rate)}{interval}; reviewers: {', '.join(summary.reviewers) or 'none yet'}.",
        f"Agreement on {summary.compared} items decided without an edit: unanimous {percent(summary.unanimous)}, mean "
        f"Cohen's kappa {cohen}, Fleiss' kappa {fleiss}.",
        f"{summary.stale} decisions on other text do not count. Decisions: {log.path}.",
        as_json=as_json,
        out=accepted,
    )


def _pages(subject: ReviewSubject, log: AppendLog[OpinionRow], reviewers: int) -> "Site":
    from lawtrace.runs.web.review.review_pages import ReviewPages

    return ReviewPages(subject, log, reviewers)
