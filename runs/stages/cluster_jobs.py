"""What is divided among the workers of a cluster: units, and a job that makes each of them.

A job is a pure function of a unit. Workers make units; the process that divides them writes all files and the event
log of the run.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from lawtrace.agents.event_log import EventLog
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.errors import input_errors

if TYPE_CHECKING:  # a plan of the calls waits for no client of a model
    from lawtrace.agents.models.stack import ModelClients
    from lawtrace.runs.store.event_log_file import EventLogFile

Given = TypeVar("Given")
Product = TypeVar("Product")
GivenIn = TypeVar("GivenIn", contravariant=True)
ProductOut = TypeVar("ProductOut", covariant=True)


@dataclass(frozen=True, slots=True)
class Unit(Generic[Given]):
    """A piece of work that depends on no other unit of its job. ``conversations``: the ids of its conversations in the
    event log, if models take part."""

    given: Given
    conversations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """What a worker has for a job that calls models: clients, and the event log in which they record."""

    event_log: EventLog
    clients: "ModelClients"


@dataclass(frozen=True, slots=True)
class CallRecords:
    """Where the process that divides a job keeps the calls of its workers, and the limits of all workers together."""

    event_log: "EventLogFile"
    clients: "ModelClients"
    settings: CallOptions


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
    """Makes the product of each unit. It is sent to every worker, so it holds no key of an endpoint."""

    def open(self, access: ModelAccess | None, stack: ExitStack) -> Callable[[GivenIn], Awaitable[ProductOut]]:
        """Prepare a worker; return what makes a unit. ``access``: None if no model takes part. ``stack``: closed when
        the worker ends.

        Raises LawtraceError if this worker cannot work: units are then made elsewhere.
        """
        ...


class Cluster(Protocol):
    """Processes, on this machine or others, that make units."""

    async def products(
        self,
        job: Job[Given, Product],
        units: Sequence[Unit[Given]],
        *,
        records: CallRecords | None = None,
        on_product: Callable[[Product], None] = lambda _: None,
    ) -> list[Product]:
        """The product of each unit, in order. ``on_product``: called for each as soon as it is there.

        Args:
            records: None if no model takes part. A worker then has one unit at once, else as many as it may ask for.

        Raises OperationalError if no worker can work, or too many are lost.
        """
        ...
