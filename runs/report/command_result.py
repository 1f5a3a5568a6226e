"""What a command has to say when it is done: one object for ``--json``, tables and sentences for people."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checking only: a plan of calls prints no table
    from rich.console import RenderableType


class Note(str):
    """A sentence for people that goes to standard error, such as a remark on single rows."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command. `lawtrace.runs.cli.lazy_commands` prints it and exits.

    Attributes:
        json: what ``--json`` prints, as the last line of standard output.
        shown: what is printed without ``--json``, in this order. A generator is not run with it.
        out: the written file, which is named in both forms.
        notes: sentences on standard error, after the result in both forms.
        exit_code: 0 done, 1 findings, 3 could not be carried out.
    """

    json: Mapping[str, object]
    shown: "Iterable[RenderableType]" = ()
    out: Path | None = None
    notes: Iterable[str] = ()
    exit_code: int = 0
