"""Grounding: citations are checked word for word."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.agents.legal.meta_llm import Citation
from lawtrace.runs.legal.legal_files import AnswerRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.report_tables import check_citations, citation_table
from tests.support.legal.small_cases import BOOK, BOTTLES
from tests.support.legal.small_runs import run_grid
from tests.support.openai_server import serving

TEXTS = {chunk.ref: chunk.text for chunk in BOTTLES.chunks}


def citing(*citations: tuple[str, str]) -> AnswerRow:
    return AnswerRow(
        case="bottles",
        question="bottles/q1",
        model="m",
        context="F+LR",
        retriever="bm25",
        depth=2,
        passages=("F1", "LR1"),
        outcome="correct",
        choice="Yes",
        citations=tuple(Citation(passage=passage, quote=quote) for passage, quote in citations),
    )


@pytest.mark.parametrize(
    ("citations", "cites", "known", "quoted"),
    [
        ([], False, False, False),
        ([("F1", "kept customer  records on an UNLOCKED laptop.")], True, True, True),
        ([("F1", "kept the records")], True, True, False),
        ([("F1", "")], True, True, False),
        ([("F1", "customer records"), ("LR1", "security appropriate")], True, True, True),
        ([("F1", "customer records"), ("F2", "stolen from a car")], True, False, False),
        ([("Z9", "anything")], True, False, False),
        ([("F1", "ustomer record")], True, True, False),
    ],
)
def test_citations_must_exist_and_quote_correctly(
    citations: list[tuple[str, str]], cites: bool, known: bool, quoted: bool
) -> None:
    found = check_citations(citing(*citations), TEXTS)
    assert (found.cites, found.known, found.quoted) == (cites, known, quoted)


RECIPE = LegalRecipe(contexts=("F+LR",), retrievers=("bm25",), depths=(3,), models=("openai:m",))


def rests_on_facts(request: Mapping[str, Any]) -> str:
    """Answers and cites the passage on the laptop while it is shown."""
    words = request["messages"][0]["content"]
    if "unlocked laptop." not in words:
        return json.dumps({"rationale": "nothing", "answer": None})
    cited = [{"passage": "F1", "quote": "on an unlocked laptop"}]
    return json.dumps(
        {"rationale": "the laptop", "citations": cited, "answer": "A" if "Article 89" in words else "Yes"}
    )


def test_citations_of_a_run_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(rests_on_facts) as server:
        server.connect(monkeypatch)
        answers = run_grid(RECIPE, tmp_path / "run")
    (line,) = citation_table(BOOK.cases, answers).frame().to_dict("records")
    named = sum(answer.choice is not None for answer in answers)
    assert named > 0
    assert [*line.values()] == ["openai:m", "F+LR", named, 1.0, 1.0, 1.0]
