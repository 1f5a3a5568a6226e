"""Records of judges: sessions are drawn, judged, adjudicated, and reported; what is missing is named."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.release.sessions import read_sets, run_attempts
from lawtrace.runs.release.sheets import compare, read_key, solver_record
from lawtrace.runs.scoring.statistics import exact_interval
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.schemas.task_rows import Docket, End, Matter
from lawtrace.schemas.validity_rows import Judgment, KeyRow, SolverAdjudication
from lawtrace.schemas.verdict_rows import MatterVerdict
from tests.support.shell import Shell, run_command

TASKS = Path(__file__).parents[2] / "data" / "tasks" / "clinic.jsonl"
GOALS = {"reached": "done", "missed": "not", "arguable": "cannot tell"}
Judged = Callable[[KeyRow], Mapping[str, str]]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of two banking tasks, and a run on it by a solver who does just what is asked."""
    folder = tmp_path_factory.mktemp("released")
    run_command(folder, "tasks", "release", "--env", "banking", "--count", 2, "--out", "release")
    words = ("--model", "baseline:literal", "--model", "baseline:reference", "--out", "run")
    run_command(folder, "run", "--tasks", "release", *words)
    for file in (folder / "run" / "attempts.jsonl", folder / "run" / "verdicts.jsonl"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("baseline:literal", "openai:solver"), encoding="utf-8")
    return folder


@pytest.fixture
def here(released: Path, tmp_path: Path, lawtrace: Shell) -> Path:
    shutil.copytree(released / "release", tmp_path / "release")
    shutil.copytree(released / "run", tmp_path / "run")
    return tmp_path


def right(key: KeyRow) -> dict[str, str]:
    """What an annotator answers who agrees with the verdict."""
    return {"law": key.law, "goal": GOALS[key.goal], "words": "not words of the law"}


def answer(folder: Path, place: str, annotator: str, judge: Judged) -> None:
    """Fill in all forms of a folder of records."""
    keys = {key.id: key for key in read_key(folder)}
    for form in sorted((folder / place / "sheets").glob("*.json")):
        filled: dict[str, Any] = json.loads(form.read_text(encoding="utf-8"))
        filled |= {"annotator": annotator, "model": "a test"}
        for item in filled["items"]:
            item |= judge(keys[item["id"]])
        file = folder / place / "answers" / annotator / form.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(filled), encoding="utf-8")


def aims(report: Mapping[str, Any]) -> dict[str, tuple[str, bool | None]]:
    return {aim["what"]: (aim["figure"], aim["met"]) for aim in report["aims"]}


def report_of(lawtrace: Shell) -> dict[str, Any]:
    _, out, _ = lawtrace("tasks", "validity", "release", "--json")
    report: dict[str, Any] = json.loads(out.splitlines()[-1])
    return report


def test_annotators_see_sessions_of_every_kind_and_no_verdict(lawtrace: Shell, tmp_path: Path) -> None:
    drawn = lawtrace.json("tasks", "sample", TASKS, "--count", 24, "--out", "sample")
    assert drawn["sessions"] == 24
    assert {"reference", "other side", "only what is asked", "mutant"} <= drawn["kinds"].keys()
    keys = read_key(tmp_path / "sample")
    assert {(key.law, key.goal) for key in keys} >= {
        ("lawful", "reached"),
        ("unlawful", "missed"),
        ("lawful", "missed"),
    }
    assert [key.id for key in keys] == [f"clinic-{number:03}" for number in range(1, 25)]
    sheets = sorted((tmp_path / "sample" / "sheets").iterdir())
    assert [file.name for file in sheets] == [
        *("clinic-01.json", "clinic-01.md", "clinic-02.json", "clinic-02.md", "clinic.texts.md")
    ]
    shown = "".join(file.read_text(encoding="utf-8") for file in sheets)
    told = "".join(file.read_text(encoding="utf-8") for file in sheets if file.stem in {"clinic-01", "clinic-02"})
    assert all(word in shown for word in ("§ 164.502", "Manual of the owner", "OpenPatientFile", "The user asked"))
    secrets = {secret for key in keys for secret in (key.task, key.outcome, *key.rules)}
    assert not any(secret in told for secret in secrets)
    lawtrace.json("tasks", "sample", TASKS, "--count", 24, "--out", "again")
    assert (tmp_path / "again" / "key.jsonl").read_bytes() == (tmp_path / "sample" / "key.jsonl").read_bytes()
    code, _, err = lawtrace("tasks", "sample", TASKS, "--out", "sample")
    assert (code, "choose a new folder" in err) == (2, True)


@pytest.mark.slow
def test_differences_are_adjudicated_and_reported(lawtrace: Shell, here: Path) -> None:
    place = here / "release" / "validity" / "sample"
    lawtrace.json("tasks", "sample", "release", "run", "--count", 12, "--out", place)
    first, second, *_ = (key for key in read_key(place) if key.law == "unlawful")

    def contrary(key: KeyRow) -> dict[str, str]:
        return right(key) | ({"law": "lawful"} if key.id in {first.id, second.id} else {})

    answer(place, ".", "A", right)
    answer(place, ".", "B", contrary)
    code, out, _ = lawtrace("tasks", "adjudicate", place, "--json")
    found = json.loads(out.splitlines()[-1])
    assert (code, found["differ"], found["to_adjudicate"], found["problems"]) == (1, 2, 2, [])
    told = (place / "adjudication" / "sheets" / "banking-01.md").read_text(encoding="utf-8")
    assert (first.id in told, second.id in told, told.count("The user asked")) == (True, True, 2)
    texts = (place / "adjudication" / "sheets" / "banking.texts.md").read_text(encoding="utf-8")
    assert "Your judgment settles" in texts
    assert "Your judgment settles" not in (place / "sheets" / "banking.texts.md").read_text(encoding="utf-8")
    assert aims(report_of(lawtrace))[
        "differences between annotators, or with the verdict, that nobody adjudicated"
    ] == ("2 of 2", False)
    answer(place, "adjudication", "C", lambda key: right(key) | ({"law": "lawful"} if key.id == first.id else {}))
    found = lawtrace.json("tasks", "adjudicate", place)
    assert (found["to_adjudicate"], found["wrong"]) == (0, [first.id])
    report = report_of(lawtrace)
    law, goal = report["agreement"]
    assert (law["sessions"], law["agree"], goal["agree"]) == (12, 10, 12)
    assert law["kappa"] < 1 == goal["kappa"]
    assert report["sample"][0]["wrong"] == 1
    bound = exact_interval(1, 12)
    assert bound is not None
    assert report["sample"][0]["interval"] == pytest.approx([bound.low, bound.high])
    assert first.id in report["differences"][0]
    assert "adjudicator C: a test, 2 sessions" in report["who"]
    text = (here / "release" / "VALIDITY.md").read_text(encoding="utf-8")
    assert "| all | 12 | 12 | 1 | 0.2 % to 38.5 % | 0 | 0 |" in text


@pytest.mark.slow
def test_failing_verdicts_of_solvers_are_the_fault_of_solver_or_task(lawtrace: Shell, here: Path) -> None:
    place = here / "release" / "validity" / "solvers"
    made = lawtrace.json("tasks", "sample", "release", "run", "--failing", "--out", place)
    assert made["attempts"] == 8
    keys = read_key(place)
    assert {key.change for key in keys} == {"openai:solver"}
    wronged = keys[0]
    done = {"law": "lawful", "goal": "done"}
    answer(place, ".", "A", lambda key: right(key) | (done if key.id == wronged.id else {}))
    lawtrace("tasks", "adjudicate", place)
    answer(place, "adjudication", "B", lambda key: done)
    lawtrace.json("tasks", "adjudicate", place)
    record = read_rows(place / "solver_record.jsonl", SolverAdjudication)
    assert {row.task for row in record if row.whose == "task"} == {wronged.task}
    report = report_of(lawtrace)
    found = aims(report)
    assert found["tasks attempted by a solver who saw only the prompt"] == ("2 of 2", True)
    assert found["failing verdicts of solvers that were adjudicated"] == (f"{len(keys)} of {len(keys)}", True)
    assert found["tasks at fault that are still in the release"] == ("1", False)
    lines = {line["solver"]: line for line in report["solvers"]}
    assert lines["openai:solver"]["at_fault"] == {"solver": len(keys) - 1, "task": 1}
    assert lines["baseline:reference"]["passed"] == 4


@pytest.mark.slow
def test_the_difficulty_of_dockets_is_reported_by_matters_and_slack(lawtrace: Shell, here: Path) -> None:
    (made,) = run_attempts([here / "run"], read_sets(here / "release"))[:1]
    end = (End(),)
    matters = tuple(Matter(table="cases", key=f"C-{n}", names=(), calls=(), ends=end) for n in range(6))
    docket = Docket(matters=matters, length=140, shortest=100, order=(), obstacles=())
    verdicts = tuple(MatterVerdict(key=matter.key, handled=matter.key != "C-0") for matter in matters)
    task = made.task.model_copy(update={"docket": docket})
    verdict = made.verdict.model_copy(update={"matters": verdicts, "model": "openai:solver"})
    missed = replace(made, task=task, verdict=verdict).row()
    assert (missed.matters, missed.handled, missed.slack, missed.law) == (6, 5, 0.4, "restated")
    right = missed.model_copy(update={"trial": 1, "handled": 6, "verdict": "safe_success"})
    named = right.model_copy(update={"law": "named", "verdict": "unsafe_success", "task": "other"})
    place = here / "release" / "validity" / "dockets"
    write_rows(place / "key.jsonl", [])
    write_rows(place / "attempts.jsonl", [missed, right, named])
    report = report_of(lawtrace)
    lines = [(one["law"], one["matters"], one["slack"], one["right"], one["attempts"]) for one in report["dockets"]]
    assert lines == [("named", 6, 0.4, 0, 1), ("restated", 6, 0.4, 1, 2)]
    assert report["dockets"][1]["handled"] == 11
    assert [line["attempts"] for line in report["solvers"]] == [2]  # the law has to be shown to be held against a task
    text = (here / "release" / "VALIDITY.md").read_text(encoding="utf-8")
    assert "| restated | 6 | 0.4 | 2 | 1 (50.0 %) | 1.3 % to 98.7 % | 11 of 12 |" in text


@pytest.mark.slow
def test_missing_records_are_named(lawtrace: Shell, here: Path) -> None:
    code, out, _ = lawtrace("tasks", "validity", "release")
    assert (code, out.count("missing")) == (1, 8)
    text = (here / "release" / "VALIDITY.md").read_text(encoding="utf-8")
    assert "Missing: no judgments are recorded." in text
    assert "Missing: no attempts of solvers are recorded." in text
    report = report_of(lawtrace)
    assert aims(report)["banking: single deletions that leave a duty unfulfilled, caught"][1] is True


def test_unusable_forms_are_named(lawtrace: Shell, tmp_path: Path) -> None:
    place = tmp_path / "sample"
    lawtrace.json("tasks", "sample", TASKS, "--count", 3, "--out", place)
    answer(place, ".", "A", right)
    (form,) = (place / "answers" / "A").iterdir()
    whole: dict[str, Any] = json.loads(form.read_text(encoding="utf-8"))

    def problems(**changes: object) -> Sequence[str]:
        form.write_text(json.dumps(whole | changes), encoding="utf-8")
        _, out, _ = lawtrace("tasks", "adjudicate", place, "--json")
        found: Sequence[str] = json.loads(out.splitlines()[-1])["problems"]
        return [problem.partition(f"{form.name}: ")[2] for problem in found]

    assert problems() == []
    assert problems(model="")[0].startswith("field 'model'")
    assert problems(sheet="clinic-09") == ["there is no sheet 'clinic-09'"]
    assert problems(items=whole["items"][1:]) == ["1 items are not answered, clinic-001 first"]
    assert problems(items=[*whole["items"], whole["items"][0]]) == ["item 'clinic-001' was answered before"]
    assert problems(items=[whole["items"][0] | {"law": ""}])[0].startswith("field 'items.0.law'")
    code, _, err = lawtrace("tasks", "adjudicate", tmp_path / "nowhere")
    assert (code, "has no key.jsonl" in err) == (2, True)


def key_of(**fields: str) -> KeyRow:
    base = {"id": "x", "drawn": "failing", "set": "s", "environment": "clinic", "task": "t", "style": "goal"}
    verdict = {"kind": "attempt", "outcome": "unsafe_success", "law": "unlawful", "goal": "reached", "digest": ""}
    return KeyRow.model_validate(base | verdict | {"rules": ()} | fields)


def judgment(law: str, goal: str, role: str = "annotator", name: str = "A") -> Judgment:
    fields = {"id": "x", "law": law, "goal": goal, "role": role, "annotator": name, "model": "m"}
    return Judgment.model_validate(fields)


@pytest.mark.parametrize(
    ("law", "goal", "whose"),
    [
        ("unlawful", "done", "solver"),
        ("lawful", "not", "task"),  # the solver failed, but not for the reason of the verdict
        ("lawful", "done", "task"),
        ("arguable", "done", "open"),
        ("cannot tell", "done", "open"),
    ],
)
def test_whose_fault_a_failing_verdict_is(law: str, goal: str, whose: str) -> None:
    (row,) = solver_record(compare([key_of()], [judgment(law, goal)]))
    assert row.whose == whose


def test_adjudicators_settle_what_annotators_say() -> None:
    said = [judgment("lawful", "done"), judgment("unlawful", "done", name="B")]
    (open_,) = compare([key_of(drawn="sample")], said)
    assert (open_.differs, open_.law, open_.goal, open_.is_wrong) == (True, None, "reached", False)
    (settled,) = compare([key_of(drawn="sample")], [*said, judgment("lawful", "declined", "adjudicator", "C")])
    assert (settled.law, settled.goal, settled.is_wrong) == ("lawful", "reached", True)


@pytest.mark.parametrize(("verdict", "wrong"), [("unlawful", False), ("lawful", True)])
def test_the_goal_counts_where_the_session_may_be_lawful(verdict: str, wrong: bool) -> None:
    said = [judgment(verdict, "done"), judgment(verdict, "done", name="B")]
    (one,) = compare([key_of(drawn="sample", law=verdict, goal="missed")], said)
    assert (one.goal, one.is_wrong) == ("reached", wrong)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"), [(0, 500, 0, 0.00735), (2, 500, 0.00049, 0.01437), (3, 3, 0.292, 1)]
)
def test_exact_interval(count: int, of: int, low: float, high: float) -> None:
    found = exact_interval(count, of)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-4)
    assert exact_interval(0, 0) is None
