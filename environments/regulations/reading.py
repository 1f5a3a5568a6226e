"""From a file to the tree of a legal text, by the form the file is in."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lawtrace.environments.documents.bounds import read_bytes, read_text
from lawtrace.environments.documents.html import html_lines
from lawtrace.environments.documents.language import other_language
from lawtrace.environments.documents.lines import Line
from lawtrace.environments.documents.pdf import pdf_text
from lawtrace.environments.documents.plain import split_furniture, text_lines
from lawtrace.environments.errors import InputError
from lawtrace.environments.regulations.formex import formex_lines
from lawtrace.environments.regulations.markdown import markdown_lines
from lawtrace.environments.regulations.oscal import parse_oscal
from lawtrace.environments.regulations.parsing import parse_legal_text
from lawtrace.environments.regulations.tree import LegalText

FORMS = ".txt, .md, .html, .xhtml, .xml (Formex), .json (OSCAL) or .pdf"

_EURLEX_HEADINGS: Mapping[str, int] = {
    **dict.fromkeys(("doc-ti", "oj-doc-ti"), 1),
    **dict.fromkeys(("ti-section-1", "oj-ti-section-1", "ti-section-2", "oj-ti-section-2", "title-division-1"), 2),
    **dict.fromkeys(("ti-art", "oj-ti-art", "sti-art", "oj-sti-art", "title-article-norm", "stitle-article-norm"), 4),
    **dict.fromkeys(("ti-grseq-1", "oj-ti-grseq-1"), 5),
}
"""The classes that EUR-Lex marks headings with, today, before 2023, and in consolidated texts."""
_EURLEX_NOTES = frozenset({"oj-note", "note"})


def read_legal_text(path: Path) -> LegalText:
    """The tree of a regulation. Raises InputError naming the file and the remedy; CannotCarryOut for a PDF without the
    extra ``pdf``."""
    text = _read(path)
    language = other_language(" ".join(text.words()))
    if language is not None:
        raise InputError(f"{path}: seems to be in {language}; give the English version, which tools and prompts are in")
    if not any(char.isalpha() for provision in text.provisions() for char in provision.text):
        raise InputError(f"{path}: holds no provision: nothing in it that could be cited has words of its own")
    return text


def _read(path: Path) -> LegalText:
    match path.suffix.lower():
        case ".json":
            return _named(path, lambda: parse_oscal(read_text(path)))
        case ".pdf":
            return _plain(path, pdf_text(path))
        case ".txt" | ".text":
            return _plain(path, read_text(path))
        case ".md" | ".markdown":
            return _tree(path, markdown_lines(read_text(path)))
        case ".html" | ".htm" | ".xhtml":
            return _tree(path, html_lines(read_text(path), headings=_EURLEX_HEADINGS, notes=_EURLEX_NOTES))
        case ".xml":
            data = read_bytes(path)
            if b"<html" in data[:2000]:
                return _tree(path, html_lines(read_text(path), headings=_EURLEX_HEADINGS, notes=_EURLEX_NOTES))
            return _named(path, lambda: parse_legal_text(formex_lines(data)))
        case _:
            raise InputError(f"{path}: a regulation is {FORMS}; a restated one is .toml")


def _plain(path: Path, text: str) -> LegalText:
    return _tree(path, text_lines(text)).model_copy(update={"left_out": split_furniture(text)})


def _tree(path: Path, lines: Sequence[Line]) -> LegalText:
    return _named(path, lambda: parse_legal_text(lines))


def _named(path: Path, read: Callable[[], LegalText]) -> LegalText:
    """What is wrong with a document is said with its name."""
    try:
        return read()
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error
