"""Named notions of a rule set: their place in formulas, their variants under readings, and what is wrong with some."""

from pathlib import Path

import pytest

from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.schemas.errors import FormulaError, InputError
from lawtrace.schemas.events import Event
from lawtrace.solver.logic.parser import define, parse
from lawtrace.solver.rules import Definition, Rule, load_rules, read_rule_file

DISCLOSURE = define("disclosure", ("q",), "Release(id == q) | GiveAccess(id == q)")
FILE = """
[[questions]]
id = "who"
provisions = ["Article 1"]
asks = "Who counts as informed?"
[[questions.readings]]
id = "told"
means = "who was told"
[[questions.readings]]
id = "wrote"
means = "who was written to"

[[definitions]]
name = "informed"
parameters = ["p"]
formula = "Tell(person == p)"
under = { who = ["told"] }

[[definitions]]
name = "informed"
parameters = ["p"]
formula = "Write(person == p)"
under = { who = ["wrote"] }

[[definitions]]
name = "served"
parameters = ["p"]
formula = "Act(person == p) & O informed(p)"

[[rules]]
id = "tell-first"
formula = "forall p: G(Act(person == p) -> served(p))"
[[rules.examples]]
under = { who = ["told"] }
kept = '''
Tell(person="A")
Act(person="A")
'''

[[rules]]
id = "once"
formula = "G(Act -> !Y O Act)"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rules.toml"


def test_a_name_stands_for_its_formula() -> None:
    opened = define("opened", ("q",), "Open(id == q) & O disclosure(q)", (DISCLOSURE,))
    written = "forall x: G(Open(id == x) -> Release(id == x) | GiveAccess(id == x))"
    assert parse("forall x: G(Open(id == x) -> disclosure(x))", (DISCLOSURE,)) == parse(written)
    nested = "forall x: G(A(b == x) -> O(Open(id == x) & O(Release(id == x) | GiveAccess(id == x))))"
    assert parse("forall x: G(A(b == x) -> O opened(x))", (DISCLOSURE, opened)) == parse(nested)


def test_a_definition_of_one_call_stands_wherever_a_call_does() -> None:
    read = define("read", ("q",), "Read(id == q)")
    written = "forall x: G(A(b == x) -> attempted(Read(id == x)) & count(Read(id == x) [<= 3d]) > 1)"
    assert parse("forall x: G(A(b == x) -> attempted(read(x)) & count(read(x) [<= 3d]) > 1)", (read,)) == parse(written)


def test_evidence_calls_what_is_missing_by_its_name() -> None:
    told = Definition(name="informed", parameters=("p",), formula="Tell(person == p) | Write(person == p)")
    rule = Rule(
        id="r", formula="forall p: G(Act(person == p) -> O informed(p) | F Undo(person == p))", definitions=(told,)
    )
    (verdict,) = judge_rules([rule], [Event("Act", {"person": "A"})], (), explained=True)
    assert verdict.explanation.endswith('no informed("A") before it; no Undo(person == "A") after it')


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("forall x: G(disclosure(x, x) -> O A(b == x))", r"column 13: `disclosure` is defined as `disclosure\(q\)`"),
        ("forall x: G(disclosure -> O A(b == x))", "column 13"),
        ('G disclosure("x")', "column 3"),
        ("forall x: G(A(b == x) -> attempted(disclosure(x)))", "only one call"),
    ],
)
def test_wrong_uses_are_named(formula: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        parse(formula, (DISCLOSURE,))


def test_a_variable_is_not_captured() -> None:
    many = define("many", ("q",), "count(for x: O A(a == x, b == q)) > 3")
    other = define("other", ("q",), "exists x, x_2: A(a == x, b == x_2) & many(q)", (many,))
    assert str(parse("forall x: G(B(c == x) -> many(x))", (many,))) == (
        "forall x: G(B(c == x) -> count(for x_2: O A(a == x_2 and b == x)) > 3)"
    )
    assert str(parse("forall x: G(B(c == x) -> other(x))", (other,))).endswith(
        "(exists x_4, x_2: A(a == x_4 and b == x_2) & count(for x_3: O A(a == x_3 and b == x)) > 3))"
    )


@pytest.mark.parametrize("text", ["B(c == 1)", "B(c == q) & q < r"])
def test_the_parameters_are_the_variables(text: str) -> None:
    with pytest.raises(FormulaError, match="parameter"):
        define("notion", ("q",), text)


def test_variants_of_a_definition_make_variants_of_rules(path: Path) -> None:
    path.write_text(FILE)
    file = read_rule_file(path)
    assert [(rule.id, rule.under) for rule in file.rules] == [
        ("tell-first@told", {"who": ("told",)}),
        ("tell-first@wrote", {"who": ("wrote",)}),
        ("once", {}),
    ]
    assert str(file.rules[1].parsed) == "forall p: G(Act(person == p) -> Act(person == p) & O Write(person == p))"
    assert [len(examples) for _, examples in file.examples] == [1, 0, 0]
    lines = path.with_suffix(".jsonl")
    lines.write_text("".join(f"{rule.model_dump_json()}\n" for rule in file.rules))
    assert load_rules(lines) == file.rules
    assert load_rules(lines)[0].parsed == file.rules[0].parsed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["wrote"]', '["told"]', "2 definitions of 'informed' hold under told"),
        ('under = { who = ["wrote"] }', 'under = { when = ["wrote"] }', "question 'when', which does not exist"),
        ("Tell(person == p)", "Tell(person == )", "rule 'tell-first@told': definition 'informed': line 1"),
        (
            "kept = ",
            'broken = "Act()"\n[[rules]]\nid = "never"\nformula = "G !Act"\nunder = { who = [] }\nkept = ',
            "under.who",
        ),
        ('id = "wrote"', 'id = "told"', "question 1: .*two readings 'told'"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(path: Path, old: str, new: str, message: str) -> None:
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        [rule.parsed for rule in load_rules(path)]


def test_a_rule_names_a_question_and_readings_that_exist() -> None:
    with pytest.raises(ValueError, match="under the question 'who', which does not exist"):
        Rule(id="r", formula="G A", under={"who": ("told",)})
