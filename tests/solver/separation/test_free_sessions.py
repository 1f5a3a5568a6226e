"""Separation of rules about tools that have schemas and no declaration of what they do."""

import pytest

from lawtrace.environments.tool_schemas.schemas import ToolSchema, make_environment
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Proof, Unknown
from lawtrace.solver.separation.separation import Separator


def tool(name: str, **parameters: dict[str, str]) -> ToolSchema:
    return ToolSchema(name, "", {"properties": parameters}, None, name)


PARCELS = make_environment(
    "parcels", [tool("check", person={}), tool("release", parcel={}, person={}), tool("inform", parcel={})]
)
INFORM = "forall p: G(release(parcel == p) -> F[<= {}] inform(parcel == p))"


def rule(formula: str) -> Rule:
    return Rule(id="r", formula=formula)


@pytest.mark.parametrize(
    ("first", "second", "calls"),
    [
        ("forall p: G(release(person == p) -> O check(person == p))", "G(release -> O check)", ["release"]),
        (INFORM.format("2d"), INFORM.format("3d"), ["release", "inform"]),
        (INFORM.format("2d"), INFORM.replace("F[<= {}]", "F[< 2d]"), ["release", "inform"]),
        ('G(release -> O user("yes"))', 'G(release -> Y user("yes"))', ["user", "release", "release"]),
        ("G(release -> O check(result.age >= 18))", "G(release -> O check(result.age > 18))", ["check", "release"]),
    ],
)
def test_a_shortest_session_separates(first: str, second: str, calls: list[str]) -> None:
    answer = Separator(PARCELS, ()).separate([rule(first)], [rule(second)])
    assert isinstance(answer, Found)
    trace = answer.trace
    assert [event.tool for event in trace.events] == calls
    assert {trace.first, trace.second} == {"broken", "kept"}
    for formula, outcome in ((first, trace.first), (second, trace.second)):
        assert Monitor({"r": rule(formula).compiled}).run(trace.events).status("r", trace.end).ending == outcome
    assert answer == Separator(PARCELS, ()).separate([rule(first)], [rule(second)])


def test_equal_rules_are_proved_and_a_context_is_kept() -> None:
    assert isinstance(Separator(PARCELS, ()).separate([rule(INFORM.format("2d"))], [rule(INFORM.format("48h"))]), Proof)
    never = Rule(id="never", formula="G !release")
    assert isinstance(
        Separator(PARCELS, [never]).separate([rule("G(release -> O check)")], [rule("G(release -> O inform)")]), Proof
    )


def test_a_session_keeps_many_other_rules() -> None:
    """Drawn sessions alone meet five duties too seldom."""
    names = ("call", "write", "log", "pay", "file")
    opened = tool("open", case={}), *(tool(name, case={}, by={}) for name in names)
    duties = {n: f'forall c: G(open(case == c) -> F[<= 1d] {n}(case == c, by == "post"))' for n in names}
    rules = [Rule(id=name, formula=formula) for name, formula in duties.items()]
    later = Rule(id="late", formula=duties["file"].replace("1d", "2d"))
    answer = Separator(make_environment("cases", opened), ()).separate(rules, [*rules[:-1], later])
    assert isinstance(answer, Found)
    assert [event.tool for event in answer.trace.events].count("open") == 1
    assert {event.tool for event in answer.trace.events} == {"open", *names}


def test_what_is_not_found_is_unknown() -> None:
    computed = rule("G(release -> O check(number(result.code) * number(result.code) == 1522756))")
    assert isinstance(Separator(PARCELS, ()).separate([computed], [rule("G !release")]), Unknown)
