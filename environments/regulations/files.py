"""Opening documents within limits: what is too large, cannot be read or holds nothing is refused by name."""

import re
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from lawtrace.environments.errors import InputError, OperationalError

MAX_BYTES = 20 * 1024 * 1024
"""Bytes. The longest directives have a twentieth of that, with all their marks."""


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises InputError if it is missing, empty or larger than `LARGEST`."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{path}: has {size / 2**20:.0f} MB, and documents of at most {MAX_BYTES // 2**20} MB are read; "
                "give the articles that matter as a file of their own"
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if not data.strip():
        raise InputError(f"{path}: the document is empty")
    return data


def read_text(path: Path) -> str:
    """The file as UTF-8 text, whatever mark it begins with. Raises InputError as `read_bytes` does."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}; save it as UTF-8") from error


MAX_PAGES = 2_000


def pdf_text(path: Path) -> str:
    """The text, pages separated by form feeds. Raises InputError; CannotCarryOut without the extra ``pdf``."""
    read_bytes(path)  # for its limits
    # An untyped library that only this function needs, and only where a PDF is read.
    try:
        pypdf: Any = import_module("pypdf")
        errors: Any = import_module("pypdf.errors")
    except ImportError as error:
        raise OperationalError(f"{path}: reading PDF needs the extra: pip install 'lawtrace[pdf]'") from error
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{path}: is encrypted; save it without a password first")
        if len(reader.pages) > MAX_PAGES:
            raise InputError(f"{path}: has {len(reader.pages)} pages, at most {MAX_PAGES} are read")
        pages = [str(page.extract_text()) for page in reader.pages]
    except errors.DependencyError as error:
        raise InputError(
            f"{path}: is encrypted in a way that cannot be opened here; save it without it first"
        ) from error
    except (errors.PyPdfError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a PDF that can be read: {error}") from error
    if not any(page.strip() for page in pages):
        raise InputError(f"{path}: holds no text, only pictures of it; run it through OCR first")
    return "\f".join(pages)


_SMALL: Mapping[str, str] = {
    "English": "the of and to in a is that for by on with or be as shall must not this which",
    "German": "der die das und ist nicht von den mit des dem ein eine auf für im sich als auch werden",
    "French": "le la les des du et est dans que pour une un au aux par sur qui ne pas ou",
    "Spanish": "el la los las del y es en que para una un por con se su al no o lo",
    "Italian": "il la i gli delle di e è in che per una un con del della al non o si",
    "Dutch": "de het een en van is in dat voor met op te niet aan door zijn of bij worden als",
    "Polish": "i w na z do nie się jest o że oraz przez dla lub ust art od po za jako",
}
_ENOUGH = 40
_SHARE = 0.12


def other_language(text: str) -> str | None:
    """The language that the text seems to be in if it is not English; None for English and for what is too short to
    tell. *An unknown language* if its small words are none that are known here."""
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", text[:200_000])]
    if len(words) < _ENOUGH:
        return None
    counts = Counter[str]()
    for language, words_of_it in _SMALL.items():
        small = frozenset(words_of_it.split())
        counts[language] = sum(word in small for word in words)
    nearest, count = counts.most_common(1)[0]
    if counts["English"] >= _SHARE * len(words) and counts["English"] * 1.2 >= count:
        return None
    return nearest if count >= _SHARE * len(words) and nearest != "English" else "an unknown language"
