"""Rule sets over tools without state: whole results, messages, and what an audit cannot see."""

from typing import Any

import pytest

from lawtrace.environments.tool_schemas.schemas import ToolSchema, make_environment
from lawtrace.solver.lint.recorded_tools import find_blind_spots
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.rules import Rule


def tool(name: str, result: Any, **parameters: Any) -> ToolSchema:
    return ToolSchema(name, "", {"properties": parameters}, result, name)


CARDS = {"type": "object", "additionalProperties": {"type": "number"}}
ENVIRONMENT = make_environment(
    "desk",
    [
        tool("transfer", {"type": "string"}),
        tool("search", {"type": "array", "items": {"type": "object", "properties": {"day": {"type": "string"}}}}),
        tool("get-user", {"type": "object", "properties": {"cards": CARDS, "age": {"type": "number"}}}),
        tool("pay", None, how={}, amount={"type": "number"}),
    ],
)


def analyse(**formulas: str) -> list[tuple[str, tuple[str, ...]]]:
    rules = [Rule(id=name, formula=formula) for name, formula in formulas.items()]
    return [(one.kind, one.rules or one.reasons) for one in analyse_rules(ENVIRONMENT, rules).findings]


def test_a_whole_result_takes_part_in_conflicts_over_time() -> None:
    assert analyse(first='G(pay -> O[<= 1h] transfer(result == "Done"))', never='G !transfer(result == "Done")') == [
        ("conflict", ("never", "first"))
    ]
    found = analyse(first='G(pay -> O[<= 1h] search(any f in result: f.day == "a"))', many="G !search(len(result) > 1)")
    assert all(kind == "undecided" for kind, _ in found)


def test_fields_of_an_object_take_part() -> None:
    assert analyse(
        first="G(pay -> O[<= 1h] `get-user`(result.age >= 17.5))", never="G !`get-user`(result.age > 17)"
    ) == [("conflict", ("never", "first"))]
    key = '`get-user`("a" in result.cards)'
    assert analyse(first=f"G(pay -> O[<= 1h] {key})") == []
    assert analyse(first=f"G(pay -> O[<= 1h] {key})", never=f"G !{key}") == [("conflict", ("never", "first"))]


def test_messages_are_possible_calls() -> None:
    assert analyse(asked='G(pay -> O user("yes"))') == []


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ('G !book(kind == "Card")', '`kind == "Card"`: "Card" is no value of `kind`: did you mean `card`?'),
        ('G !book(kind in ["card", "bank"])', '"bank" is no value of `kind`: there is `card`, `cash`'),
        ('G !book("late" in tags)', '"late" is no value of `tags`: there is `new`, `old`'),
        ('G !book(any t in tags: t != "late")', '"late" is no value of `t`'),
        ('forall k: G(book(kind == k) -> k == "gift")', '"gift" is no value of `k`'),
        ('G !book(result.state == "OK")', '"OK" is no value of `result.state`'),
        ('G !book(kind == "card", "new" in tags, result.state != "no", note == "x")', None),
    ],
)
def test_texts_that_a_schema_does_not_list_are_findings(formula: str, said: str | None) -> None:
    kind, tags, state = ({"enum": [*options]} for options in (("card", "cash"), ("new", "old"), ("ok", "no")))
    result = {"type": "object", "properties": {"state": state}}
    book = tool("book", result, kind=kind, tags={"type": "array", "items": tags}, note={"type": "string"})
    found = analyse_rules(make_environment("desk", [book]), [Rule(id="one", formula=formula)]).findings
    messages = [finding.message for finding in found if finding.kind == "undeclared"]
    assert len(messages) == (said is not None)
    assert said is None or said in messages[0]


def test_the_blind_spots_name_what_is_read_and_open() -> None:
    formulas = {
        "declared": 'G !`get-user`("a" in result.cards, result.age > 3)',
        "key": "G !`get-user`(result.cards.a > 3)",
        "open": "G !pay(how.fast, result.ok)",
        "timed": "G(pay -> F[<= 1h] transfer)",
    }
    spots = find_blind_spots(ENVIRONMENT, [Rule(id=name, formula=text) for name, text in formulas.items()])
    assert spots[0].startswith(
        "rules read what the schemas leave open: key (result.cards.a of get-user), "
        "open (how.fast of pay, result.ok of pay). "
    )
    assert spots[1:5] == (
        "the results of 1 of 4 tools are not declared: pay. Give them an outputSchema in tools.json",
        "parameters are free-form, in whole or in part: pay.how",
        "no rule is about 1 of 4 tools: search",
        "rules need the time of each event, and are undetermined without it: timed",
    )
