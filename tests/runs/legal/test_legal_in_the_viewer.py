"""Legal runs in the viewer, `compare` and `messages`: lists of answers, filters, links to the messages."""

import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lawtrace.runs.legal.cli.legal_run import LEGAL_RUNS
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.report.run_comparison import compare_folders
from lawtrace.runs.report.run_kinds import GradedUnit
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.web.server import make_app, make_viewer
from lawtrace.schemas.errors import InputError
from tests.support.legal.small_runs import run_grid
from tests.support.shell import Shell

FIRST = LegalRecipe(name="first", contexts=("F+LR", "CS"), retrievers=("bm25",), depths=(1,))
SECOND = FIRST.model_copy(update={"name": "second", "contexts": ("F+LR",), "pipeline": "decomposed"})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    run_grid(FIRST, folder / "first")
    run_grid(SECOND, folder / "second")
    return folder


@pytest.fixture(scope="module")
def browse(runs: Path) -> TestClient:
    return TestClient(make_app(make_viewer(runs)), base_url="http://127.0.0.1:8718")


def answers(page: str) -> list[tuple[str, str]]:
    """The target of the chip and the question of each row."""
    return re.findall(
        r'<tr><td><a class="entry chip \w+" href="([^"]+)">.*?</td><td class="id"><a[^>]+>([^<]+)</a></td>', page
    )


def test_the_answers_of_a_run_are_listed_and_lead_to_their_messages(runs: Path, browse: TestClient) -> None:
    units = LEGAL_RUNS.graded_units(runs / "first")
    page = browse.get("/runs/first/attempts").text
    assert [question for _, question in answers(page)] == [unit.task for unit in units]
    assert {unit.outcome for unit in units} >= {"correct", "refused"}
    asked = browse.get("/runs/first/attempts?outcome=correct&unit=F%2BLR+BM25%401&model=offline").text
    right = [unit.task for unit in units if unit.outcome == "correct" and unit.unit == "F+LR BM25@1"]
    assert [question for _, question in answers(asked)] == right
    target, question = answers(asked)[0]
    conversation = browse.get(unescape(target)).text
    assert question in conversation
    assert "chip correct" in conversation
    assert "The passages contain" in conversation


def test_every_page_of_a_legal_run_has_working_links(browse: TestClient) -> None:
    waiting, seen = ["/runs/first/", "/runs/first/conversations", "/compare?run=first&run=second"], set[str]()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        answer = browse.get(address)
        assert answer.status_code == 200, address
        seen.add(address)
        found = [unescape(link).split("#")[0] for link in re.findall(r'href="([^"]+)"', answer.text)]
        waiting += [link for link in found if link.startswith(("/runs/first/", "/compare"))]
    assert "/runs/first/attempts" in seen
    assert not any("/tasks" in address for address in seen)
    assert browse.get("/runs/first/attempts?outcome=excellent").status_code == 404
    assert ".correct { background-color" in browse.get("/static/site.css").text


def test_two_runs_are_compared_by_question(runs: Path, browse: TestClient, lawtrace: Shell) -> None:
    found = compare_folders(runs / "first", runs / "second")
    lines = [(line.style, line.safe_success.pairs, line.unmatched) for line in found.lines]
    assert lines == [(None, 4, 4), ("F+LR BM25@1", 4, 0)]
    assert found.success == "correct"
    changed = {flip.task: flip.outcomes for flip in found.flips}
    assert all(before != after for before, after in changed.values())
    page = browse.get("/compare?run=first&run=second").text
    assert "paired by question and configuration" in page
    assert all(task in page for task in changed)
    assert "t over cases" in page
    assert "bootstrap" not in page
    printed = lawtrace.json("compare", runs / "first", runs / "second")
    assert printed["lines"][0]["safe_success"]["pairs"] == 4
    code, out, _ = lawtrace("compare", runs / "first", runs / "second")
    assert (code, "configuration" in out) == (0, True)
    with EventLogFile.create(runs / "other", recipe={"schema_version": "lawtrace.recipe/1"}):
        pass
    with pytest.raises(InputError, match="different kinds"):
        compare_folders(runs / "first", runs / "other")


def test_p_values_and_intervals_of_a_comparison_agree() -> None:
    cases = [(f"{case}", f"{case}/{question}", question) for case in range(3) for question in range(20)]
    for won in range(0, 20, 2):
        pairs = [(_unit(case, task, "wrong" if n < won else "correct"), _unit(case, task)) for case, task, n in cases]
        found = LEGAL_RUNS.compare(pairs)
        assert found.interval is not None
        assert (found.p_value < 0.05) == (not found.interval.low <= 0 <= found.interval.high)
        assert found.difference == pytest.approx(won / 20)


def _unit(case: str, task: str, outcome: str = "correct") -> GradedUnit:
    return GradedUnit(task, "F", case, "openai:a", outcome, "", "")


def test_messages_are_found_by_outcome(runs: Path, lawtrace: Shell) -> None:
    units = LEGAL_RUNS.graded_units(runs / "first")
    _, out, _ = lawtrace("messages", runs / "first", "--verdict", "correct")
    assert out.count("✓ correct") == sum(unit.outcome == "correct" for unit in units)
    code, _, err = lawtrace("messages", runs / "first", "--verdict", "safe_success")
    assert (code, "correct, wrong, refused, error, invalid" in " ".join(err.split())) == (2, True)
    code, _, err = lawtrace("messages", runs / "first", "--rule", "x")
    assert (code, "has no rules" in err) == (2, True)
