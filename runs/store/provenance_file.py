"""The provenance file of an extraction: the fate of every provision and rule, and all messages."""

from collections.abc import Iterable
from pathlib import Path

from lawtrace.agents.conversations.provenance import (
    ExtractionProvenance,
    ProvenanceHeader,
    ProvenanceLine,
    ProvisionBatch,
    ProvisionProvenance,
    RuleCandidate,
)
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.errors import InputError

FUNNEL_STEPS: dict[str, str] = {
    "provisions": "provisions",
    "in_scope": "in scope",
    "refined": "refined",
    "candidates": "candidate rules",
    "valid": "valid",
    "distinct": "distinct",
    "accepted": "accepted",
}


def provenance_path(rules: Path) -> Path:
    """The path of the provenance file of a rule file, in the same folder."""
    return rules.with_suffix(".provenance.jsonl")


def read_provenance(path: Path) -> ExtractionProvenance:
    """Read the provenance of extracted rules. Raises InputError naming the line."""
    try:
        return provenance_of(read_rows(path, ProvenanceLine))
    except ValueError as error:
        raise InputError(f"{path}: not an extraction log; `lawtrace rules extract` writes it") from error


def provenance_of(lines: Iterable[ProvenanceLine]) -> ExtractionProvenance:
    """The lines of a file by kind. Raises ValueError unless there is one header."""
    rows = [line.root for line in lines]
    (head,) = [row for row in rows if isinstance(row, ProvenanceHeader)]
    return ExtractionProvenance(
        head,
        tuple(row for row in rows if isinstance(row, ProvisionProvenance)),
        tuple(row for row in rows if isinstance(row, RuleCandidate)),
        tuple(row for row in rows if isinstance(row, ProvisionBatch)),
    )
