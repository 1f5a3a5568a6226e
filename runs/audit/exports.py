"""The verdicts of an audit in other formats: a page, CSV, SARIF 2.1.0, and OSCAL 1.1 assessment results.

CSV has a row for each conversation and rule. SARIF has a result for each broken or undetermined rule of a
conversation, at the line of its record, as code scanners show it. OSCAL has a finding for each rule that is triggered,
and an observation for each conversation in which a rule is broken or undetermined, for each record that could not be
judged, and for each rule that is never triggered.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self
from uuid import NAMESPACE_URL, uuid5

from pydantic_core import from_json

from lawtrace.runs.audit.audit import COLUMNS, Audit, flat_records
from lawtrace.runs.audit.findings import AuditFindings
from lawtrace.runs.audit.options import AuditOptions
from lawtrace.runs.audit.redaction import redact
from lawtrace.runs.audit.summary import AuditSummary
from lawtrace.runs.report.table_files import csv_text
from lawtrace.runs.report.text import counted, sentence
from lawtrace.runs.store.stage_files import file_digest, numbered_lines, replacing, write_lines
from lawtrace.runs.web.export import standalone_assets, write_page
from lawtrace.runs.web.render import make_environment, render
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.choices import AuditFormat
from lawtrace.schemas.verdict_rows import RuleVerdict
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.rules import Rule

_LINE: Final = re.compile(r"(.*), line (\d+)")


@dataclass(frozen=True, slots=True)
class Digest:
    """The SHA-256 of something that an audit was made from, in hexadecimal. ``kind``: rules, environment or input."""

    kind: str
    name: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} sha256:{self.sha256}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """When an audit was made, in UTC, and from what. Sources of merged shards that are not at hand have no digest."""

    made: datetime
    digests: tuple[Digest, ...]

    @classmethod
    def of(cls, audit: Audit, options: AuditOptions, made: datetime) -> Self:
        """Read the digests, before the audit is made."""
        rules, tools = audit.rules_file, audit.job.tools
        found = [] if rules is None else [Digest("rules", rules.name, file_digest(rules))]
        if isinstance(tools, Domain):
            found.append(Digest("environment", tools.environment.name, tools.digest))
        files = [("environment", path) for path in map(Path, options.tools or ())]
        files += [("input", path) for path in audit.files or options.sources]
        found += [Digest(kind, path.as_posix(), file_digest(path)) for kind, path in files if path.is_file()]
        return cls(made, tuple(found))


@dataclass(frozen=True, slots=True)
class FinishedAudit:
    """An audit with its file of verdicts. ``redacted``: its rows have digests in place of texts of the records."""

    file: Path
    audit: Audit
    provenance: Provenance
    redacted: bool = False

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.audit.job.rules

    def rows(self) -> Iterator[AuditRow]:
        rows = (AuditRow.model_validate_json(line) for _, line in numbered_lines(self.file))
        return map(redact, rows) if self.redacted else rows

    def findings(self) -> Iterator[tuple[AuditRow, RuleVerdict]]:
        """The rules that are broken or undetermined, each with its conversation."""
        return ((row, rule) for row in self.rows() for rule in row.rules if rule.broken or rule.undetermined)

    def rows_with_findings(self) -> Iterator[AuditRow]:
        """Those of conversations in which a rule is not kept, in either version of a backtest."""
        for _, line in numbered_lines(self.file):
            row = from_json(line)
            rules = [*row["rules"], *(row.get("against") or row)["rules"]]
            if any(rule["outcome"] in {"broken", "undetermined"} for rule in rules):
                found = AuditRow.model_validate(row)
                yield redact(found) if self.redacted else found


def export_file(audit: Path, form: AuditFormat) -> Path:
    """Where the verdicts in a format are written: beside the file of verdicts."""
    return audit.with_suffix(".oscal.json" if form == "oscal" else f".{form}")


def export_audit(audit: FinishedAudit, form: AuditFormat, summary: AuditSummary, options: AuditOptions) -> Path:
    """Write the verdicts in a format and return the file."""
    path = export_file(audit.file, form)
    writers: Mapping[AuditFormat, Callable[[FinishedAudit, Path], object]] = {
        "csv": _write_csv,
        "sarif": lambda audit, path: _write_json(path, as_sarif(audit)),
        "oscal": lambda audit, path: _write_json(path, as_oscal(audit, summary)),
        "html": lambda audit, path: write_page(as_page(audit, summary, options), path),
    }
    with replacing(path) as partial:
        writers[form](audit, partial)
    return path


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_lines(path, [json.dumps(value, indent=2, ensure_ascii=False)])


def _write_csv(audit: FinishedAudit, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in flat_records(audit.rows()):
            values = (record[name] for name in COLUMNS)
            writer.writerow([csv_text(value) if isinstance(value, str) else value for value in values])


def as_sarif(audit: FinishedAudit) -> dict[str, Any]:
    """The findings as a SARIF log (OASIS, Static Analysis Results Interchange Format 2.1.0)."""
    numbers = {rule.id: number for number, rule in enumerate(audit.rules)}
    results = [_sarif_result(row, rule, numbers[rule.rule]) for row, rule in audit.findings()]
    rules = [
        {
            "id": rule.id,
            "shortDescription": {"text": sentence(rule.rationale or rule.formula)},
            "properties": {"formula": rule.formula, "provisions": list(rule.provisions)},
        }
        for rule in audit.rules
    ]
    driver = {"name": "lawtrace", "version": version("lawtrace"), "rules": rules}
    invalid = [
        {"level": "error", "message": {"text": sentence(row.reason)}, "locations": [_sarif_place(row)]}
        for row in audit.rows()
        if row.outcome == "invalid"
    ]
    ended = audit.provenance.made.strftime("%Y-%m-%dT%H:%M:%SZ")
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "endTimeUtc": ended, "toolExecutionNotifications": invalid}],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"digests": [*map(str, audit.provenance.digests)]},
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _sarif_result(row: AuditRow, rule: RuleVerdict, number: int) -> dict[str, Any]:
    name = f"conversation {row.conversation}" + (f", message {rule.message}" if rule.message else "")
    return {
        "ruleId": rule.rule,
        "ruleIndex": number,
        "kind": "fail" if rule.broken else "open",
        # A result that does not fail has no level.
        "level": "error" if rule.broken else "none",
        "message": {"text": sentence(f"{name}: {rule.explanation or rule.undetermined}")},
        "locations": [{**_sarif_place(row), "logicalLocations": [{"fullyQualifiedName": name}]}],
        "partialFingerprints": {"record/v2": _id(row.place, row.conversation, rule.rule, rule.message or "")},
        **({"properties": {"readings": rule.readings}} if rule.readings else {}),
    }


def _sarif_place(row: AuditRow) -> dict[str, Any]:
    file, line = _file_and_line(row.place)
    region = {} if line is None else {"region": {"startLine": line}}
    return {"physicalLocation": {"artifactLocation": {"uri": Path(file).as_posix()}, **region}}


def _file_and_line(place: str) -> tuple[str, int | None]:
    """The file of a place, and its line if it names one."""
    found = _LINE.fullmatch(place)
    return (found[1], int(found[2])) if found else (place.split(", ")[0], None)


def _id(*parts: str) -> str:
    """The same id for the same parts."""
    return str(uuid5(NAMESPACE_URL, "lawtrace:" + "\n".join(parts)))


def as_oscal(audit: FinishedAudit, summary: AuditSummary) -> dict[str, Any]:
    """The verdicts as OSCAL assessment results (NIST, version 1.1.2).

    A rule is satisfied if it is kept wherever it is triggered. It is not satisfied, with the reason ``other``, if it is
    undetermined somewhere, or broken under some readings only.
    """
    now = audit.provenance.made.isoformat(timespec="seconds")
    observations: list[dict[str, Any]] = []
    related: dict[str, list[dict[str, str]]] = {rule.id: [] for rule in audit.rules}

    def observe(title: str, why: str, *parts: str) -> str:
        uuid, description = _id(*parts), sentence(why)
        found = {"uuid": uuid, "title": title, "description": description, "methods": ["TEST"], "collected": now}
        observations.append(found)
        return uuid

    for row in audit.rows():
        record, place = f"conversation {row.conversation} ({row.place})", (row.place, row.conversation)
        if row.outcome == "invalid":
            observe("record that could not be judged", f"{record}: {row.reason}", "invalid", *place)
        for rule in (*row.broken, *row.undetermined):
            why = f"{record}: {rule.explanation or rule.undetermined}"
            observation = observe(f"{rule.rule}: {rule.name}", why, *place, rule.rule)
            related[rule.rule].append({"observation-uuid": observation})
    findings: list[dict[str, Any]] = []
    for rule in audit.rules:
        counts = summary.of(rule.id)
        if not counts.judged:
            observe(f"{rule.id}: never triggered", "no record triggers the rule", "never triggered", rule.id)
            continue
        state = "not-satisfied" if counts.broken or counts.undetermined else "satisfied"
        reason = "pass" if state == "satisfied" else "fail" if counts.broken and not rule.under else "other"
        numbers = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in counts.as_json().items())
        readings = "".join(f"; under {question}: {' or '.join(of)}" for question, of in rule.under.items())
        finding: dict[str, Any] = {
            "uuid": _id("finding", str(audit.file), rule.id),
            "title": rule.id,
            "description": sentence(rule.rationale or rule.formula),
            "target": {
                "type": "objective-id",
                "target-id": _token(rule.id),
                "description": "; ".join(rule.provisions) or "no provision is cited",
                "status": {"state": state, "reason": reason, "remarks": f"Number of records: {numbers}{readings}."},
            },
        }
        findings.append({**finding, "related-observations": related[rule.id]} if related[rule.id] else finding)
    digests = [
        {"name": f"{digest.kind}-digest", "ns": "urn:lawtrace", "value": str(digest)}
        for digest in audit.provenance.digests
    ]
    result: dict[str, Any] = {
        "uuid": _id("result", str(audit.file), now),
        "title": f"Audit by the rules of {audit.audit.environment}",
        "description": f"Recorded conversations judged by {len(audit.rules)} rules of {_name_of_rules(audit.audit)}.",
        "start": now,
        "reviewed-controls": {"control-selections": [{"include-all": {}}]},
        **{name: of for name, of in (("props", digests), ("observations", observations), ("findings", findings)) if of},
    }
    return {
        "assessment-results": {
            "uuid": _id("document", str(audit.file), now),
            "metadata": {
                "title": "Assessment results of lawtrace",
                "last-modified": now,
                "version": version("lawtrace"),
                "oscal-version": "1.1.2",
            },
            "import-ap": {"href": "#", "remarks": "There is no assessment plan: the rules are the plan."},
            "results": [result],
        }
    }


def _name_of_rules(audit: Audit) -> str:
    if audit.regulation is not None:
        return audit.regulation.id
    return audit.rules_file.name if audit.rules_file else "a rule set"


def _token(name: str) -> str:
    """A name in the form that OSCAL asks of identifiers."""
    token = re.sub(r"[^\w.-]", "-", name)
    return token if re.match(r"[^\W\d]", token) else f"rule-{token}"


def as_page(finished: FinishedAudit, summary: AuditSummary, options: AuditOptions) -> str:
    """The findings as one HTML page that needs no network and no other file. Reads the rows of the audit once more."""
    audit, regulation = finished.audit, finished.audit.regulation
    named = [str(source) for source in options.sources]
    shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    kinds = () if options.redact else (("Could not be judged", "invalid"), ("Oddities", "notes"))
    notes = [(title, summary.examples(kind)) for title, kind in kinds]
    findings = AuditFindings(finished.rules, regulation, audit.job.against or ())
    page = {
        "title": f"Audit: {regulation.title if regulation else shown}",
        "identity": {
            "records": shown,
            "environment": audit.environment,
            "rules": counted(len(finished.rules), "rule"),
            "rows": finished.file.name,
            "version": f"lawtrace {version('lawtrace')}",
            "made": finished.provenance.made.strftime("%Y-%m-%d %H:%M UTC"),
        },
        "digests": [*map(str, finished.provenance.digests)],
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
    return render(environment, "audit.html.jinja", page=page, assets=standalone_assets(environment))
