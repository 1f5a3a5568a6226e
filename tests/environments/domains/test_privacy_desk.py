"""The world of the data-protection desk: its states, its facts, and that each fact makes a difference."""

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lawtrace.environments.domains.privacy_desk import ENVIRONMENT
from lawtrace.environments.domains.privacy_desk.entities import MATTER, RIGHTS
from lawtrace.environments.regulations.formats import read_legal_text
from lawtrace.environments.regulations.regulation import load_regulation
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Json
from tests.support.privacy_officer import Officer
from tests.support.published import DATA, published_text
from tests.support.small_privacy_desk import (
    ACCESS,
    BILL,
    BILLING,
    CLOSE,
    COPY,
    CORRECT,
    ERASE,
    ERASURE,
    FOLDER,
    LAPTOP,
    MAILER,
    OBJECTION,
    PASSING_ON,
    RECTIFICATION,
    SHARE,
    STOP,
    Call,
    Changes,
    ask_for_proof,
    before,
    broken,
    changed,
    not_kept,
    of,
    refuse,
    rules,
    without,
)

Calls = list[Call | int]
PROVEN = before(COPY, "IssueCopy", ask_for_proof(ACCESS))
REDACTED = before(COPY, "IssueCopy", *of(ACCESS, "RedactCopy"))
IN_DOUBT: Changes = {f"{ACCESS}.sender": "not on file"}
RECORD = PASSING_ON.replace("K", "R")

# The fact; calls; what else is different from the small desk; the field, with a value for which the calls are lawful
# and one for which they are not.
DIFFERENCES: list[tuple[str, Calls, Changes, str, str, str]] = [
    ("doubt about who wrote", COPY, {}, f"{ACCESS}.sender", "on file", "not on file"),
    ("doubt about who wrote", PROVEN, {}, f"{ACCESS}.sender", "not on file", "on file"),
    ("proof of who wrote", PROVEN, IN_DOUBT, f"{ACCESS}.proof", "sufficient", "insufficient"),
    ("how the person wants to be written to", COPY, {}, f"{ACCESS}.write_by", "email", "post"),
    ("what proof can be compared with", PROVEN, IN_DOUBT, f"{ACCESS}.comparable", "date of birth", "home club"),
    ("earlier requests", BILL, {}, f"{BILLING}.earlier", "has a copy", "repetitive"),
    ("role of the recipient", ERASE, {}, f"{MAILER}.role", "processor", "controller"),
    (
        "people in other states",
        CLOSE,
        {f"{LAPTOP}.run_in": "Ireland"},
        f"{LAPTOP}.spread",
        "several member states",
        "one member state",
    ),
    ("earlier requests", refuse(ACCESS, "repetitive"), {}, f"{ACCESS}.earlier", "repetitive", "none"),
    ("need for a legal claim", ERASE, {}, f"{ERASURE}.kept_for", "nothing else", "legal claim"),
    ("effort of an answer", COPY, {}, f"{ACCESS}.effort", "little", "complex"),
    ("other people in the data", COPY, {}, f"{ACCESS}.others", "not named", "named"),
    ("other people in the data", REDACTED, {}, f"{ACCESS}.others", "named", "not named"),
    ("accuracy", CORRECT, {}, f"{RECTIFICATION}.accuracy", "incorrect", "correct"),
    ("restriction", SHARE, {}, f"{RECORD}.status", "in use", "restricted"),
    ("consent", SHARE, {}, f"{PASSING_ON}.consent", "given", "withdrawn"),
    ("consent", SHARE, {f"{PASSING_ON}.category": "health"}, f"{PASSING_ON}.consent", "expressly given", "given"),
    ("who gave the consent", SHARE, {"M-1.age": 15}, f"{PASSING_ON}.consent_by", "a parent", "the person"),
    (
        "consent to a transfer",
        changed(SHARE, "LogDisclosure", cover="consent of the person"),
        {f"{MAILER}.standing": "nothing"},
        f"{PASSING_ON}.abroad",
        "agreed after warning",
        "not asked",
    ),
    ("objection to direct marketing", SHARE, {}, f"{PASSING_ON}.objection", "none", "to direct marketing"),
    (
        "weight of the company's grounds",
        SHARE,
        {f"{PASSING_ON}.objection": "to this use"},
        f"{PASSING_ON}.grounds",
        "compelling",
        "not compelling",
    ),
    (
        "weight of the company's grounds",
        refuse(OBJECTION, "compelling grounds", "ReadDataSheet"),
        {f"{OBJECTION}.purpose": "running the clubs"},
        f"{OBJECTION}.grounds",
        "compelling",
        "not compelling",
    ),
    (
        "safeguards at the partner",
        changed(SHARE, "LogDisclosure", cover="standard clauses"),
        {},
        f"{MAILER}.standing",
        "standard clauses",
        "nothing",
    ),
    ("contract with the processor", SHARE, {}, f"{MAILER}.contract", "signed", "not signed"),
    (
        "existence of the recipient",
        without(ERASE, "InformRecipient"),
        {},
        f"{MAILER}.reach",
        "closed down",
        "active",
    ),
    ("risk of the breach", CLOSE, {}, f"{LAPTOP}.risk", "high", "likely"),
    (
        "risk of the breach",
        changed(without(CLOSE, "NotifyAuthority", "TellPeople"), "DocumentIncident", effects="unlikely"),
        {},
        f"{LAPTOP}.risk",
        "unlikely",
        "likely",
    ),
    ("encryption", without(CLOSE, "TellPeople"), {}, f"{LAPTOP}.protection", "unreadable", "readable"),
    (
        "effort to tell each person",
        changed(CLOSE, "TellPeople", means="public notice"),
        {},
        f"{LAPTOP}.reach",
        "public notice",
        "each person",
    ),
]


def test_every_fact_makes_a_difference() -> None:
    assert {name for name, *_ in DIFFERENCES} == {fact.name for fact in ENVIRONMENT.facts}


@pytest.mark.parametrize(("fact", "calls", "other", "place", "lawful", "unlawful"), DIFFERENCES)
def test_calls_that_are_lawful_on_one_side_of_a_fact_are_not_on_the_other(
    fact: str, calls: Calls, other: Changes, place: str, lawful: str, unlawful: str
) -> None:
    declared = next(declared for declared in ENVIRONMENT.facts if declared.name == fact)
    assert {lawful, unlawful} <= {*declared.values}
    assert not_kept(calls, {**other, place: lawful}) == set()
    assert not_kept(calls, {**other, place: unlawful})


def test_every_fact_is_shown_by_some_look_up() -> None:
    """No fact decides before a call has shown it."""
    shown = {result.name for tool in ENVIRONMENT.tools.values() for result in tool.results}
    hidden = {fact.field for fact in ENVIRONMENT.facts} - shown
    assert hidden == {"proof"}, "which shows as the result of asking for it"


@settings(max_examples=50)
@given(st.integers(0, 2**32))
def test_each_case_is_found_alone(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    session = Session(ENVIRONMENT, state)
    cases = [row.values for row in state.rows("cases")]
    assert sorted(case["matter"] for case in cases) == sorted((*MATTER.options, "passing on"))
    for case in cases:
        asked = {"name": case["person_name"], "data": case["data"], "matter": case["matter"]}
        found = session.call("FindCase", asked).event.result
        assert isinstance(found, dict)
        assert found["cases"] == [{"case_id": case["case_id"], "person_name": asked.pop("name"), **asked}]
    assert {incident.values["system"] for incident in state.rows("incidents")} != set()


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_both_sides_of_each_fact_occur(seed: int) -> None:
    """Of sixty states, each value that the law treats differently is in one."""
    random = Random(seed)
    states = [ENVIRONMENT.populate(random) for _ in range(60)]
    for fact in ENVIRONMENT.facts:
        rows = [row for state in states for row in state.rows(fact.entity.table)]
        assert {*fact.values} <= {row.values[fact.field] for row in rows}, fact.name


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_a_careful_officer_complies_in_every_state(seed: int) -> None:
    """Every wish has a lawful end: it is done, or declined on a ground that holds."""
    random = Random(seed)
    state = ENVIRONMENT.populate(random)
    for case in [row.values for row in state.rows("cases")]:
        officer = Officer(state)
        officer.handle(case, **_wish(case, state, random))
        assert broken(officer.session) == set(), case["matter"]
    for incident in [row.values for row in state.rows("incidents")]:
        officer = Officer(state)
        officer.close(incident["system"])
        assert broken(officer.session) == set()


def _wish(case: Mapping[str, Json], state: State, random: Random) -> dict[str, Json]:
    """What a colleague says of a case beside its matter."""
    record = next(row.values for row in state.rows("records") if row.values["case_id"] == case["case_id"])
    having = {row.values["partner_id"] for row in state.rows("disclosures") if row.values["case_id"] == case["case_id"]}
    partners = [
        row.values["partner_id"]
        for row in state.rows("partners")
        if row.values["reach"] == "active" and row.values["partner_id"] not in having
    ]
    match case["matter"]:
        case "access":
            return {"form": "readable"}
        case "portability":
            return {"form": "machine-readable"}
        case "rectification":
            return {"correction": record["claimed"]}
        case "billing":
            return {"amount": random.randint(300, record["cost"]) / 100}
        case "passing on":
            assume(partners)
            return {"partner_id": random.choice(partners)}
        case _:
            return {}


LAW = "regulations/gdpr_2016-679_consolidated_2016-05-04_en.fmx4.xml"


@pytest.mark.shared
def test_the_restatement_cites_what_there_is() -> None:
    published_text(LAW)
    law = read_legal_text(DATA / LAW)
    cited = {provision.citation for provision in law.provisions()}
    for provision in load_regulation(FOLDER / "regulation.toml").provisions:
        assert any(f"{there}(".startswith(f"{provision.citation}(") for there in cited), provision.citation


def test_there_are_rules_of_many_kinds() -> None:
    kinds = Counter(rule.kind for rule in rules())
    assert None not in kinds
    assert len(kinds) >= 8
    assert min(kinds.values()) >= 2


def test_rights_are_matters_of_people() -> None:
    assert {*RIGHTS} < {*MATTER.options}
    assert not_kept(without(STOP, "FindCase", "ReadMessage")) >= {"know-who-asks"}
