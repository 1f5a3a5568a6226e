"""The clinic: what each fact changes, and its initial states."""

from random import Random

import pytest

from lawtrace.solver.planner.requests import RequestWriter
from tests.support.records_office import ENVIRONMENT, broken, run

OPEN_AND_FILE = "OpenRequest({0}) OpenPatientFile(clara) FindRecord({0}, lab results) SetScope({0}, last 12 months) "
PUBLIC = "OpenRequest({0}) FindRecord({0}, lab results) SetScope({0}, last 12 months) "
SUBPOENA = PUBLIC.format("subpoena")
EMERGENCY, CLAIM = OPEN_AND_FILE.format("emergency"), OPEN_AND_FILE.format("claim")
AUTHORIZED = (
    "OpenRequest({0}) FindRecord({0}, lab results) FindAuthorization({0}) CiteAuthorization({0}, for-{0}) "
    "SetScope({0}, last 12 months) "
)
LIFE, SUIT = AUTHORIZED.format("life"), AUTHORIZED.format("suit")
OWN = OPEN_AND_FILE.format("own")
LIST = "OpenRequest(list) OpenPatientFile(clara) SetScope(list, last 12 months) "
NEWS = "OpenRequest(news) OpenPatientFile(clara) SetScope(news, bills) AskOpinion(news, patient) "
THEO = "OpenRequest(theo) OpenPatientFile(theo) FindRecord(theo, immunization record) SetScope(theo, last 12 months) "
FLYER = (
    "OpenRequest(flyer) OpenPatientFile(clara) FindAuthorization(flyer) CiteAuthorization(flyer, for-flyer) "
    "SetScope(flyer, last 12 months) "
)
DELAY = "SendLetter(own, delay of 30 days) "
NOTIFY = "NotifyAffected(people, first-class mail, diagnoses) "
LOGGED = "RecordFinding(risk, breach) " + NOTIFY + "ReportToSecretary(laptop, yearly log) "
AT_ONCE = "RecordFinding(risk, breach) " + NOTIFY + "ReportToSecretary(laptop, at once) "
HELD = "incidents.laptop.police_statement = in writing"
LONG_KNOWN = "incidents.laptop.discovered_on = 2026-01-12"

# fact: (changes of the base state, the change of the fact, what is lawful before it and not after, what is after it)
FACTS: dict[str, tuple[str, str, str, str]] = {
    "purpose of an insurer": (
        "",
        "requests.life.purpose = payment of a claim",
        LIFE + "ReleaseRecord(life, lab)",
        OPEN_AND_FILE.format("life") + "ReleaseRecord(life, lab)",
    ),
    "purpose of a provider": (
        "patients.clara.restriction = nothing to other providers",
        "requests.emergency.purpose = treatment",
        EMERGENCY + "ReleaseRecord(emergency, lab) SendLetter(emergency, no further use)",
        EMERGENCY + "DeclineRequest(emergency, agreed restriction)",
    ),
    "purpose of a law firm": (
        "",
        "requests.suit.purpose = subpoena",
        SUIT + "ReleaseRecord(suit, lab)",
        PUBLIC.format("suit") + "ReleaseRecord(suit, lab) RecordDisclosure(suit, clara)",
    ),
    "purpose of a flyer": (
        "",
        "requests.refill.purpose = marketing",
        "OpenRequest(refill) OpenPatientFile(clara) SetScope(refill, last 12 months) MailFlyer(refill)",
        "OpenRequest(refill) FindAuthorization(refill) DeclineRequest(refill, no valid authorization)",
    ),
    "record asked for": (
        "",
        "requests.claim.asks_for = imaging report",
        CLAIM + "ReleaseRecord(claim, lab)",
        CLAIM + "DeclineRequest(claim, more than was asked for)",
    ),
    "period asked for": (
        "",
        "requests.claim.period = last visit",
        CLAIM + "ReleaseRecord(claim, lab)",
        CLAIM.replace("last 12 months", "last visit") + "ReleaseRecord(claim, lab)",
    ),
    "part of a relative in the care": (
        "",
        "requests.news.involvement = transport",
        NEWS + "TellFamily(news)",
        NEWS.replace("bills", "transport") + "TellFamily(news)",
    ),
    "period of the authorization": (
        "",
        "authorizations.for-suit.period = last visit",
        SUIT + "ReleaseRecord(suit, lab)",
        SUIT.replace("last 12 months", "last visit") + "ReleaseRecord(suit, lab)",
    ),
    "kind of information lost": (
        "",
        "incidents.laptop.information = bank details",
        "OpenIncident(laptop) " + LOGGED,
        "OpenIncident(laptop) " + LOGGED.replace("diagnoses", "bank details"),
    ),
    "day of the request": (
        "records.lab.location = in the archive",
        "requests.own.received_on = 2026-02-05",
        OWN + "FetchFromArchive(lab) GiveAccess(own, lab)",
        OWN + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
    ),
    "assurance for a subpoena": (
        "",
        "requests.subpoena.assurance = none",
        SUBPOENA + "ReleaseRecord(subpoena, lab) RecordDisclosure(subpoena, clara)",
        "OpenRequest(subpoena) DeclineRequest(subpoena, no assurance from the party)",
    ),
    "payment for a flyer": (
        "authorizations.for-flyer.mentions_payment = False; requests.flyer.paid_by_third_party = False",
        "requests.flyer.paid_by_third_party = True",
        FLYER + "MailFlyer(flyer)",
        "OpenRequest(flyer) FindAuthorization(flyer) DeclineRequest(flyer, no valid authorization)",
    ),
    "earlier list of disclosures": (
        "",
        "requests.list.earlier_list = none within 12 months",
        LIST + "QuoteFee(clara, 12) ChargeFee(list, 12)",
        "OpenRequest(list) DeclineRequest(list, no fee is due)",
    ),
    "acceptance of the fee": (
        "",
        "requests.list.accepts_fee = False",
        LIST + "QuoteFee(clara, 12) ChargeFee(list, 12)",
        "OpenRequest(list) QuoteFee(clara, 12) DeclineRequest(list, fee not accepted)",
    ),
    "answer of the patient": (
        "",
        "requests.news.patient_answer = objects",
        NEWS + "TellFamily(news)",
        "OpenRequest(news) AskOpinion(news, patient) DeclineRequest(news, patient objects)",
    ),
    "judgement of the clinician": (
        "patients.clara.condition = unable to decide",
        "requests.news.clinician_answer = objects",
        NEWS + "AskOpinion(news, clinician) TellFamily(news)",
        NEWS + "AskOpinion(news, clinician) DeclineRequest(news, clinician advises against it)",
    ),
    "capacity of the patient": (
        "",
        "patients.clara.condition = unable to decide",
        NEWS + "TellFamily(news)",
        NEWS + "AskOpinion(news, clinician) TellFamily(news)",
    ),
    "agreed restriction": (
        "",
        "patients.clara.restriction = nothing to insurers",
        CLAIM + "ReleaseRecord(claim, lab)",
        CLAIM + "DeclineRequest(claim, agreed restriction)",
    ),
    "entry in the directory": (
        "",
        "patients.clara.directory = not listed",
        "OpenRequest(room) OpenPatientFile(clara) SetScope(room, room only) TellRoom(room)",
        "OpenRequest(room) OpenPatientFile(clara) DeclineRequest(room, not in the directory)",
    ),
    "confidential address": (
        "",
        "contacts.box-clara.status = in force",
        OWN + "GiveAccess(own, lab)",
        OWN + "SetAddress(own, box-clara) GiveAccess(own, lab)",
    ),
    "acquaintance with the requester": (
        "",
        "requesters.by-own.known = False",
        OWN + "GiveAccess(own, lab)",
        OWN + "VerifyRequester(own, photo identification) GiveAccess(own, lab)",
    ),
    "proof of identity": (
        "requesters.by-own.known = False",
        "requesters.by-own.proof = missing",
        OWN + "VerifyRequester(own, call back) GiveAccess(own, lab)",
        OWN + "VerifyRequester(own, call back) DeclineRequest(own, identity not established)",
    ),
    "authorization": (
        "",
        "authorizations.for-suit.status = revoked",
        SUIT + "ReleaseRecord(suit, lab)",
        "OpenRequest(suit) FindAuthorization(suit) DeclineRequest(suit, no valid authorization)",
    ),
    "coverage of the authorization": (
        "",
        "authorizations.for-suit.covers = imaging report",
        SUIT + "ReleaseRecord(suit, lab)",
        "OpenRequest(suit) FindRecord(suit, lab results) FindAuthorization(suit) "
        "DeclineRequest(suit, no valid authorization)",
    ),
    "payment in the authorization": (
        "",
        "authorizations.for-flyer.mentions_payment = False",
        FLYER + "MailFlyer(flyer)",
        "OpenRequest(flyer) FindAuthorization(flyer) DeclineRequest(flyer, no valid authorization)",
    ),
    "power to act for the patient": (
        "",
        "mandates.parent.status = ended",
        THEO + "VerifyRequester(theo, call back) GiveAccess(theo, shots)",
        THEO + "VerifyRequester(theo, call back) DeclineRequest(theo, requester may not act for the patient)",
    ),
    "consent to a minor's care": (
        "",
        "records.shots.care_agreed_by = the minor alone",
        THEO + "VerifyRequester(theo, call back) GiveAccess(theo, shots)",
        THEO + "DeclineRequest(theo, requester may not act for the patient)",
    ),
    "danger of access": (
        "",
        "records.lab.finding = access may endanger life",
        OWN + "GiveAccess(own, lab)",
        OWN + "DeclineRequest(own, danger found by a clinician) SendLetter(own, denial of access with right to review)",
    ),
    "day of discovery": (
        "",
        LONG_KNOWN,
        "OpenIncident(laptop) OrderForensicReport(laptop) " + LOGGED + "CloseIncident(laptop)",
        "OpenIncident(laptop) " + LOGGED + "OrderForensicReport(laptop) CloseIncident(laptop)",
    ),
    "people affected": (
        "",
        "incidents.laptop.people_affected = 500",
        "OpenIncident(laptop) " + LOGGED + "CloseIncident(laptop)",
        "OpenIncident(laptop) " + AT_ONCE + "CloseIncident(laptop)",
    ),
    "statement of the police": (
        "",
        HELD,
        "OpenIncident(laptop) " + LOGGED + "CloseIncident(laptop)",
        "OpenIncident(laptop) Wait(39) " + LOGGED + "CloseIncident(laptop)",
    ),
    "protection of the data": (
        "",
        "assessments.risk.data = encrypted",
        "OpenIncident(laptop) " + LOGGED + "CloseIncident(laptop)",
        "OpenIncident(laptop) RecordFinding(risk, data were encrypted) CloseIncident(laptop)",
    ),
    "risk": (
        "",
        "assessments.risk.risk = low probability of compromise",
        "OpenIncident(laptop) " + LOGGED + "CloseIncident(laptop)",
        "OpenIncident(laptop) RecordFinding(risk, low probability of compromise) CloseIncident(laptop)",
    ),
    "way to reach the people": (
        "",
        "mailing_lists.people.reachable_by = no current address",
        "OpenIncident(laptop) " + LOGGED + "CloseIncident(laptop)",
        "OpenIncident(laptop) RecordFinding(risk, breach) NotifyAffected(people, substitute notice, diagnoses) "
        "ReportToSecretary(laptop, yearly log) CloseIncident(laptop)",
    ),
}


def test_every_fact_has_an_example() -> None:
    assert set(FACTS) == {fact.name for fact in ENVIRONMENT.facts}


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_decides_what_is_lawful(fact: str) -> None:
    base, change, before, after = FACTS[fact]
    assert is_lawful(before, base)
    assert is_lawful(after, f"{base}; {change}")
    assert not is_lawful(before, f"{base}; {change}")


def is_lawful(program: str, changes: str) -> bool:
    """Whether all calls of the program complete, and all rules are kept."""
    session = run(program, changes)
    return all(event.completed for event in session.events) and not broken(session)


def test_initial_states_show_every_value_of_every_fact() -> None:
    states = [ENVIRONMENT.populate(Random(seed)) for seed in range(150)]
    for fact in ENVIRONMENT.facts:
        seen = {row.values[fact.field] for state in states for row in state.rows(fact.entity.table)}
        assert set(fact.values) <= seen, fact.name


@pytest.mark.parametrize("seed", range(20))
def test_requests_and_records_are_found_without_ambiguity(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    requests = [row.values for row in state.rows("requests")]
    assert len({(row["patient_name"], row["requester_name"]) for row in requests}) == len(requests)
    records = [row.values for row in state.rows("records")]
    assert len({(row["patient_id"], row["kind"]) for row in records}) == len(records)
    authorizations = [row.values for row in state.rows("authorizations")]
    assert len({(row["patient_id"], row["requester_id"]) for row in authorizations}) == len(authorizations)
    contacts = [row.values["patient_id"] for row in state.rows("contacts")]
    assert len(set(contacts)) == len(contacts)


def test_a_record_is_found_only_for_a_request_for_records() -> None:
    assert run("FindRecord(own, lab results)").events[-1].completed
    assert not run("FindRecord(room, lab results)").events[-1].completed
    drawn: set[object] = set()
    for seed in range(12):
        state = ENVIRONMENT.populate(Random(seed))
        category = {row.values["request_id"]: row.values["category"] for row in state.rows("requests")}
        request = RequestWriter(ENVIRONMENT).draw(state, ["FetchFromArchive"], Random(seed)) or ()
        drawn |= {category[call.event.arguments["request_id"]] for call in request if call.event.tool == "FindRecord"}
    assert drawn == {"release", "own records"}
