"""Sheets that annotators and adjudicators read, the forms that they fill in, and what is read back of them.

A folder of records has

    sheets/                     for annotators, and nothing else is: texts (law, manual, tools), sheets, empty forms
    answers/ANNOTATOR/          the filled forms
    adjudication/sheets/, adjudication/answers/ANNOTATOR/     the same of the sessions on which they differ
    key.jsonl                   the verdicts
    attempts.jsonl              all attempts of the runs that were named, in brief
    judgments.jsonl             the judgments that were read back
    solver_record.jsonl         whose fault failing verdicts are
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from lawtrace.agents.roles.extraction_roles import quoted_in
from lawtrace.environments.runtime.documentation import document
from lawtrace.prompts.loader import DEFAULT_PROMPTS
from lawtrace.runs.release.sessions import JudgedSession
from lawtrace.runs.store.stage_files import describe_row_error, read_rows, read_text, write_rows, write_text
from lawtrace.schemas.errors import InputError, Problem
from lawtrace.schemas.validity_rows import (
    FilledForm,
    GoalJudgment,
    GoalVerdict,
    Judgment,
    KeyRow,
    LawJudgment,
    SolverAdjudication,
)
from lawtrace.solver.declarations.loader import Domain

PER_SHEET: Final = 20
Role = Literal["annotator", "adjudicator"]
PLACES: Final[Mapping[Role, str]] = {"annotator": ".", "adjudicator": "adjudication"}
"""Where the sheets and answers of a role are, in a folder of records."""
REACHED: Final[Mapping[GoalJudgment, GoalVerdict | None]] = {
    "done": "reached",
    "declined": "reached",
    "not": "missed",
    "cannot tell": None,
}


def write_sample(out: Path, sessions: Sequence[JudgedSession], drawn: Literal["sample", "failing"]) -> list[KeyRow]:
    """Write sheets, empty forms and the key; the sessions of an environment are numbered in their order."""
    by_environment = defaultdict[str, list[JudgedSession]](list)
    for one in sessions:
        by_environment[one.set.domain.environment.name].append(one)
    keys: list[KeyRow] = []
    for name, some in by_environment.items():
        told = {f"{name}-{number:03}": one.told for number, one in enumerate(some, 1)}
        keys += [_key(id_, one, drawn) for id_, one in zip(told, some, strict=True)]
        _write_sheets(out / "sheets", name, told)
        for role, place in PLACES.items():
            texts = texts_of(some[0].set.domain, adjudicates=role == "adjudicator")
            write_text(out / place / "sheets" / f"{name}.texts.md", texts)
    write_rows(out / "key.jsonl", keys)
    return keys


def texts_of(domain: Domain, *, adjudicates: bool) -> str:
    """What is to be judged, law, manual and tools."""
    return DEFAULT_PROMPTS["session_annotator"].fill(
        regulation=domain.regulation.text(),
        manual=domain.regulation.manual_text(),
        documentation=json.dumps(document(domain.environment), ensure_ascii=False, indent=1),
        adjudicates=adjudicates,
    )


def _key(id_: str, one: JudgedSession, drawn: Literal["sample", "failing"]) -> KeyRow:
    verdict = one.verdict
    return KeyRow(
        id=id_,
        drawn=drawn,
        set=one.set.name,
        environment=one.task.environment,
        task=one.task.id,
        style=verdict.style,
        trial=verdict.trial,
        kind=one.kind,
        change=one.change,
        outcome=verdict.outcome,
        law=one.law,
        goal=one.goal,
        rules=tuple(rule.rule for rule in verdict.rules if rule.broken and rule.source == "law"),
        point=one.point,
        digest=hashlib.sha256(one.told.encode()).hexdigest(),
    )


def _write_sheets(folder: Path, name: str, told: Mapping[str, str]) -> None:
    """Sheets and empty forms of some sessions in one environment, by the ids of these."""
    ids = list(told)
    for start in range(0, len(ids), PER_SHEET):
        chosen, sheet = ids[start : start + PER_SHEET], f"{name}-{start // PER_SHEET + 1:02}"
        head = f"# {sheet}\n\nRead `{name}.texts.md` first, and fill in `{sheet}.json`."
        write_text(folder / f"{sheet}.md", "\n\n".join([head, *(f"## {one}\n\n{told[one]}" for one in chosen)]) + "\n")
        empty = [{"id": one, "law": "", "provision": "", "words": "", "goal": "", "because": ""} for one in chosen]
        form = {"schema_version": "lawtrace.judgments/1", "sheet": sheet, "annotator": "", "model": "", "items": empty}
        write_text(folder / f"{sheet}.json", json.dumps(form, indent=1) + "\n")


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Judgments that were read back from forms.

    Attributes:
        problems: forms and items that cannot be used, and what is missing.
        unquoted: judgments whose words stand neither in the law nor in the manual, and need to.
    """

    judgments: list[Judgment] = field(default_factory=list[Judgment])
    problems: list[Problem] = field(default_factory=list[Problem])
    unquoted: list[str] = field(default_factory=list[str])


def read_forms(folder: Path, role: Role) -> ReadBack:
    """The filled forms of a role in a folder of records."""
    read, place = ReadBack(), folder / PLACES[role]
    sheets = {path.stem: _ids(path) for path in sorted((place / "sheets").glob("*.json"))}
    answered = defaultdict[tuple[str, str], set[str]](set)
    for path in sorted((place / "answers").rglob("*.json")):
        try:
            form = FilledForm.model_validate_json(read_text(path))
        except ValidationError as error:
            read.problems.append(Problem(str(path), describe_row_error(error)))
            continue
        if form.sheet not in sheets:
            read.problems.append(Problem(str(path), f"there is no sheet {form.sheet!r}"))
            continue
        texts = read_text(place / "sheets" / f"{form.sheet.rpartition('-')[0]}.texts.md")
        seen = answered[form.annotator, form.sheet]
        for item in form.items:
            if item.id not in sheets[form.sheet] or item.id in seen:
                what = "is not of this sheet" if item.id not in seen else "was answered before"
                read.problems.append(Problem(str(path), f"item {item.id!r} {what}"))
                continue
            seen.add(item.id)
            if item.law in {"unlawful", "arguable"} and not quoted_in(item.words, texts):
                read.unquoted.append(f"{item.id}, {form.annotator}")
            given = item.model_dump() | {"role": role, "annotator": form.annotator, "model": form.model}
            read.judgments.append(Judgment.model_validate(given))
        if missing := sheets[form.sheet] - seen:
            what = f"{len(missing)} items are not answered, {min(missing)} first"
            read.problems.append(Problem(str(path), what))
    return read


def _ids(form: Path) -> set[str]:
    return {item["id"] for item in json.loads(read_text(form))["items"]}


@dataclass(frozen=True, slots=True)
class Compared:
    """A verdict beside the judgments on its session."""

    key: KeyRow
    judgments: Sequence[Judgment]

    def by(self, role: Role) -> list[Judgment]:
        return [one for one in self.judgments if one.role == role]

    @property
    def laws(self) -> list[LawJudgment]:
        """What annotators say of the law."""
        return [one.law for one in self.by("annotator")]

    @property
    def goals(self) -> list[GoalVerdict | None]:
        """What annotators say of the goal; None: cannot tell."""
        return [REACHED[one.goal] for one in self.by("annotator")]

    @property
    def differs(self) -> bool:
        """Whether annotators differ from each other or from the verdict, or none of them can tell."""
        laws = {*self.laws} - {"cannot tell"}
        goals = set[GoalVerdict | None]() if self.key.goal == "arguable" else {*self.goals} - {None}
        return laws != {self.key.law} or not goals <= {self.key.goal}

    @property
    def settling(self) -> list[Judgment]:
        """The judgments that count: those of adjudicators, or of annotators where there are none."""
        return self.by("adjudicator") or self.by("annotator")

    @property
    def law(self) -> LawJudgment | None:
        """What is settled of the law; None if nobody judged it, or those that settle it differ or cannot tell."""
        found: list[LawJudgment] = list(dict.fromkeys(one.law for one in self.settling))
        return found[0] if len(found) == 1 and found != ["cannot tell"] else None

    @property
    def goal(self) -> GoalVerdict | None:
        """The same of the goal."""
        found: list[GoalVerdict | None] = list(dict.fromkeys(REACHED[one.goal] for one in self.settling))
        return found[0] if len(found) == 1 else None

    @property
    def law_is_wrong(self) -> bool:
        """Whether the verdict says lawful where it is settled that it is unlawful, or the other way round."""
        return {self.law, self.key.law} == {"lawful", "unlawful"}

    @property
    def goal_is_wrong(self) -> bool:
        """The same of the goal. What is done although the law forbids it is done to an annotator and no end to the
        judge, so the goal of a session that both find unlawful does not count."""
        both = self.law == self.key.law == "unlawful"
        return not both and {self.goal, self.key.goal} == {"reached", "missed"}

    @property
    def is_wrong(self) -> bool:
        return self.law_is_wrong or self.goal_is_wrong

    @property
    def is_contestable(self) -> bool:
        """Whether the verdict decides what is settled as arguable."""
        return self.law == "arguable" and self.key.law in {"lawful", "unlawful"}

    @property
    def whose(self) -> Literal["solver", "task", "open"]:
        """Of a failing verdict: whose fault it is."""
        if self.is_wrong:
            return "task"
        fails = self.law == self.key.law == "unlawful" or self.goal == self.key.goal == "missed"
        return "solver" if fails else "open"


def compare(keys: Iterable[KeyRow], judgments: Iterable[Judgment]) -> list[Compared]:
    """Each verdict beside the judgments on it."""
    by_id = defaultdict[str, list[Judgment]](list)
    for one in judgments:
        by_id[one.id].append(one)
    return [Compared(key, by_id[key.id]) for key in keys]


def read_key(folder: Path) -> list[KeyRow]:
    """The key of a folder of records. Raises InputError."""
    if not (folder / "key.jsonl").is_file():
        raise InputError(f"{folder}: has no key.jsonl; `lawtrace tasks sample RELEASE --out FOLDER` writes one")
    return read_rows(folder / "key.jsonl", KeyRow)


def write_adjudication(folder: Path, compared: Sequence[Compared]) -> list[str]:
    """Write sheets of the sessions that are to be adjudicated, with law and session alone; return their ids."""
    wanted = defaultdict[str, dict[str, str]](dict)
    told = {name: text for sheet in sorted((folder / "sheets").glob("*-*.md")) for name, text in _told_in(sheet)}
    for one in compared:
        if one.laws and one.differs:
            wanted[one.key.environment][one.key.id] = told[one.key.id]
    for name, some in wanted.items():
        _write_sheets(folder / PLACES["adjudicator"] / "sheets", name, some)
    return [id_ for some in wanted.values() for id_ in some]


def _told_in(sheet: Path) -> Iterator[tuple[str, str]]:
    """The sessions of a sheet, by id."""
    for part in read_text(sheet).split("\n## ")[1:]:
        id_, _, text = part.partition("\n\n")
        yield id_, text.strip()


def solver_record(compared: Iterable[Compared]) -> list[SolverAdjudication]:
    """Whose fault the failing verdicts of solvers are, as far as they were judged."""
    return [
        SolverAdjudication(
            task=one.key.task,
            style=one.key.style,
            trial=one.key.trial,
            solver=one.key.change,
            verdict=one.key.outcome,
            adjudicator="; ".join(f"{by.annotator} ({by.model})" for by in one.settling),
            whose=one.whose,
            words=" / ".join(_in_words(by) for by in one.settling),
        )
        for one in compared
        if one.key.drawn == "failing" and one.settling
    ]


def _in_words(judgment: Judgment) -> str:
    said = (f"{judgment.law}, {judgment.goal}", judgment.provision, judgment.words, judgment.because)
    return ". ".join(part.strip(" .") for part in said if part)
