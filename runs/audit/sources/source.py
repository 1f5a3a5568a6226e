"""What a source is: a form in which conversations are recorded."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.schemas.events import Json


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON value of a file: a line, an element of its main list, or all of it.

    Attributes:
        place: the file, and where the value stands in it.
        name: what its conversation is called if the source gives it no id.
    """

    place: str
    name: str
    value: Json


class Source(ABC):
    """A form of records. One object reads one file, so that it can collect what belongs together.

    Attributes:
        title: what users call the source.
        lists: the fields of a file that is one JSON object whose lists hold the records.
    """

    title: ClassVar[str]
    lists: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    @abstractmethod
    def recognizes(value: Json) -> bool:
        """Whether a record has this form."""

    @abstractmethod
    def read(self, record: Record) -> Iterable[Transcript]:
        """The transcripts of a record. Raises ValueError, KeyError, TypeError or AttributeError if one is malformed."""

    def name(self, record: Record) -> str | None:
        """The id of the one transcript of a record; None if only reading shows how many it holds. Raises as `read`."""
        del record
        return None

    def end(self) -> Iterable[Transcript]:
        """The transcripts collected from several records, at the end of the file."""
        return ()
