"""Reading document files within limits: bytes, UTF-8 text, and the text of PDF."""

from importlib import import_module
from pathlib import Path
from typing import Any

from lawtrace.schemas.errors import InputError, OperationalError, input_errors

MAX_BYTES = 20 * 1024 * 1024
"""The longest directives, with markup, have a twentieth of that."""


def read_bytes(path: Path) -> bytes:
    """Read the file. Raises InputError if it is missing, empty or larger than `MAX_BYTES`."""
    with input_errors(path):
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{path}: has {size / 2**20:.0f} MB; the limit is {MAX_BYTES // 2**20} MB. "
                "Give the relevant articles as a separate file"
            )
        data = path.read_bytes()
    if not data.strip():
        raise InputError(f"{path}: the document is empty")
    return data


def read_text(path: Path) -> str:
    """Read the file as UTF-8 text, with or without a byte order mark. Raises InputError as `read_bytes` does."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}; save it as UTF-8") from error


MAX_PAGES = 2_000
MAX_CONTENT_BYTES = 40 * 1024 * 1024
"""Of all pages, unpacked. Reading takes about three seconds for each MB, and pages may share one packed content."""


def pdf_text(path: Path) -> str:
    """Extract the text, form feeds between pages. Raises InputError; OperationalError without the extra ``pdf``."""
    read_bytes(path)  # checks the limits
    # An untyped optional library.
    try:
        pypdf: Any = import_module("pypdf")
        errors: Any = import_module("pypdf.errors")
    except ImportError as error:
        raise OperationalError(f"{path}: reading PDF needs the extra: pip install 'lawtrace[pdf]'") from error
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{path}: is encrypted; save it without a password")
        if len(reader.pages) > MAX_PAGES:
            raise InputError(f"{path}: has {len(reader.pages)} pages, the limit is {MAX_PAGES}")
        size, pages = 0, list[str]()
        for page in reader.pages:
            content = page.get_contents()
            size += 0 if content is None else len(content.get_data())
            if size > MAX_CONTENT_BYTES:
                raise InputError(f"{path}: has more than {MAX_CONTENT_BYTES // 2**20} MB of page content, unpacked")
            pages.append(str(page.extract_text()))
    except errors.DependencyError as error:
        raise InputError(f"{path}: uses an unsupported encryption; save it without encryption") from error
    except (errors.PyPdfError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a readable PDF: {error}") from error
    if not any(page.strip() for page in pages):
        raise InputError(f"{path}: contains no text, only images; run OCR first")
    return "\f".join(pages)
