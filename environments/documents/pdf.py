"""PDF to text, a page after the other (extra ``pdf``)."""

from importlib import import_module
from pathlib import Path
from typing import Any

from lawtrace.environments.documents.bounds import read_bytes
from lawtrace.environments.errors import CannotCarryOut, InputError

MOST_PAGES = 2_000


def pdf_text(path: Path) -> str:
    """The text, pages separated by form feeds. Raises InputError; CannotCarryOut without the extra ``pdf``."""
    read_bytes(path)  # for its limits
    # An untyped library that only this function needs, and only where a PDF is read.
    try:
        pypdf: Any = import_module("pypdf")
        errors: Any = import_module("pypdf.errors")
    except ImportError as error:
        raise CannotCarryOut(f"{path}: reading PDF needs the extra: pip install 'lawtrace[pdf]'") from error
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{path}: is encrypted; save it without a password first")
        if len(reader.pages) > MOST_PAGES:
            raise InputError(f"{path}: has {len(reader.pages)} pages, at most {MOST_PAGES} are read")
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
