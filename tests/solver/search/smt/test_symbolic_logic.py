"""The symbolic logic: constants fold, open values give expressions, unsupported operations raise."""

import itertools
from collections.abc import Callable

import pytest
import z3

from lawtrace.environments.spec.expressions import EvaluationScope, Term
from lawtrace.environments.spec.logic import PLAIN
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import any_item, argument, choose, count_of, is_empty, total_of
from lawtrace.environments.spec.types import Record, Value
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic


def is_valid(claim: Value, *assumptions: Value) -> bool:
    solver = z3.SimpleSolver()
    solver.add(*assumptions, z3.Not(claim))
    return solver.check() == z3.unsat


@pytest.mark.parametrize(
    "truths", [list(row) for count in range(4) for row in itertools.product((True, False), repeat=count)]
)
def test_constants_fold_as_in_python(truths: list[bool]) -> None:
    logic = SymbolicLogic()
    assert logic.all(truths) is PLAIN.all(truths)
    assert logic.any(truths) is PLAIN.any(truths)
    assert [logic.negate(truth) for truth in truths] == [PLAIN.negate(truth) for truth in truths]


def test_one_constant_may_decide_a_connective() -> None:
    logic, open_ = SymbolicLogic(), z3.Bool("open")
    assert logic.all([open_, False]) is False
    assert logic.any([open_, True]) is True
    assert logic.all([open_, True]) is open_
    assert logic.any([False, open_]) is open_
    assert logic.choose(True, open_, 7) is open_
    assert logic.choose(False, open_, 7) == 7


def test_open_booleans_follow_the_connective() -> None:
    logic, one, other = SymbolicLogic(), z3.Bool("one"), z3.Bool("other")
    assert is_valid(logic.all([one, other]), one, other)
    assert not is_valid(logic.all([one, other]), one)
    assert is_valid(logic.any([one, other]), one)
    assert not is_valid(logic.any([one, other]))
    assert is_valid(logic.negate(logic.negate(one)), one)
    assert is_valid(logic.equal(logic.choose(one, 3, 4), 3), one)
    assert is_valid(logic.equal(logic.choose(one, 3, 4), 4), z3.Not(one))


def test_strings_are_compared_by_index() -> None:
    logic, solver = SymbolicLogic(["ash", "oak"]), z3.SimpleSolver()
    tree = logic.open_text("tree", solver)
    assert [logic.word(logic.index(word)) for word in ("oak", "ash", "elm", "oak")] == ["oak", "ash", "elm", "oak"]
    solver.add(z3.Not(logic.any([logic.equal(tree, "ash"), logic.equal("oak", tree)])))
    assert solver.check() == z3.unsat, "the pool at that time is all there is"
    assert logic.equal("ash", "ash") is True
    assert logic.equal(tree, None) is False
    assert logic.equal(None, None) is True


@pytest.mark.parametrize("function", [str.__contains__, str.startswith, str.__eq__])
def test_a_function_of_open_strings_is_tabulated(function: Callable[[str, str], bool]) -> None:
    words = ["", "a", "ab", "ba"]
    for left, right in itertools.product(words, repeat=2):
        logic, solver = SymbolicLogic(words), z3.SimpleSolver()
        one, other = logic.open_text("one", solver), logic.open_text("other", solver)
        solver.add(logic.equal(one, left), logic.equal(other, right))
        assert solver.check() == z3.sat
        for answer in (logic.apply(function, one, other), logic.apply(function, one, right)):
            value: Value = solver.model().eval(answer, model_completion=True) if z3.is_expr(answer) else answer
            assert bool(value) is function(left, right)


def test_a_function_may_return_a_string() -> None:
    logic, solver = SymbolicLogic(["a", "b"]), z3.SimpleSolver()
    tree = logic.open_text("tree", solver)
    path = logic.apply("{}.csv".format, tree)
    solver.add(logic.equal(tree, "b"), z3.Not(logic.equal(path, "b.csv")))
    assert solver.check() == z3.unsat
    assert logic.apply(str.upper, "a") == "A"


def test_a_value_may_be_there() -> None:
    logic, open_ = SymbolicLogic(), z3.Bool("open")
    found = logic.choose(open_, 1, None)
    assert (logic.there(found), logic.equal(found, None)) == (1, z3.Not(open_))
    same = ("a",)
    assert logic.choose(open_, same, same) is same


@pytest.mark.parametrize(
    ("left", "right"), [((), ("a", "b")), ((Record({"n": 1, "t": "a"}),), (Record({"n": 4}),)), ((1, 2), (2,))]
)
@pytest.mark.parametrize(
    "term",
    [
        is_empty(argument("items")),
        any_item(argument("items"), lambda item: item == "b"),
        any_item(argument("items"), lambda item: item == Record({"n": 4})),
        count_of(argument("items")),
        argument("items") == ("a", "b"),
        argument("items") == (Record({"n": 1, "t": "a"}),),
        choose(argument("items") == (2,), 5, 6),
    ],
    ids=str,
)
def test_terms_over_lists_that_depend_on_a_condition(left: Value, right: Value, term: Term) -> None:
    """They have the value that they have where the condition is known."""
    logic, open_ = SymbolicLogic(["a", "b"]), z3.Bool("open")
    value = term.compile(logic)(EvaluationScope(State(), {"items": logic.choose(open_, left, right)}))
    for assumed, items in ((open_, left), (z3.Not(open_), right)):
        plain = term.compile(PLAIN)(EvaluationScope(State(), {"items": items}))
        assert is_valid(_as_claim(logic.equal(value, plain)), assumed)


def _as_claim(truth: Value) -> Value:
    return truth if z3.is_expr(truth) else z3.BoolVal(truth)


def test_fields_and_sums_of_objects_that_depend_on_a_condition() -> None:
    logic, open_ = SymbolicLogic(["a", "b"]), z3.Bool("open")
    one, other = Record({"n": 3, "t": "a"}), Record({"n": 5})
    scope = EvaluationScope(
        State(), {"one": logic.choose(open_, one, other), "all": logic.choose(open_, (one, one, other), ())}
    )
    for term, if_open, if_not in (
        (argument("one")["n"], 3, 5),
        (argument("one").get("t", "b"), "a", "b"),
        (total_of(argument("all"), lambda item: item["n"]), 11, 0),
    ):
        value = term.compile(logic)(scope)
        assert is_valid(_as_claim(logic.equal(value, if_open)), open_)
        assert is_valid(_as_claim(logic.equal(value, if_not)), z3.Not(open_))
