"""Reading what is to be judged: our own JSON lines, or the published record files of real models."""

from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.problems import Problem
from lawtrace.runs.files import Usable, json_list, read_text, read_usable_lines
from lawtrace.runs.published.records import RecordedVerdict, read_recorded_program, read_recorded_verdict
from lawtrace.runs.stages.rows import AttemptRow, ProgramRow

Given = ProgramRow | AttemptRow
"""A program to run, or an attempt that called tools turn by turn, whose calls are on record and are not made again."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a file, in its order; the verdicts that a published record file holds beside them; and what could
    not be used."""

    usable: Usable[Given]
    recorded: tuple[RecordedVerdict, ...] = ()


def read_programs(path: Path) -> Programs:
    """Raises InputError if the file cannot be read at all. A row that cannot is a problem, and the rest is used."""
    text = read_text(path)
    if not text.lstrip().startswith("["):
        return Programs(read_usable_lines(path, _given))
    entries, problems = json_list(path, text)
    usable, recorded = Usable[Given](problems=problems), list[RecordedVerdict]()
    for number, entry in enumerate(entries, 1):
        place = f"{path}, row {number}"
        try:
            program, verdict = read_recorded_program(entry), read_recorded_verdict(entry)
        except ValueError as error:
            usable.problems.append(Problem(place, str(error)))
        else:
            usable.add(place, program)
            recorded.append(verdict)
    return Programs(usable, tuple(recorded))


def _given(line: str) -> Given:
    program = ProgramRow.model_validate_json(line)
    return program if program.mode == "program" else AttemptRow.model_validate_json(line)
