"""The law as published: one or more documents, and the provisions of them that rules cite.

A rule set that rests on several texts begins its citations with their names (*PSD2 Article 97(2)*, *RTS Article 4(1)*).
Each name belongs to the document that contains most of its citations. Without names, a provision must stand in one
document only.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path

from lawtrace.environments.documents.files import read_bytes
from lawtrace.environments.documents.law_parser import FORMATS, SUFFIXES, read_legal_text
from lawtrace.environments.documents.legal_text import LegalText
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.schemas.errors import InputError

_TITLE = 40
"""Words."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document. ``name``: with which citations of it begin, followed by a blank; empty for the only one."""

    file: Path
    text: LegalText
    name: str = ""

    @property
    def title(self) -> str:
        """The beginning of its title; the name of its file if it has none."""
        words = [word for line in self.text.title_lines if any(map(str.isalpha, line)) for word in line.split()]
        return " ".join([*words[:_TITLE], *(["..."] if len(words) > _TITLE else [])]) or self.file.stem

    def citation(self, citation: str) -> str:
        return f"{self.name} {citation}" if self.name else citation


@dataclass(frozen=True)
class PublishedLaw:
    """The documents of a law, in the order given. ``digest``: SHA-256 of their bytes, in hexadecimal."""

    documents: tuple[Document, ...]
    digest: str

    @property
    def parse_warnings(self) -> tuple[str, ...]:
        return tuple(warning for document in self.documents for warning in document.text.parse_warnings)

    @property
    def title(self) -> str:
        return "; ".join(document.title for document in self.documents)

    @cached_property
    def regulation(self) -> Regulation:
        """All provisions, named after the files."""
        provisions = [
            provision.model_copy(
                update={
                    "citation": document.citation(provision.citation),
                    "within": tuple(map(document.citation, provision.within)),
                }
            )
            for document in self.documents
            for provision in document.text.provisions()
        ]
        return Regulation(
            id=" + ".join(document.file.stem for document in self.documents),
            title=self.title,
            source=", ".join(document.file.name for document in self.documents),
            restated=False,
            provisions=tuple(provisions),
        )

    def layout(self, chosen: Collection[str] | None = None) -> str:
        """The documents one below the other, as `LegalText.layout` gives each; ``chosen`` is in the citations of
        `regulation`."""
        parts: list[str] = []
        for document in self.documents:
            name = [document.name] if document.name else []
            if chosen is None:
                title = [] if document.text.title else [document.title]
                parts.append("\n".join([*name, *title, document.text.layout()]))
                continue
            own = {p.citation for p in document.text.provisions() if document.citation(p.citation) in chosen}
            if own:
                parts.append("\n".join([*name, document.title, document.text.layout(own)]))
        return "\n\n".join(parts)


def regulation_files(places: Iterable[Path], environment: str) -> tuple[Path, ...]:
    """The documents below the places: files, and folders of files. In a folder, what is named after the environment is
    taken alone, if there is such a file or folder.

    Raises InputError for a place that does not exist or has no document.
    """
    files: list[Path] = []
    for place in places:
        if not place.is_dir():
            files.append(place)
            continue
        inside = sorted(path for path in place.iterdir() if path.is_dir() or path.suffix.lower() in SUFFIXES)
        own = [path for path in inside if path.name.split(".")[0] == environment]
        found = regulation_files(own, environment) if own else [path for path in inside if path.is_file()]
        if not found:
            raise InputError(f"{place}: no regulation document in this folder; it must be {FORMATS}")
        files.extend(found)
    return tuple(files)


def all_files(places: Iterable[Path]) -> tuple[Path, ...]:
    """Every document below the places, for all environments. Raises InputError for a folder without one."""
    files: list[Path] = []
    for place in places:
        inside = sorted(path for path in place.rglob("*") if path.suffix.lower() in SUFFIXES) if place.is_dir() else []
        if place.is_dir() and not inside:
            raise InputError(f"{place}: no regulation document in this folder; it must be {FORMATS}")
        files.extend(inside or [place])
    return tuple(files)


def files_digest(files: Sequence[Path]) -> str:
    """SHA-256 of the names and bytes of the files. Raises InputError if one cannot be read."""
    whole = hashlib.sha256()
    for file in files:
        content = read_bytes(file)
        whole.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def read_published_law(files: Sequence[Path], citations: Iterable[str]) -> PublishedLaw:
    """Read the documents. ``citations``: those of the environment, which show the name of each document.

    Raises InputError as `read_legal_text` does, and if two documents without a name have the same citation.
    """
    return _read(tuple(files), files_digest(files), frozenset(citations))


@lru_cache(maxsize=8)
def _read(files: tuple[Path, ...], digest: str, citations: frozenset[str]) -> PublishedLaw:
    texts = [read_legal_text(file) for file in files]
    known = [{node.citation for node in text.walk() if node.citation} for text in texts]
    names = _names(known, citations)
    unnamed = [(file, own) for file, own, name in zip(files, known, names, strict=True) if not name]
    for (first, of_first), (second, of_second) in combinations(unnamed, 2):
        if both := of_first & of_second:
            raise InputError(
                f"{sorted(both)[0]} stands in {first.name} and in {second.name}; give only the documents that the "
                "rules cite"
            )
    return PublishedLaw(
        tuple(Document(file, text, name) for file, text, name in zip(files, texts, names, strict=True)), digest
    )


def _names(known: Sequence[Collection[str]], citations: Collection[str]) -> list[str]:
    """For each document the first word of the citations that it contains but for that word; empty if there is none."""
    names, found = [""] * len(known), [0] * len(known)
    for word in sorted({citation.split(" ", 1)[0] for citation in citations if " " in citation}):
        rests = [citation.removeprefix(f"{word} ") for citation in citations if citation.startswith(f"{word} ")]
        counts = [sum(rest in own for rest in rests) for own in known]
        place = counts.index(max(counts))
        # An act of which there is no document has citations that others contain by chance.
        if counts[place] > found[place]:
            names[place], found[place] = word, counts[place]
    return names
