"""Formex, the XML format of the EU Publications Office, to lines.

Read as a stream: nothing that the document declares is expanded or fetched, so it can neither exhaust memory nor access
other files. A document type may be named; entities may not be declared.
"""

from collections.abc import Mapping
from xml.parsers import expat

from lawtrace.environments.documents.lines import Line
from lawtrace.schemas.errors import InputError

_HEADINGS: Mapping[str, int] = {"TI": 1, "STI": 1, "TI.ART": 4, "STI.ART": 4, "TITLE": 1, "TI.CJT": 1}
_BLOCKS = frozenset(
    {"P", "TXT", "NO.PARAG", "NO.P", "NO.CONSID", "ALINEA", "NP", "ITEM", "PARAG", "ARTICLE"}
    | {"CELL", "ROW", "VISA", "CONSID", "DIVISION", "CONTENTS", "GR.SEQ", "LIST"}
)
_SILENT = frozenset(
    {"INFO.CONSLEG", "INFO.PROD", "BIB.INSTANCE", "BIB.INSTANCE.CONS", "NO.CELEX", "GR.CORRIG", "GR.MOD.ACT"}
    | {"DOCUMENT.REF", "LG.DOC", "NO.DOC"}
)
"""Metadata, which is not part of the text."""
_DEEPEST = 300


def formex_lines(data: bytes) -> list[Line]:
    """The blocks of the text, each as one line. Raises InputError for malformed XML or declared entities."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.words
    parser.EntityDeclHandler = _refuse
    parser.UnparsedEntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InputError(f"not well-formed XML: {error}") from error
    return reader.lines + reader.notes


def _refuse(*_: object) -> int:
    raise InputError("the document declares or names entities of its own, which are never expanded; remove them")


class _Reader:
    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.notes: list[Line] = []
        self._open: list[str] = []
        self._words: list[str] = []
        self._note: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) >= _DEEPEST:
            raise InputError(f"elements are nested more than {_DEEPEST} deep; refusing to parse")
        if tag in {"QUOT.START", "QUOT.END"}:
            self.words(_quote(attributes.get("CODE", "")))
        self._end_block(tag)
        self._open.append(tag)

    def end(self, tag: str) -> None:
        self._end_block(tag)
        self._open.pop()
        if tag == "NOTE":
            self.notes.append(Line(" ".join("".join(self._note).split()), note=True))
            self._note.clear()

    def words(self, text: str) -> None:
        if _SILENT.isdisjoint(self._open):
            (self._note if "NOTE" in self._open else self._words).append(text)

    def _end_block(self, tag: str) -> None:
        if tag not in _BLOCKS and tag not in _HEADINGS:
            return
        if "NOTE" in self._open:
            self._note.append(" ")
            return
        text = " ".join("".join(self._words).split())
        self._words.clear()
        if text:
            # A quoted amendment of another act is not an article of this one.
            level = 0 if "QUOT.S" in self._open else max((_HEADINGS.get(tag, 0) for tag in self._open), default=0)
            self.lines.append(Line(text, level=level, depth=self._open.count("LIST")))


def _quote(code: str) -> str:
    try:
        return chr(int(code, 16))
    except ValueError:
        return "'"
