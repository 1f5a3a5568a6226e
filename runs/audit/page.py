"""The page of an audit as one HTML file that needs no network and no other file."""

from importlib.metadata import version
from pathlib import Path

from lawtrace.runs.audit.exports import FinishedAudit
from lawtrace.runs.audit.findings import AuditFindings
from lawtrace.runs.audit.options import AuditOptions
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.report.text import counted
from lawtrace.runs.web.export import standalone_assets, write_page
from lawtrace.runs.web.render import make_environment, render


def write_audit_page(path: Path, finished: FinishedAudit, summary: AuditSummary, options: AuditOptions) -> None:
    """Write the page. Reads the rows of the audit once more. Raises OperationalError if it cannot be written."""
    audit, regulation = finished.audit, finished.audit.regulation
    named = [str(source) for source in options.sources]
    shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    notes = (("Could not be judged", summary.examples("invalid")), ("Oddities", summary.examples("notes")))
    findings = AuditFindings(finished.rules, regulation, audit.job.against or ())
    page = {
        "title": f"Audit: {regulation.title if regulation else shown}",
        "identity": {
            "records": shown,
            "environment": audit.environment,
            "rules": counted(len(finished.rules), "rule"),
            "rows": finished.file.name,
            "version": f"lawtrace {version('lawtrace')}",
        },
        "summary": summary,
        "findings": findings.add_all(finished.rows_with_findings()),
        "rows_file": finished.file.name,
        "complete": options.complete,
        "notes": [(title, examples) for title, examples in notes if examples.count],
        "rates": summary.rates,
        "older": options.against.name if options.against else "",
        "newer": audit.rules_file.name if audit.rules_file else "",
    }
    environment = make_environment()
    write_page(render(environment, "audit.html.jinja", page=page, assets=standalone_assets(environment)), path)
