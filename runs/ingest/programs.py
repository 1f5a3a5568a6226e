"""Files of programs to judge: lawtrace's JSON lines, or published record files."""

from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.errors import Problem
from lawtrace.runs.ingest.published_records import RecordedVerdict, parse_recorded_program, parse_recorded_verdict
from lawtrace.runs.schemas.task_rows import Attempt, ProgramRow
from lawtrace.runs.store.stage_files import UsableRows, parse_json_list, read_text, read_usable_lines

SubmittedRow = ProgramRow | Attempt
"""A program to execute, or a tools-mode attempt, whose recorded calls are judged as they are."""


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


def _parse_line(line: str) -> SubmittedRow:
    program = ProgramRow.model_validate_json(line)
    return program if program.mode == "program" else Attempt.model_validate_json(line)
