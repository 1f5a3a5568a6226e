"""Verdicts that five independent implementations agree on (`data/ltlf/vectors.jsonl`, beside the checkout)."""

import json
from pathlib import Path
from typing import TypedDict

import pytest

from lawtrace.solver.ltlf import Atom, compile_formula, holds, parse

VECTORS = Path(__file__).parents[4] / "shared" / "data" / "ltlf" / "vectors.jsonl"


class Vector(TypedDict):
    formula: str
    trace: list[list[str]]
    holds: bool


@pytest.mark.shared
def test_evaluator_and_automaton_agree_with_the_published_verdicts() -> None:
    if not VECTORS.exists():
        pytest.skip(f"no published vectors at {VECTORS}")
    vectors: list[Vector] = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]
    assert len(vectors) == 502
    for vector in vectors:
        formula = parse(vector["formula"])
        trace = [frozenset(map(Atom, step)) for step in vector["trace"]]
        assert holds(formula, trace) is vector["holds"], vector
        assert compile_formula(formula, "free").accepts(trace) is vector["holds"], vector
        if all(len(step) <= 1 for step in trace):
            assert compile_formula(formula).accepts(trace) is vector["holds"], vector
