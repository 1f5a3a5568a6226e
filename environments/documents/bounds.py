"""Opening documents within limits: what is too large, cannot be read or holds nothing is refused by name."""

from pathlib import Path

from lawtrace.environments.errors import InputError

LARGEST = 20 * 1024 * 1024
"""Bytes. The longest directives have a twentieth of that, with all their marks."""


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises InputError if it is missing, empty or larger than `LARGEST`."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise InputError(
                f"{path}: has {size / 2**20:.0f} MB, and documents of at most {LARGEST // 2**20} MB are read; "
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
