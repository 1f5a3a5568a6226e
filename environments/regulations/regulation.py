"""Regulations: legal texts as sequences of provisions with citations.

A regulation file restates the text in TOML, provision by provision:

    id = "PSD2"
    title = "..."
    source = "Directive (EU) 2015/2366"
    restated = true

    [[acts]]
    id = "PSD2"
    reference = "CELEX 02015L2366-20250117"
    consolidated = 2025-01-17
    in_force_from = 2018-01-13

    [[provisions]]
    citation = "PSD2 Article 97(1)(a)"
    text = "..."

    [[omissions]]
    citation = "PSD2 Article 97(5)"
    about = "use of the account provider's procedures"

A file `manual.toml` beside it has what the owner of the tools demands on top of the law, as `entries = ["...", "..."]`.
They are cited as *Manual 1*, *Manual 2*. Further entries, as `dockets = [...]`, hold in dockets only.
"""

import re
from collections.abc import Collection, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lawtrace.environments.documents.legal_text import Provision
from lawtrace.environments.toml_file import read_toml_model
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel

MANUAL = "Manual "
"""How citations of the manual begin."""
_MANUAL_FILE = "manual.toml"
_SHORTENED = re.compile(r" \([a-z][a-z ]+\)$")


class Act(StrictModel):
    """An act that a regulation restates.

    Attributes:
        id: how the citations of its provisions begin.
        reference: where the text is: a CELEX number, or a part of the CFR.
        consolidated: the date of the version that is restated.
        in_force_from: the first day on which it applies.
        in_force_to: the last one; None where no end is known.
    """

    id: str = Field(min_length=1)
    reference: str = Field(min_length=1)
    consolidated: date
    in_force_from: date
    in_force_to: date | None = None


class Omission(StrictModel):
    """A part of a restated article that is left out, and what it is about."""

    citation: str = Field(min_length=1)
    about: str = Field(min_length=1)


class Regulation(StrictModel):
    """A legal text as a sequence of provisions, in the order of the text.

    Attributes:
        id: the short name that rules cite.
        source: reference of the original.
        restated: whether the provisions restate the law in other words, which evaluations must report.
        acts: the acts that it restates.
        omissions: what is left out of articles that it restates.
        manual: the entries of the owner's manual, which is no law.
        docket_manual: those after them that only dockets have.
    """

    id: str = Field(min_length=1)
    title: str
    source: str
    restated: bool
    acts: tuple[Act, ...] = ()
    provisions: tuple[Provision, ...] = Field(min_length=1)
    omissions: tuple[Omission, ...] = ()
    manual: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    docket_manual: tuple[Annotated[str, Field(min_length=1)], ...] = ()

    @cached_property
    def by_citation(self) -> dict[str, Provision]:
        return {provision.citation: provision for provision in self.provisions}

    def cited(self, citation: str) -> tuple[Provision, ...]:
        """The provision of that citation and those below it, in text order; none if the text has no such citation.

        A defined term may be shortened: *§ 164.402 (unsecured)* for the definition of *unsecured protected health
        information*.
        """
        if (entry := self.manual_entry(citation)) is not None:
            return (Provision(citation=citation, text=entry),)
        return self._at.get(citation) or self._at.get(self._whole_term(citation), ())

    def manual_entry(self, citation: str) -> str | None:
        """The entry of the manual of that citation, such as *Manual 3*; None if there is none."""
        number = citation.removeprefix(MANUAL)
        place = int(number) - 1 if number.isdecimal() and number != citation else -1
        entries = (*self.manual, *self.docket_manual)
        return entries[place] if 0 <= place < len(entries) else None

    def manual_text(self) -> str:
        """The manual for a model under test, an entry a line; empty without one."""
        return "\n".join(f"{number}. {entry}" for number, entry in enumerate(self.manual, 1))

    @cached_property
    def _at(self) -> dict[str, tuple[Provision, ...]]:
        found: dict[str, list[Provision]] = {}
        for provision in self.provisions:
            for citation in (*provision.within, provision.citation):
                found.setdefault(citation, []).append(provision)
        return {citation: tuple(provisions) for citation, provisions in found.items()}

    def _whole_term(self, citation: str) -> str:
        if _SHORTENED.search(citation) is None:
            return citation
        longer = [known for known in self._at if known.startswith(f"{citation.removesuffix(')')} ")]
        return longer[0] if len(longer) == 1 else citation

    def with_provisions(self, provisions: Sequence[Provision]) -> "Regulation":
        """The same regulation with only these provisions. It names no omissions, since most of it is left out."""
        # Not a copy, which would keep the cached index of all provisions.
        kept = {name: value for name, value in self if name in Regulation.model_fields}
        return Regulation.model_validate({**kept, "provisions": tuple(provisions), "omissions": ()})

    @property
    def name(self) -> str:
        """The title with the reference of the original."""
        return f"{self.title} ({self.source})"

    @property
    def plain_name(self) -> str:
        """The name of the law itself, without the word that this is a restatement."""
        return f"{self.title.removesuffix(', restated')} ({self.source})"

    def text(self) -> str:
        """The text for a model under test."""
        lines = [self.name, "", *(f"{provision.citation}: {provision.words()}" for provision in self.provisions)]
        lines += [f"{omission.citation} is left out. It is about {omission.about}." for omission in self.omissions]
        return "\n".join(lines)


class _Manual(StrictModel):
    entries: tuple[str, ...]
    dockets: tuple[str, ...] = ()


def load_regulation(path: Path) -> Regulation:
    """Read a regulation file, and the manual beside it. Raises InputError naming the file and the place."""
    regulation = read_toml_model(path, Regulation)
    if len(regulation.by_citation) != len(regulation.provisions):
        raise InputError(f"{path}: a citation occurs twice; each provision needs its own")
    manual = path.with_name(_MANUAL_FILE)
    if not manual.is_file():
        return regulation
    read = read_toml_model(manual, _Manual)
    return regulation.model_copy(update={"manual": read.entries, "docket_manual": read.dockets})


def is_part_of(citation: str, wholes: Collection[str]) -> bool:
    """Whether a citation is one of these, or a part of one: *Article 4(1)* of *Article 4*, but not *Article 40*."""
    return any(citation.startswith(whole) and not citation[len(whole) :][:1].isalnum() for whole in wholes)


def article_of(citation: str) -> str:
    """What a citation names without paragraphs and points: `Article 97` of `Article 97(1)(a)`."""
    return re.split(r"[\s,]*\(", citation)[0]
