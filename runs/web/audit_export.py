"""The page of an audit as one HTML file that needs no network and no other file."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.runs.ingest.audit_summary import MAX_REWARDS, AuditSummary, Examples
from lawtrace.runs.ingest.rates import RateTable
from lawtrace.runs.report.audit_exports import Audit
from lawtrace.runs.report.audit_page import AuditFindings
from lawtrace.runs.report.text import counted
from lawtrace.runs.web.export import standalone_assets, write_page
from lawtrace.runs.web.render import make_environment, render


@dataclass(frozen=True, slots=True)
class AuditPage:
    """What the page of an audit shows.

    Attributes:
        identity: what identifies the audit, by name.
        rows_file: name of the file with all verdicts.
        complete: whether the records are taken as whole.
        rewards: the values that columns tell apart; empty with one or with too many.
        older: name of the rule file that the audit compares with, and ``newer`` its own; empty if it does not.
        rates: the comparison with labels and marks.
        notes: what cannot be judged or is odd, by title.
    """

    title: str
    identity: dict[str, str]
    summary: AuditSummary
    findings: AuditFindings
    rows_file: str
    complete: bool
    rewards: Sequence[str]
    notes: Sequence[tuple[str, Examples]]
    rates: Sequence[RateTable]
    older: str = ""
    newer: str = ""


def write_audit_page(
    path: Path,
    audit: Audit,
    summary: AuditSummary,
    regulation: Regulation | None,
    sources: Sequence[Path],
    *,
    complete: bool,
    versions: tuple[Path, Path] | None = None,
) -> None:
    """Write the page. Reads the rows of the audit once more.

    ``versions``: the older and the new rule file, if the audit compares them. Raises OperationalError if it cannot be
    written.
    """
    named = [str(source) for source in sources]
    shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    rewards = sorted(summary.by_reward, key=float)
    page = AuditPage(
        f"Audit: {regulation.title if regulation else shown}",
        {
            "records": shown,
            "environment": audit.environment,
            "rules": counted(len(audit.rules), "rule"),
            "rows": audit.file.name,
            "version": f"lawtrace {version('lawtrace')}",
        },
        summary,
        AuditFindings(audit.rules, regulation, audit.older).add_all(audit.rows_with_findings()),
        audit.file.name,
        complete,
        rewards if 1 < len(rewards) <= MAX_REWARDS else (),
        [
            (title, examples)
            for title, examples in (("Could not be judged", summary.findings["invalid"]), ("Oddities", summary.notes))
            if examples.count
        ],
        summary.rate_tables(),
        *((version.name for version in versions) if versions else ()),
    )
    environment = make_environment()
    write_page(render(environment, "audit.html.jinja", page=page, assets=standalone_assets(environment)), path)
