"""The balanced evaluation: asked beside the plain one, its lean gone, nothing asked twice."""

import asyncio
from pathlib import Path

import pytest

from lawtrace.environments.legal.case import Case, Choice
from lawtrace.environments.legal.dataset import LegalDataset, load_dataset
from lawtrace.runs.legal.balanced_scores import even_weights
from lawtrace.runs.legal.legal_files import AnswerRow, LegalFolder, RestatedRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_report import content_of_legal_run, render_legal_report
from lawtrace.runs.legal.legal_runner import LegalResult, run_legal
from lawtrace.runs.recipe import ConversationOptions
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows
from tests.support.legal.small_cases import BOOK, BOTTLES, asked
from tests.support.openai_server import Status, serving

SHARED = Path(__file__).parents[4] / "shared" / "data" / "maslegal"
RECIPE = LegalRecipe(contexts=("F+LR",), retrievers=("bm25",), depths=(2,), balanced=True, seed=4)

WRITTEN: tuple[tuple[str, Choice], ...] = (
    ("comply with Article 33", "No"),
    ("fail to notify in May", "Yes"),
    ("transmit records", "No"),
)
MORE = BOTTLES.model_copy(
    update={
        "questions": (
            *BOTTLES.questions,
            *(
                asked(f"bottles/more{n}", f"Did Bottle Works {what}?", {"Yes": "Yes", "No": "No"}, answer)
                for n, (what, answer) in enumerate(WRITTEN)
            ),
        )
    }
)


def run(folder: Path, recipe: LegalRecipe = RECIPE, *, resumed: bool = False) -> LegalResult:
    opening = (
        EventLogFile.resume(folder) if resumed else EventLogFile.create(folder, recipe=recipe.model_dump(mode="json"))
    )
    book = None if resumed else LegalDataset((MORE, *BOOK.cases[1:]))
    with opening as event_log:
        return asyncio.run(run_legal(recipe, LegalFolder(folder), event_log=event_log, book=book))


def calls(folder: Path) -> int:
    with EventLogFile.open(folder) as event_log:
        return sum(1 for _ in event_log.entries(kind="model_call"))


def test_half_of_each_answer_is_restated_and_only_what_changed_is_asked_again(tmp_path: Path) -> None:
    result = run(tmp_path / "run")
    balanced = result.folder.balanced
    rows = read_rows(balanced.restated, RestatedRow)
    plain = {q.id: q for case in result.cases for q in case.questions}
    turned = {q.id: q for case in read_rows(balanced.cases, Case) for q in case.questions}
    drawn = [row.question for row in rows if row.asked]
    assert sorted(plain[name].answer for name in drawn) == ["No", "Yes"]
    assert all(turned[name].answer != plain[name].answer for name in drawn)
    assert all(turned[name].restated_from == plain[name].text for name in drawn)
    assert {row.question: row.refused for row in rows if row.restated is None} == {
        "bottles/q3": "the restater declined"
    }
    changed = {name for name in plain if turned[name] != plain[name]}
    assert changed == {*drawn, "bottles/q2"}
    again = read_rows(balanced.answers, AnswerRow)
    before = {row.question: row for row in result.answers}
    assert [row for row in again if row.question not in changed] == [
        before[row.question] for row in again if row.question not in changed
    ]
    assert calls(result.folder.path) == len(plain) + len(rows) + len(changed)


def test_a_balanced_run_goes_on_without_asking_and_gives_the_same_bytes(tmp_path: Path) -> None:
    first = run(tmp_path / "run").folder
    kept = {path: path.read_bytes() for path in first.path.rglob("*.jsonl")}
    asked_before = calls(first.path)
    run(first.path, resumed=True)
    assert calls(first.path) == asked_before
    assert {path: path.read_bytes() for path in first.path.rglob("*.jsonl")} == kept
    assert {path.parent.name for path in kept} == {"run", "balanced"}


@pytest.mark.slow
def test_the_report_sets_both_side_by_side(tmp_path: Path) -> None:
    result = run(tmp_path / "run")
    content = content_of_legal_run(result.folder.path)
    assert content.balanced is not None
    by_name = {line.name: line for line in content.balanced.baselines}
    assert by_name["Yes, No where restated, longest option"].whole.plain is None
    (line,) = content.balanced.lines
    assert (line.model, line.context) == ("offline", "F+LR")
    page = render_legal_report(content)
    assert "Yes, No where restated" in page
    assert "1 × the restater declined" in page
    unbalanced = run(tmp_path / "plain", RECIPE.model_copy(update={"balanced": False}))
    assert "balanced = true" in render_legal_report(content_of_legal_run(unbalanced.folder.path))


def test_even_weights_give_every_form_and_answer_the_same() -> None:
    weights = even_weights(MORE.questions)
    assert sum(weights.values()) == pytest.approx(len(MORE.questions))
    for answer in ("Yes", "No"):
        assert sum(weights[q.id] for q in MORE.questions if q.answer == answer) == pytest.approx(5 / 2)


@pytest.mark.slow
@pytest.mark.shared
def test_on_the_published_cases_always_yes_falls_to_one_half(tmp_path: Path) -> None:
    if not SHARED.exists():
        pytest.skip("needs the published dataset in ../shared/data/maslegal")
    recipe = RECIPE.model_copy(update={"depths": (1,), "contexts": ("LR",)})
    folder = LegalFolder(tmp_path / "run")
    with EventLogFile.create(folder.path, recipe=recipe.model_dump(mode="json")) as event_log:
        asyncio.run(run_legal(recipe, folder, event_log=event_log, book=load_dataset(SHARED)))
    content = content_of_legal_run(folder.path)
    assert content.balanced is not None
    assert [(line.questions, line.restatable, line.asked) for line in content.balanced.restating] == [
        (212, 202, 106),
        (78, 70, 39),
    ]
    always = next(line for line in content.balanced.baselines if line.name == "always Yes, longest option")
    assert round(100 * (always.yes_no.plain or 0), 2) == 73.10
    assert (always.yes_no.balanced, always.yes_no.even) == pytest.approx((0.5, 0.5))
    by_form = next(line for line in content.balanced.baselines if line.name.startswith("Yes, No where restated"))
    assert round(100 * (by_form.yes_no.balanced or 0), 2) == 73.10
    assert by_form.yes_no.even == pytest.approx(0.5)


@pytest.mark.slow
def test_balanced_questions_without_an_answer_are_counted_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda request: '{"answer": "Yes"}') as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        server.then(*[None] * 7, Status(400))
        one_by_one = ConversationOptions(concurrency=1)
        recipe = RECIPE.model_copy(update={"models": ("openai:some",), "conversation": one_by_one})
        result = run(tmp_path / "run", recipe)
    content = content_of_legal_run(result.folder.path)
    assert content.balanced is not None
    assert content.balanced.invalid == 1
    page = render_legal_report(content)
    assert "1 balanced questions got no answer through no fault of a model; they count as not correct." in page
