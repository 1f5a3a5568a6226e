"""Tasks under review: pairs, the calls of the reference, and checked edits."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.web.append_log import AppendLog
from lawtrace.runs.web.review.decisions import OpinionRow
from lawtrace.runs.web.review.review_pages import ReviewPages
from lawtrace.runs.web.review.task_items import TaskReview
from lawtrace.runs.web.server import make_app
from tests.support.released import tasks_of


@pytest.fixture(scope="module")
def subject() -> TaskReview:
    tasks, domain = read_tasks(tasks_of("banking"))
    return TaskReview(tasks[:2], domain)


def test_an_accepted_pair_is_exported_with_the_accepted_words(subject: TaskReview, tmp_path: Path) -> None:
    made = ReviewPages(subject, AppendLog(tmp_path / "o.jsonl", OpinionRow), clock=lambda: "")
    browser = TestClient(make_app(made), base_url="http://127.0.0.1")
    page = browser.post("/name", data={"name": "ada"})
    goal, workflow = made.state.items[:2]
    assert "Reference trace" in page.text
    assert "hidden: the instruction must not hint at it" in page.text
    leak = {"digest": goal.digest, "decision": "edit", "text": f"{goal.words} First check the authorization."}
    assert "reveals a hidden step" in browser.post(f"/items/{goal.id}", data=leak).text
    better = {"digest": goal.digest, "decision": "edit", "text": f"Please see to this. {goal.words}"}
    browser.post(f"/items/{goal.id}", data=better)
    edited = next(item for item in made.state.items if item.edited_by)
    browser.post(f"/items/{workflow.id}", data={"digest": workflow.digest, "decision": "accept"})
    assert [item.group for item in made.state.pending_for("ada")] == [made.state.items[2].group] * 2
    assert subject.export(made.state.accepted(), tmp_path / "accepted.jsonl") == 1
    (task,), _ = read_tasks(tmp_path / "accepted.jsonl")
    assert task.instructions["goal"].text == edited.words
    assert task.instructions["workflow"].text == workflow.words
