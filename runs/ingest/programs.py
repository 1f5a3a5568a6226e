"""Files of programs to judge: lawtrace's JSON lines, or published record files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, RootModel

from lawtrace.environments.errors import Problem
from lawtrace.runs.ingest.published_records import RecordedVerdict, parse_recorded_program, parse_recorded_verdict
from lawtrace.runs.schemas.attempt_rows import Answer, Attempt
from lawtrace.runs.store.stage_files import UsableRows, parse_json_list, read_text, read_usable_lines

SubmittedRow = Answer | Attempt
"""An answer to execute, or an attempt in tools mode, whose calls are judged as they are."""


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """The programs of a file in order, the verdicts of a published record file, and the problems of invalid rows."""

    usable: UsableRows[SubmittedRow]
    recorded: tuple[RecordedVerdict, ...] = ()


def read_programs(path: Path) -> ProgramFile:
    """Read a file of programs; an invalid row becomes a problem. Raises InputError for an unreadable file."""
    text = read_text(path)
    if not text.lstrip().startswith("["):
        return ProgramFile(read_usable_lines(path, _parse_line))
    entries, problems = parse_json_list(path, text)
    usable, recorded = UsableRows[SubmittedRow](problems=problems), list[RecordedVerdict]()
    for number, entry in enumerate(entries, 1):
        place = f"{path}, row {number}"
        try:
            program, verdict = parse_recorded_program(entry), parse_recorded_verdict(entry)
        except ValueError as error:
            usable.problems.append(Problem(place, str(error)))
        else:
            usable.add(place, program)
            recorded.append(verdict)
    return ProgramFile(usable, tuple(recorded))


class _SubmittedProgram(Answer):
    """An answer as users write it: further fields are ignored."""

    model_config = ConfigDict(extra="ignore")


def _parse_line(line: str) -> SubmittedRow:
    if "answer" not in RootModel[dict[str, Any]].model_validate_json(line).root:
        return _SubmittedProgram.model_validate_json(line)
    attempt = Attempt.model_validate_json(line)
    return attempt.answer if attempt.answer.mode == "program" else attempt
