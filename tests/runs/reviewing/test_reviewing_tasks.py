"""Tasks under review: both styles of a pair beside the calls of its reference; edits are checked by code."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lawtrace.runs.reviewing.opinions import OpinionRow
from lawtrace.runs.reviewing.pages import Pages
from lawtrace.runs.reviewing.protocol import Protocol
from lawtrace.runs.reviewing.server import make_app
from lawtrace.runs.reviewing.signed import SignedBook
from lawtrace.runs.reviewing.tasks import TasksUnderReview
from lawtrace.runs.tasks import read_tasks

RELEASE = Path(__file__).parents[2] / "data" / "release-0.1.0"


@pytest.fixture(scope="module")
def subject() -> TasksUnderReview:
    tasks, setting = read_tasks(RELEASE / "banking.jsonl")
    return TasksUnderReview(tasks[:2], setting)


def test_a_pair_is_labelled_and_exported_with_the_accepted_words(subject: TasksUnderReview, tmp_path: Path) -> None:
    made = Pages(subject, Protocol(quota=1), SignedBook(tmp_path / "o.jsonl", OpinionRow), clock=lambda: "")
    browser = TestClient(make_app(made), base_url="http://127.0.0.1")
    page = browser.post("/name", data={"name": "ada"})
    goal, workflow = made.ballot.items[:2]
    assert "What the reference does" in page.text
    assert "hidden: the instruction must not hint at it" in page.text
    leak = {"digest": goal.digest, "decision": "edit", "text": f"{goal.words} First check the authorization."}
    assert "gives a hidden step away" in browser.post(f"/items/{goal.id}", data=leak).text
    better = {"digest": goal.digest, "decision": "edit", "text": f"Please see to this. {goal.words}"}
    browser.post(f"/items/{goal.id}", data=better)
    edited = next(item for item in made.ballot.items if item.edited_by)
    for item in (edited, workflow):
        browser.post(f"/items/{item.id}", data={"digest": item.digest, "decision": "accept"})
    assert made.ballot.waiting_for("ada") == []
    assert subject.export(made.ballot.accepted(), tmp_path / "accepted.jsonl") == 1
    (task,), _ = read_tasks(tmp_path / "accepted.jsonl")
    assert task.instructions["goal"].text == edited.words
    assert task.instructions["workflow"].text == workflow.words
