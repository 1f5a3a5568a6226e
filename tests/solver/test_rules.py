"""Rule sets: reading, checks against tools and provisions, errors that name file, rule and place."""

import json
from pathlib import Path

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.schemas.errors import FormulaError, InputError
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import Rule, check_rules, load_rules

SETTING = load_domain("banking")
RULE = {"id": "r", "formula": "G(PayBill -> F RecordAuditEvent)"}


def toml(folder: Path, text: str) -> Path:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


def lines(folder: Path, *rows: str) -> Path:
    path = folder / "rules.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_both_file_formats_give_the_same_rules(tmp_path: Path) -> None:
    curated = load_rules(SETTING.rules_file)
    written = lines(tmp_path, *(rule.model_dump_json() for rule in curated))
    assert load_rules(written) == curated


def test_blank_lines_do_not_count_as_rules(tmp_path: Path) -> None:
    assert [rule.id for rule in load_rules(lines(tmp_path, "", json.dumps(RULE), "  "))] == ["r"]


def test_only_newlines_separate_rows(tmp_path: Path) -> None:
    """JSON strings may contain U+2028, U+0085 and other line separators."""
    row = json.dumps({**RULE, "rationale": "one\u2028two\u0085three"}, ensure_ascii=False)
    assert load_rules(lines(tmp_path, row))[0].rationale == "one\u2028two\u0085three"


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (("{",), "line 1: not JSON"),
        (("", json.dumps(RULE), "nonsense"), "line 3: not JSON"),
        ((json.dumps({"id": "r"}),), "line 1: formula: is missing"),
        ((json.dumps(RULE), json.dumps({**RULE, "color": "red"})), "line 2: color: is not a known key"),
        ((json.dumps({**RULE, "schema_version": "lawtrace.rule/9"}),), "line 1: it is 'lawtrace.rule/9'"),
        ((json.dumps([RULE]),), "line 1: "),
        ((json.dumps({**RULE, "id": ""}),), "line 1: id: "),
        (("",), "contains no rules"),
    ],
)
def test_errors_of_a_line_are_named(tmp_path: Path, rows: tuple[str, ...], place: str) -> None:
    path = lines(tmp_path, *rows)
    with pytest.raises(InputError, match=place) as caught:
        load_rules(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[[rules]", "not a TOML file"),
        ("rule = 1", r"expected nothing but \[\[rules\]\] tables"),
        ("rules = 3", r"expected nothing but \[\[rules\]\] tables"),
        ("rules = [3]", "rule 1: "),
        ('[[rules]]\nid = "a"\nformula = "x"\n[[rules]]\nid = "b"\n', "rule 2: formula: is missing"),
        ('version = 2\n[[rules]]\nid = "a"\nformula = "x"\n', "expected nothing but"),
        ("rules = []", "contains no rules"),
        ("", "is empty; write a rule as a"),
    ],
)
def test_errors_of_a_curated_file_are_named(tmp_path: Path, text: str, place: str) -> None:
    path = toml(tmp_path, text)
    with pytest.raises(InputError, match=place) as caught:
        load_rules(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("name", ["none.toml", "none.jsonl"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=name):
        load_rules(tmp_path / name)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("G(PayBil -> F RecordAuditEvent)", "PayBil.*PayBill"),
        ("G(PayBill(ammount > 1) -> F RecordAuditEvent)", "ammount"),
        ("G !CheckAuthorization(result.authorised)", "`authorised` .*: did you mean `authorized`"),
        ("G(PayBill -> F", r"rule 'r': "),
    ],
)
def test_formulas_are_checked_against_the_environment(formula: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message) as caught:
        check_rules([Rule(id="r", formula=formula)], ENVIRONMENT)
    assert str(caught.value).count("rule 'r'") == 1


def test_ids_are_unique_and_citations_exist() -> None:
    rule = Rule(id="r", formula=RULE["formula"], regulation="PSD2", provisions=("Article 97(9)",))
    with pytest.raises(InputError, match=r"rule 'r' cites 'Article 97\(9\)', which PSD2 as given does not contain"):
        check_rules([rule], ENVIRONMENT, SETTING.regulation)
    check_rules([rule], ENVIRONMENT)
    check_rules([rule.model_copy(update={"regulation": "another"})], ENVIRONMENT, SETTING.regulation)
    with pytest.raises(InputError, match="rule 'r' occurs twice"):
        check_rules([rule, rule], ENVIRONMENT)


def test_the_curated_rules_are_valid() -> None:
    curated = load_rules(SETTING.rules_file)
    check_rules(curated, ENVIRONMENT, SETTING.regulation)
    for rule in curated:
        assert rule.regulation == SETTING.regulation.id
        assert rule.provisions, rule.id
        assert all(map(SETTING.regulation.cited, rule.provisions))
        assert rule.rationale, rule.id


@pytest.mark.parametrize(
    ("formula", "template"),
    [
        ("!((!CheckAuthorization) U PayBill)", "operational restriction"),
        ("G(PayBill -> F RecordAuditEvent)", "instruction adherence"),
        ("G(PayBill -> X RecordAuditEvent)", "general"),
    ],
)
def test_the_template_of_a_rule(formula: str, template: str) -> None:
    assert Rule(id="r", formula=formula).template == template
