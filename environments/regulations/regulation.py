"""Regulations: legal texts as sequences of provisions with citations.

A regulation file restates the text in TOML, provision by provision:

    id = "PSD2"
    title = "..."
    source = "Directive (EU) 2015/2366"
    restated = true

    [[provisions]]
    citation = "Article 97(1)(a)"
    text = "..."
"""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pydantic import Field, ValidationError

from lawtrace.environments.toml_file import place_in_toml, read_toml
from lawtrace.schemas.errors import InputError, describe_validation_error
from lawtrace.schemas.models import StrictModel

_SHORTENED = re.compile(r" \([a-z][a-z ]+\)$")


class Provision(StrictModel):
    """The smallest citable part of a regulation."""

    citation: str = Field(min_length=1)
    text: str = Field(min_length=1)
    opening: str | None = None
    """For a point of a list: the words above the list that begin its sentence."""
    heading: str | None = None
    """The title of its article or section."""
    reading: str | None = None
    """Interpretation for the tools of the environment, where it goes beyond the words of the law."""
    within: tuple[str, ...] = ()
    """The citations of the units above it, outermost first: a rule may cite a paragraph and mean all its points."""

    def words(self) -> str:
        """The quotable text: the opening of its list and its own words."""
        return " ".join(f"{self.opening or ''} {self.text}".split())

    def whole(self) -> str:
        """The text, followed by the interpretation in brackets."""
        text = self.words()
        return text if self.reading is None else f"{text} [Applied here: {' '.join(self.reading.split())}]"


class Regulation(StrictModel):
    """A legal text as a sequence of provisions, in the order of the text.

    Attributes:
        id: the short name that rules cite.
        source: reference of the original.
        restated: whether the provisions restate the law in other words, which evaluations must report.
    """

    id: str = Field(min_length=1)
    title: str
    source: str
    restated: bool
    provisions: tuple[Provision, ...] = Field(min_length=1)

    @cached_property
    def by_citation(self) -> dict[str, Provision]:
        return {provision.citation: provision for provision in self.provisions}

    def cited(self, citation: str) -> tuple[Provision, ...]:
        """The provision of that citation and those below it, in text order; none if the text has no such citation.

        A defined term may be shortened: *§ 164.402 (unsecured)* for the definition of *unsecured protected health
        information*.
        """
        return self._at.get(citation) or self._at.get(self._whole_term(citation), ())

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
        """The same regulation with only these provisions."""
        # Not a copy, which would keep the cached index of all provisions.
        return Regulation(
            id=self.id, title=self.title, source=self.source, restated=self.restated, provisions=tuple(provisions)
        )

    @property
    def name(self) -> str:
        """The title with the reference of the original."""
        return f"{self.title} ({self.source})"

    @property
    def plain_name(self) -> str:
        """The name of the law itself, without the word that this is a restatement."""
        return f"{self.title.removesuffix(', restated')} ({self.source})"

    def text(self, *, readings: bool = False) -> str:
        """The text for a model under test. Interpretations are left out by default, since they reveal the rules."""
        lines = [self.name, ""]
        for provision in self.provisions:
            words = provision.whole() if readings else provision.words()
            lines.append(f"{provision.citation}: {words}")
        return "\n".join(lines)


def load_regulation(path: Path) -> Regulation:
    """Read a regulation file. Raises InputError naming the file and the place."""
    try:
        regulation = Regulation.model_validate(read_toml(path))
    except ValidationError as error:
        place = place_in_toml(path, error.errors()[0]["loc"])
        raise InputError(f"{place}: {describe_validation_error(error)}") from error
    if len(regulation.by_citation) != len(regulation.provisions):
        raise InputError(f"{path}: a citation occurs twice; each provision needs its own")
    return regulation
