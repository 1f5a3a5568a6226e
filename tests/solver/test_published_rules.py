"""Curated rules imply every published formula and citations exist in the law."""

import json
import re
from collections.abc import Callable
from itertools import product as all_words
from typing import Any

import pytest

from lawtrace.schemas.events import Event
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import equivalent
from lawtrace.solver.declarations.loader import PAPER_DOMAINS, load_domain
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import And, body_of
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule, check_rules, load_rules
from tests.support.published import published_text

SENSITIVE = (
    "(ConsultDoctor OR AccessUserInfo OR AccessMedicalHistory OR ViewPrescriptions OR RequestPrescription OR "
    "ScheduleAppointment OR ManageAppointments)"
)
PUBLISHED: dict[str, dict[str, str]] = {
    "banking": {
        "authorize-before-transfer": "NOT ((NOT CheckAuthorization) UNTIL TransferFunds)",
        "authorize-before-bill": "NOT ((NOT CheckAuthorization) UNTIL PayBill)",
        "authorize-before-statement": "NOT ((NOT CheckAuthorization) UNTIL GetAccountStatement)",
        "record-transfer": "ALWAYS (TransferFunds IMPLIES EVENTUALLY(RecordAuditEvent))",
        "record-bill": "ALWAYS (PayBill IMPLIES EVENTUALLY(RecordAuditEvent))",
        "record-statement": "ALWAYS (GetAccountStatement IMPLIES EVENTUALLY(RecordAuditEvent))",
        "identify-payee-before-bill": "NOT ((NOT SearchPayee) UNTIL PayBill)",
    },
    "telehealth": {
        "authorize-before-access": f"NOT ((NOT CheckAuthorization) UNTIL {SENSITIVE})",
        "record-access": f"ALWAYS ({SENSITIVE} IMPLIES EVENTUALLY(RecordAuditEvent))",
        "consult-before-prescription": "NOT ((NOT ConsultDoctor) UNTIL RequestPrescription)",
        "relationship-before-message": "NOT ((NOT (ConsultDoctor OR ScheduleAppointment)) UNTIL SendMessage)",
    },
}
RULES_FILES = {"banking": "logisafety/psd2_rules.json", "telehealth": "logisafety/hipaa_rules.json"}
LAWS = {
    "banking": "regulations/psd2_2015-2366_art_64-74_94-98.txt",
    "telehealth": "regulations/hipaa_security_rule_45cfr164_subpartC.txt",
}
FORMULAS = [(world, rule) for world, rules in PUBLISHED.items() for rule in rules]


def kept(world: str) -> dict[str, Rule]:
    """The published formulas as rules."""
    return {rule.id: rule for rule in load_rules(load_domain(world).gold_file)}


def same(one: str, other: str) -> bool:
    return equivalent(compile_formula(parse(one)), compile_formula(parse(other)))


@pytest.mark.parametrize(("world", "rule"), FORMULAS)
def test_a_rule_equals_its_published_formula(world: str, rule: str) -> None:
    assert same(kept(world)[rule].formula, PUBLISHED[world][rule])


@pytest.mark.parametrize(("world", "rule"), FORMULAS)
def test_a_rule_differs_from_other_formulas(world: str, rule: str) -> None:
    formula = kept(world)[rule].formula
    assert [other for other, published in PUBLISHED[world].items() if same(formula, published)] == [rule]


ABOUT_THE_SAME = {"banking": "identify-payee-before-bill"}
LEFT_OUT = {
    "smart_home": {"delete-revoke", "record-changes"},
    "telehealth": {"consult-before-prescription", "record-access"},
}
"""A deleted guest has no access left, so the published formula requires revoking the access of another guest. No text
says that a consultation comes before a prescription. No text says that an entry follows each act: a name in the log
stands for all acts of its kind."""

KEPT = [
    (world, rule)
    for world in PAPER_DOMAINS
    for rule in kept(world)
    if rule != ABOUT_THE_SAME.get(world) and rule not in LEFT_OUT.get(world, ())
]


@pytest.mark.parametrize(("world", "rule"), KEPT)
def test_curated_rules_imply_the_published_rules(world: str, rule: str) -> None:
    published = body_of(kept(world)[rule].parsed)
    rules = {rule.id: body_of(rule.parsed) for rule in load_rules(load_domain(world).rules_file)}
    if published == rules[rule]:
        return
    ours = compile_formula(rules[rule])
    assert equivalent(ours, compile_formula(And(rules[rule], published)))
    assert not equivalent(ours, compile_formula(published))


def found(payee: str) -> Event:
    return Event("SearchPayee", {"keywords": ["x"]}, result={"payees": [{"payee_id": "P-0"}, {"payee_id": payee}]})


def paid(payee: str) -> Event:
    return Event("PayBill", {"payee_id": payee}, result={"success": True})


def test_a_quantified_rule_implies_the_published_rule() -> None:
    ours = {rule.id: rule for rule in load_rules(load_domain("banking").rules_file)}["pay-the-payee-found"].automaton
    published = kept("banking")[ABOUT_THE_SAME["banking"]].automaton
    verdicts: set[tuple[str, str]] = set()
    steps = [found("1"), found("2"), paid("1"), paid("2")]
    for trace in (trace for length in range(5) for trace in all_words(steps, repeat=length)):
        monitor = Monitor({"ours": ours, "published": published})
        monitor.run(trace)
        verdicts.add((monitor.final_statuses()["ours"], monitor.final_statuses()["published"]))
    assert verdicts == {("kept", "kept"), ("broken", "broken"), ("broken", "kept")}


@pytest.mark.parametrize("world", PAPER_DOMAINS)
def test_every_rule_has_a_known_provision_and_a_rationale(world: str) -> None:
    domain = load_domain(world)
    check_rules(load_rules(domain.gold_file), domain.environment, domain.regulation)
    for rule in (*load_rules(domain.rules_file), *load_rules(domain.gold_file)):
        assert rule.provisions, rule.id
        assert all(map(domain.regulation.cited, rule.provisions))
        assert rule.rationale, rule.id


@pytest.mark.shared
@pytest.mark.parametrize("world", PUBLISHED)
def test_the_published_file_has_the_same_rules(world: str) -> None:
    entries: list[dict[str, Any]] = json.loads(published_text(RULES_FILES[world]))["valid_ltl_rules"]
    rules = [kept(world)[rule] for rule in PUBLISHED[world]]
    assert len(entries) == len(rules)
    for entry in entries:
        matching = [rule for rule in rules if same(rule.formula, entry["final_ltl_rule"])]
        assert len(matching) == 1, entry["final_ltl_rule"]
        assert matching[0].template == entry["risk_category"].lower()


def is_in_directive(law: str, citation: str) -> bool:
    """``Article 97(1)(a)``: an article, a numbered paragraph, an optional lettered point."""
    articles: dict[str, str] = dict(re.findall(r"^(Article \d+)\n(.*?)(?=^Article \d+$|\Z)", law, re.M | re.S))
    parts = re.fullmatch(r"(Article \d+)\((\d+)\)(?:\(([a-z])\))?", citation)
    assert parts is not None, citation
    paragraph = re.search(rf"^{parts[2]}\. (.*?)(?=^\d+\. |\Z)", articles[parts[1]], re.M | re.S)
    return paragraph is not None and (parts[3] is None or bool(re.search(rf"^\({parts[3]}\) ", paragraph[1], re.M)))


LEVELS = (r"[a-h]", r"\d", r"[ivx]+", r"[A-Z]")
"""Paragraph labels of the Code of Federal Regulations, from the outermost inwards."""


def is_in_code(law: str, citation: str) -> bool:
    """``§ 164.312(a)(2)(i)``: a section with nested paragraphs."""
    section, marks = re.fullmatch(r"(§ 164\.\d+)((?:\(\w+\))*)", citation).groups()  # type: ignore[union-attr]
    text: dict[str, str] = dict(re.findall(r"^(§ 164\.\d+) [^\n]*\n(.*?)(?=^§ 164|\Z)", law, re.M | re.S))
    path, paths = [""] * len(LEVELS), set[tuple[str, ...]]()
    openings = re.findall(r"(?:^|(?<=\. ))((?:\(\w+\))+)", text[section], re.M)
    for mark in re.findall(r"\w+", " ".join(openings)):
        level = next(level for level, kind in enumerate(LEVELS) if re.fullmatch(kind, mark))
        path = [*path[:level], mark, *[""] * (len(LEVELS) - level - 1)]
        paths.add(tuple(path[: level + 1]))
    return not marks or tuple(re.findall(r"\w+", marks)) in paths


CITED: dict[str, Callable[[str, str], bool]] = {"banking": is_in_directive, "telehealth": is_in_code}


@pytest.mark.shared
@pytest.mark.parametrize("world", PUBLISHED)
def test_each_citation_exists_in_the_law(world: str) -> None:
    law = published_text(LAWS[world])
    for provision in load_domain(world).regulation.provisions:
        assert CITED[world](law, provision.citation), provision.citation
