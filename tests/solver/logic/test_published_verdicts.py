"""502 verdicts of an independent LTLf-to-DFA tool: the evaluator and the automata agree with all of them."""

import json
from pathlib import Path
from typing import TypedDict

import pytest

from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Atom
from tests.support.semantics import fact, holds, of_facts

VERDICTS = Path(__file__).parents[2] / "data" / "ltlf" / "verdicts.jsonl"


class Line(TypedDict):
    """A formula and the traces on which it holds and fails. A step lists the true atoms; ``-`` has none."""

    formula: str
    holds: list[str]
    fails: list[str]


LINES: list[Line] = [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines()]


def test_the_file_is_complete() -> None:
    assert len(LINES) == 54
    assert sum(len(line["holds"]) + len(line["fails"]) for line in LINES) == 502


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["formula"])
def test_evaluator_and_automata_agree(line: Line) -> None:
    formula = parse(line["formula"])
    automaton, one_call_a_step = compile_formula(of_facts(formula)), compile_formula(formula)
    for expected, traces in ((True, line["holds"]), (False, line["fails"])):
        for text in traces:
            trace = [frozenset(Atom(name) for name in step if name != "-") for step in text.split()]
            assert holds(formula, trace) is expected, text
            assert automaton.accepts([{fact(atom.tool) for atom in step} for step in trace]) is expected, text
            if all(len(step) <= 1 for step in trace):
                assert one_call_a_step.accepts(trace) is expected, text
