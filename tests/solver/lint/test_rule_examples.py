"""Examples of rules: those of the built-in rule sets hold, and each fault of an example is found."""

from pathlib import Path

import pytest

from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.solver.lint.rule_examples import count_examples, run_examples
from lawtrace.solver.rules import read_rule_file
from lawtrace.solver.trace_notation import read_trace

BANKING = load_domain("banking")
RULE = """
[[rules]]
id = "authorize"
formula = "!((!CheckAuthorization(result.authorized)) U PayBill)"
regulation = "PSD2"
provisions = ["Article 97(1)(b)"]

[[rules.examples]]
"""
DUE = """
[[rules]]
id = "due"
formula = "forall p: G(SearchPayee(p in result.payees.payee_id) -> F[<= 1d] PayBill(payee_id == p))"

[[rules.examples]]
"""


@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
def test_built_in_rules_have_examples_that_hold(name: str) -> None:
    domain = load_domain(name)
    file = read_rule_file(domain.rules_file)
    assert run_examples(file, domain.environment, domain.regulation) == ()
    for rule, examples in file.examples:
        kept = [example.kept for example in examples if example.kept]
        broken = [example.broken for example in examples if example.broken]
        assert kept, rule.id
        assert broken, rule.id
        assert examples[0].words, rule.id
        # A trace that keeps the rule has a call that a trace that breaks it has, too: it is about the same.
        tools = [{event.tool for trace in traces for event in read_trace(trace).events} for traces in (kept, broken)]
        assert tools[0] & tools[1] & rule.tools, rule.id


def findings(tmp_path: Path, text: str) -> list[tuple[str, str, str]]:
    file = tmp_path / "rules.toml"
    file.write_text(text, encoding="utf-8")
    found = run_examples(read_rule_file(file), BANKING.environment, BANKING.regulation)
    return [(one.rule, one.example, one.message) for one in found]


@pytest.mark.parametrize(
    ("example", "place", "message"),
    [
        ("kept = 'PayBill()'", "example 1, kept", "the rule is broken"),
        ("broken = 'CheckAuthorization() -> authorized=true'", "example 1, broken", "the rule is kept"),
        ("kept = 'SearchPayee()'", "example 1, kept", "no call is of a tool that the rule names"),
        ("broken = 'PayBil()'", "example 1, broken", "there is no tool `PayBil`"),
        ("broken = 'PayBill(amont=1)'", "example 1, broken", "`PayBill`: amont does not exist"),
        ("broken = 'PayBill(amount=\"1\")'", "example 1, broken", "amount is a string, not a number"),
        ("broken = 'PayBill(amount=1'", "example 1, broken", "the closing bracket is missing"),
        ("words = 'before all payments'\nbroken = 'PayBill()'", "example 1", "in none of the provisions"),
        (
            "broken = 'PayBill()'\n[[rules.examples]]\nkept = 'CheckAuthorization() -> authorised=true'",
            "example 2, kept",
            "authorised does not exist",
        ),
    ],
)
def test_a_fault_of_an_example_is_found(tmp_path: Path, example: str, place: str, message: str) -> None:
    ((rule, found, said),) = findings(tmp_path, RULE + example)
    assert (rule, found) == ("authorize", place)
    assert message in said


def test_words_are_quotations_with_omissions(tmp_path: Path) -> None:
    assert not findings(
        tmp_path, RULE + "words = 'strong customer ... every  electronic PAYMENT'\nbroken = 'PayBill()'"
    )
    assert findings(tmp_path, RULE + "words = 'electronic payment ... Strong customer'\nbroken = 'PayBill()'")


def test_deadlines_need_times_and_may_be_undecided(tmp_path: Path) -> None:
    found = '2026-03-06 09:00 SearchPayee() -> payees=[{"payee_id": "P-1"}]\n'
    paid = '2026-03-07 09:00 PayBill(payee_id="P-1")'
    assert not findings(
        tmp_path,
        f"{DUE}kept = '''{found}{paid}'''\nbroken = '''{found}'''\nundetermined = '''{found}end 2026-03-06 10:00'''",
    )
    ((_, _, said),) = findings(tmp_path, f"{DUE}kept = '''{found[17:]}{paid[17:]}'''")
    assert "an event has none" in said


def test_examples_of_a_whole_rule_set(tmp_path: Path) -> None:
    session = "[[examples]]\nabout = 'a payment'\ntrace = 'PayBill()'\nbreaks = ['authorize']\n"
    rules = RULE.replace("[[rules.examples]]", "")
    assert not findings(tmp_path, rules + session)
    assert findings(tmp_path, rules + session.replace("'authorize'", "")) == [
        ("", "example 1, 'a payment'", "authorize is broken")
    ]
    assert findings(tmp_path, rules + session.replace("PayBill()", "SearchPayee()")) == [
        ("", "example 1, 'a payment'", "authorize is kept")
    ]
    assert (
        findings(tmp_path, rules + session.replace("'authorize'", "'authorize', 'x'"))[0][2] == "there is no rule 'x'"
    )
    assert not findings(tmp_path, f"{rules}{session}verdict = 'unlawful'")
    assert findings(tmp_path, f"{rules}{session}verdict = 'lawful'")[0][2] == "it is unlawful, not lawful"
    file = tmp_path / "rules.toml"
    assert count_examples(read_rule_file(file)) == 1


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("", "rules.toml, line 2, rule 1, example 1: has no trace"),
        ("breaks = 'PayBill()'", "rule 1, example 1: breaks: is not a known key"),
    ],
)
def test_an_example_is_read_strictly(tmp_path: Path, example: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        findings(tmp_path, RULE + example)
    assert message in str(raised.value)
