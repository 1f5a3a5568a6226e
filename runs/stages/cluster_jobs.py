"""What is divided among the workers of a cluster: units, and a job that makes each of them.

A job is a pure function of a unit, which asks no model: the process that divides it asks them, and writes all files.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, TypeVar

from lawtrace.schemas.errors import input_errors

Given = TypeVar("Given")
Product = TypeVar("Product")
GivenIn = TypeVar("GivenIn", contravariant=True)
ProductOut = TypeVar("ProductOut", covariant=True)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A file, or files of a folder, with their content: workers may be on machines that do not have them.

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
    with input_errors(path):
        return path.read_bytes()


class Job(Protocol[GivenIn, ProductOut]):
    """Makes the product of each unit. It is sent to workers, and holds no key of an endpoint."""

    def open(self, stack: ExitStack) -> Callable[[GivenIn], ProductOut]:
        """Prepare a worker; return what makes a unit. ``stack``: closed when the worker ends.

        Raises LawtraceError if this worker cannot work: units are then made elsewhere.
        """
        ...


class Cluster(Protocol):
    """Processes, on this machine or others, that make units."""

    def maker(self, job: Job[Given, Product]) -> Callable[[Given], Awaitable[Product]]:
        """What makes a unit of the job in some process, as soon as one is free.

        It raises the error of the unit, and OperationalError if too many workers are lost.
        """
        ...
