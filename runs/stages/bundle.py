"""Files of the process that divides a job, with their content: workers may be on machines that do not have them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from lawtrace.schemas.errors import InputError, describe_read_error


@dataclass(frozen=True, slots=True)
class Bundle:
    """A file, or files of a folder.

    Attributes:
        name: of the file or folder, which says the form of a file and names environments without Python.
        files: paths below the folder, with the content; of a file one with an empty path.
    """

    name: str
    files: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, path: Path, inside: Callable[[Path], Iterable[Path]] | None = None) -> Self:
        """A file; or of a folder what ``inside`` finds below it.

        Raises InputError if a file cannot be read.
        """
        path = path.expanduser().resolve()
        if inside is None or not path.is_dir():
            return cls(path.name, (("", _content(path)),))
        files = sorted(inside(path))
        return cls(path.name, tuple((file.relative_to(path).as_posix(), _content(file)) for file in files))

    def unpack(self, folder: Path) -> Path:
        """Write the files in a new folder, and return the path of the file or folder."""
        folder.mkdir(parents=True)
        root = folder / self.name
        for name, content in self.files:
            path = root / name if name else root
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return root


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {describe_read_error(error)}") from error
