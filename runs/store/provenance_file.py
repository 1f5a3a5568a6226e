"""The provenance file of an extraction: the fate of every provision and rule, and all messages."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import RootModel

from lawtrace.agents.conversations.provenance import (
    ProvenanceHeader,
    ProvenanceRow,
    ProvisionBatch,
    ProvisionProvenance,
    RuleCandidate,
)
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.findings import ExtractionFunnel

FUNNEL_STEPS: dict[str, str] = {
    "provisions": "provisions",
    "in_scope": "in scope",
    "refined": "refined",
    "candidates": "candidate rules",
    "valid": "valid",
    "distinct": "distinct",
    "accepted": "accepted",
}


class ProvenanceLine(RootModel[ProvenanceRow]):
    """One line of the file, of any kind."""


@dataclass(frozen=True)
class ExtractionProvenance:
    """The rows of a provenance file by kind."""

    head: ProvenanceHeader
    provisions: tuple[ProvisionProvenance, ...]
    rules: tuple[RuleCandidate, ...]
    pieces: tuple[ProvisionBatch, ...]

    @property
    def funnel(self) -> ExtractionFunnel:
        return self.head.funnel

    @cached_property
    def unread(self) -> tuple[ProvisionProvenance, ...]:
        """The unprocessed provisions, and those whose conversation failed."""
        return tuple(provision for provision in self.provisions if provision.fate.fate == "unread")

    @cached_property
    def by_batch(self) -> dict[int, ProvisionBatch]:
        return {piece.piece: piece for piece in self.pieces}

    def regulation(self) -> Regulation:
        """The regulation as far as the file contains it: the text of every provision."""
        head = self.head
        provisions = tuple(
            Provision(citation=row.citation, text=row.words, heading=row.heading or None, within=row.within)
            for row in self.provisions
        )
        return Regulation(
            id=head.regulation, title=head.title, source=head.source, restated=head.restated, provisions=provisions
        )

    def lines(self) -> list[ProvenanceLine]:
        return [ProvenanceLine(row) for row in (self.head, *self.provisions, *self.rules, *self.pieces)]


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
