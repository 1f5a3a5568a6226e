"""The trail of an extraction as a file: what became of every provision and every rule, and everything that was said."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, RootModel

from lawtrace.agents.conversations.provenance import (
    ExtractionFunnel,
    ProvenanceHeader,
    ProvenanceRow,
    ProvisionBatch,
    ProvisionProvenance,
    RuleProvenance,
)
from lawtrace.environments.errors import InputError
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.runs.store.stage_files import read_rows, write_rows

FUNNEL_STEPS: dict[str, str] = {
    "provisions": "provisions",
    "in_scope": "in scope",
    "refined": "refined",
    "candidates": "candidate rules",
    "valid": "valid",
    "distinct": "distinct",
    "accepted": "accepted",
}


class _ProvenanceLine(RootModel[ProvenanceRow]):
    pass


@dataclass(frozen=True)
class ExtractionProvenance:
    """A trail file, its rows by kind."""

    head: ProvenanceHeader
    provisions: tuple[ProvisionProvenance, ...]
    rules: tuple[RuleProvenance, ...]
    pieces: tuple[ProvisionBatch, ...]

    @property
    def funnel(self) -> ExtractionFunnel:
        return self.head.funnel

    @cached_property
    def unread(self) -> tuple[ProvisionProvenance, ...]:
        """The provisions that nobody got to, or whose conversation broke off."""
        return tuple(provision for provision in self.provisions if provision.fate.fate == "unread")

    @cached_property
    def by_batch(self) -> dict[int, ProvisionBatch]:
        return {piece.piece: piece for piece in self.pieces}

    def regulation(self) -> Regulation:
        """The text that was read, as far as the trail has it: every provision in its words."""
        head = self.head
        provisions = tuple(
            Provision(citation=row.citation, text=row.words, heading=row.heading or None) for row in self.provisions
        )
        return Regulation(
            id=head.regulation, title=head.title, source=head.source, restated=head.restated, provisions=provisions
        )

    def rows(self) -> tuple[BaseModel, ...]:
        return (self.head, *self.provisions, *self.rules, *self.pieces)


def provenance_path(rules: Path) -> Path:
    """Where the trail of a rule file is: beside it."""
    return rules.with_suffix(".trail.jsonl")


def write_provenance(path: Path, trail: ExtractionProvenance) -> int:
    return write_rows(path, trail.rows())


def read_provenance(path: Path) -> ExtractionProvenance:
    """Read a trail. Raises InputError naming the line, or that it is no trail."""
    rows = [line.root for line in read_rows(path, _ProvenanceLine)]
    heads = [row for row in rows if isinstance(row, ProvenanceHeader)]
    if len(heads) != 1:
        raise InputError(f"{path}: is no trail of an extraction; `lawtrace rules extract` writes one beside the rules")
    return ExtractionProvenance(
        heads[0],
        tuple(row for row in rows if isinstance(row, ProvisionProvenance)),
        tuple(row for row in rows if isinstance(row, RuleProvenance)),
        tuple(row for row in rows if isinstance(row, ProvisionBatch)),
    )
