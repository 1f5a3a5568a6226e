"""Legal runs end to end: offline, against an endpoint, interrupted and resumed."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.legal.dataset import LegalDataset
from lawtrace.runs.legal.cli.legal_run import LEGAL_RUNS
from lawtrace.runs.legal.legal_files import AnswerRow, GridCell
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_report import load_legal_content
from lawtrace.runs.legal.legal_stages import load_cases_with_questions
from lawtrace.runs.recipe_file import read_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import conversation_numbers
from lawtrace.schemas.call_options import ConversationOptions
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.log_entries import ModelCalled
from lawtrace.schemas.model_spec import Parameters
from tests.support.legal.small_cases import BOTTLES
from tests.support.legal.small_runs import resume_grid, run_grid
from tests.support.openai_server import OpenAIServer, Status, serving

SMALL = LegalRecipe(retrievers=("bm25", "released_bm25"), depths=(1, 2))
ONE = LegalRecipe(contexts=("F+LR",), retrievers=("bm25",), depths=(2,), models=("openai:some-model",))


OUTCOMES = {"wrong": 1, "correct": 1, "refused": 1, "error": 1}
"""Of the four answers of `answer_by_rule`."""


def against(
    server: OpenAIServer, folder: Path, monkeypatch: pytest.MonkeyPatch, recipe: LegalRecipe = ONE
) -> list[AnswerRow]:
    server.connect(monkeypatch)
    return run_grid(recipe, folder)


def test_the_grid_is_complete_and_every_question_counts_in_every_cell(tmp_path: Path) -> None:
    answers = run_grid(SMALL, tmp_path / "run")
    lines = {line.cell: line for line in load_legal_content(tmp_path / "run").lines}
    assert len(lines) == 8 * 2 * 2
    assert {line.accuracy.of for line in lines.values()} == {4}
    assert GridCell("offline", "F+LR+AR+CS", "released_bm25", 2) in lines
    assert lines[GridCell("offline", "F+LR", "bm25", 2)].counts["correct"] >= 2
    empty = [row for row in answers if row.case == "letters" and row.context == "CS"]
    assert [row.passages for row in empty] == [()] * 4
    assert {row.outcome for row in empty} == {"refused"}


def test_depths_share_a_ranking_and_can_be_per_agent(tmp_path: Path) -> None:
    recipe = LegalRecipe(contexts=("F+LR",), retrievers=("bm25",), depths=(1, 2), share="per_agent")
    rows = run_grid(recipe, tmp_path / "run")
    by_depth = {row.depth: row.passages for row in rows if row.question == "bottles/q1"}
    assert {passage[:1] for passage in by_depth[1]} == {"F", "L"}
    assert len(by_depth[1]) == 2
    assert len(by_depth[2]) == 4
    assert set(by_depth[1]) < set(by_depth[2])


def test_a_prompt_is_sent_once_and_its_answer_counts_in_every_cell_that_has_it(tmp_path: Path) -> None:
    """Questions without a passage have one prompt in all 48 cells."""
    bare = LegalDataset((BOTTLES.model_copy(update={"chunks": ()}),))
    answers = run_grid(LegalRecipe(retrievers=("bm25",), depths=(1, 3, 5), trials=2), tmp_path / "bare", bare)
    assert len(answers) == 8 * 3 * 2 * len(BOTTLES.questions)
    with EventLogFile.open(tmp_path / "bare") as event_log:
        assert sum(1 for _ in event_log.entries(kind="model_call")) == 2 * len(BOTTLES.questions)
    answers = run_grid(SMALL, tmp_path / "run")
    with EventLogFile.open(tmp_path / "run") as event_log:
        calls = [call for call in event_log.entries(kind="model_call") if isinstance(call, ModelCalled)]
        known = {call.context.conversation_id: call.answer for call in calls}
    assert len({(call.context.task, call.request) for call in calls}) == len(calls) < len(answers)
    units = LEGAL_RUNS.graded_units(tmp_path / "run")
    assert all(row.rationale in known[unit.conversation] for row, unit in zip(answers, units, strict=True))


def answer_by_rule(request: Mapping[str, Any]) -> str:
    """A model with a different flaw for each question."""
    system = request["messages"][0]["content"]
    if "zebra" in system:
        return "I am sorry, but the passages do not mention any animal."
    if "Letter House" in system:
        return "Perhaps."
    answer = "A. Article 33" if "ninety days" in system else ["No"]
    return "<think>{hm}</think>" + json.dumps({"rationale": "because", "citations": [], "answer": answer})


def test_one_configuration_against_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answer_by_rule) as server:
        answers = against(server, tmp_path / "run", monkeypatch)
        asked = server.requests
    assert {row.question: row.outcome for row in answers} == {
        "bottles/q1": "wrong",
        "bottles/q2": "correct",
        "bottles/q3": "refused",
        "letters/q1": "error",
    }
    (line,) = load_legal_content(tmp_path / "run").lines
    assert (line.accuracy.of, line.accuracy.value, line.refusals.value) == (4, 0.25, 0.25)
    assert len(asked) == 5  # *Perhaps* is rejected once; a refusal in plain words is not asked again
    words = next(text for request in asked if "laptop?" in (text := request["messages"][0]["content"]))
    assert '"ref": "F1"' in words
    assert "null" in words
    assert "legal_alignment" not in words


def test_a_truncated_answer_is_asked_for_again_whatever_its_rationale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = '{"rationale": "The passages do not mention a date, and the measures were insufficient, since'
    with serving(lambda request: cut) as server:
        answers = against(server, tmp_path / "run", monkeypatch)
        assert len(server.requests) == 2 * 4
    assert {row.outcome for row in answers} == {"error"}


def test_a_failing_endpoint_makes_a_question_invalid_and_it_is_still_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(answer_by_rule) as server:
        server.then(Status(400), Status(400), Status(400), Status(400))
        answers = against(server, tmp_path / "run", monkeypatch)
        assert {row.outcome for row in answers} == {"invalid"}
        assert all(row.reason.startswith("endpoint: ") for row in answers)
        assert len(answers) == 4
        again = resume_grid(ONE, tmp_path / "run")
    assert Counter(row.outcome for row in again) == OUTCOMES


def test_a_resumed_run_repeats_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = 0

    def record_some(self: EventLogFile, entry: Any) -> None:
        nonlocal kept
        if isinstance(entry, ModelCalled):
            kept += 1
            if kept > 2:
                raise OperationalError("the disk is full")
        original(self, entry)

    original = EventLogFile.record
    one_by_one = ONE.model_copy(update={"conversation": ConversationOptions(concurrency=1)})
    with serving(answer_by_rule) as server:
        monkeypatch.setattr(EventLogFile, "record", record_some)
        with pytest.raises(OperationalError, match="disk is full"):
            against(server, tmp_path / "run", monkeypatch, one_by_one)
        monkeypatch.setattr(EventLogFile, "record", original)
        asked = len(server.requests)
        answers = resume_grid(one_by_one, tmp_path / "run")
        assert len(server.requests) - asked == (4 + 1) - 2  # all calls, with the one repeated, except the two kept
    assert Counter(row.outcome for row in answers) == OUTCOMES


def test_another_run_is_reused_as_far_as_its_inputs_are_the_same(tmp_path: Path) -> None:
    recipe = SMALL.model_copy(update={"contexts": ("F",)})
    first = run_grid(recipe, tmp_path / "first")
    again = run_grid(recipe.model_copy(update={"name": "again"}), tmp_path / "again", reuse=tmp_path / "first")
    assert again == first
    with EventLogFile.open(tmp_path / "again") as event_log:
        assert not list(event_log.entries(kind="model_call"))
    changed = recipe.model_copy(update={"may_refuse": False})
    run_grid(changed, tmp_path / "changed", reuse=tmp_path / "first")
    with EventLogFile.open(tmp_path / "changed") as event_log:
        assert len(list(event_log.entries(kind="model_call"))) == sum(not row.asked_in for row in first)


EMBEDDED = LegalRecipe(contexts=("F", "F+LR"), retrievers=("embedding",), depths=(1,), embedding="openai:embedder")


def asked_for_vectors(server: OpenAIServer) -> int:
    return sum("input" in request for request in server.requests)


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["once", "decomposed"])
def test_vectors_of_an_endpoint_are_recorded_and_not_requested_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipeline: str
) -> None:
    recipe = LegalRecipe.model_validate({**EMBEDDED.model_dump(), "pipeline": pipeline})
    with serving(answer_by_rule) as server:
        first = against(server, tmp_path / "first", monkeypatch, recipe)
        asked = asked_for_vectors(server)
        texts = [text for request in server.requests for text in request.get("input", ())]
        assert len(texts) == len(set(texts)) > 0
        kept = {path.name: path.read_bytes() for path in (tmp_path / "first").glob("*.jsonl")}
        resume_grid(recipe, tmp_path / "first")
        assert {path.name: path.read_bytes() for path in (tmp_path / "first").glob("*.jsonl")} == kept
        assert asked_for_vectors(server) == asked
        replayed = recipe.model_copy(update={"embedding": f"replay:{tmp_path / 'first'}"})
        again = run_grid(replayed, tmp_path / "again")
        assert asked_for_vectors(server) == asked
    assert again == first
    with EventLogFile.open(tmp_path / "again") as event_log:
        assert all(call.replayed for call in event_log.answered() if call.context.role == "embedder")


def test_a_finished_run_replays_to_the_same_bytes(tmp_path: Path) -> None:
    recipe = SMALL.model_copy(update={"contexts": ("F",)})
    first = run_grid(recipe, tmp_path / "first")
    again = run_grid(recipe.model_copy(update={"models": (f"replay:{tmp_path / 'first'}",)}), tmp_path / "again")
    said = [row.model_copy(update={"model": ""}) for row in first]
    assert [row.model_copy(update={"model": ""}) for row in again] == said


def test_a_dataset_without_questions_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(BOTTLES.model_copy(update={"questions": ()}).model_dump_json(), encoding="utf-8")
    with pytest.raises(InputError, match="no case has a question"):
        load_cases_with_questions(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("contexts = ['F+X']", "contexts.0"),
        ("retrievers = ['google']", "retrievers.0"),
        ("depths = [3, 1]", "depths must be in ascending order"),
        ("depths = [0]", "depths.0"),
        ("models = ['baseline:noop']", "cannot play a role"),
        ("embedding = 'offline'", "has no embeddings"),
        ("modles = ['offline']", r"unknown key 'modles'; did you mean 'models'\?"),
        ("[conversation]\nconcurency = 1", r"did you mean 'concurrency'\?"),
    ],
)
def test_errors_in_a_recipe(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "legal.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        read_recipe(path, LegalRecipe)


def test_the_decomposed_pipeline_keeps_its_parts(tmp_path: Path) -> None:
    recipe = LegalRecipe(contexts=("F+LR", "CS"), retrievers=("bm25",), depths=(1,), pipeline="decomposed")
    first, second = run_grid(recipe, tmp_path / "first"), run_grid(recipe, tmp_path / "second")
    assert first == second
    row = next(row for row in first if row.question == "bottles/q1" and row.context == "F+LR")
    assert [step.agent for step in row.steps] == ["F", "LR"]
    assert row.passages == tuple(ref for step in row.steps for ref in step.passages)
    assert all(len(step.passages) == 1 for step in row.steps)
    assert row.outcome == "correct"


def test_each_trial_is_a_call_and_an_answer_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = ONE.model_copy(update={"trials": 3, "parameters": Parameters(temperature=0.7, seed=5)})
    with serving(answer_by_rule) as server:
        rows = against(server, tmp_path / "run", monkeypatch, recipe)
        requests = server.requests
    assert [row.trial for row in rows] == [0, 1, 2] * 4
    assert len(requests) >= 12
    assert {(request["temperature"], request["seed"]) for request in requests} == {(0.7, 5)}
    units = LEGAL_RUNS.graded_units(tmp_path / "run")
    assert len({unit.conversation for unit in units}) == len({(unit.task, unit.unit) for unit in units}) == 12
    with EventLogFile.open(tmp_path / "run") as event_log:
        ids = {unit.conversation for unit in units}
        assert len(conversation_numbers(event_log, ids)) == 12  # each answer leads to its messages
