"""The clinic: every rule with a program that keeps it and one that breaks it, and what each fact changes."""

from random import Random

import pytest

from lawtrace.solver.planner.requests import RequestWriter
from tests.support.records_office import ENVIRONMENT, broken, compiled_rules, run

OPEN_AND_FILE = "OpenRequest({0}) OpenPatientFile(clara) FindRecord({0}, lab results) SetScope({0}, last 12 months) "
PUBLIC = "OpenRequest({0}) FindRecord({0}, lab results) SetScope({0}, last 12 months) "
ORDER, FLU, SUBPOENA = (PUBLIC.format(name) for name in ("order", "flu", "subpoena"))
TREAT, EMERGENCY, CLAIM = (OPEN_AND_FILE.format(name) for name in ("treat", "emergency", "claim"))
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
ARCHIVED = "records.lab.location = in the archive; requests.own.received_on = 2026-02-05"
DELAY = "SendLetter(own, delay of 30 days) "
NOTIFY = "NotifyAffected(people, first-class mail, diagnoses) "
LOGGED = "RecordFinding(risk, breach) " + NOTIFY + "ReportToSecretary(laptop, yearly log) "
AT_ONCE = "RecordFinding(risk, breach) " + NOTIFY + "ReportToSecretary(laptop, at once) "
HELD = "incidents.laptop.police_statement = in writing"
LONG_KNOWN = "incidents.laptop.discovered_on = 2026-01-12"

# rule: (what keeps all rules, changes of the state, what breaks this rule, changes of the state)
RULES: dict[str, tuple[str, str, str, str]] = {
    "review-before-disclosure": (
        CLAIM + "ReleaseRecord(claim, lab)",
        "",
        "FindRecord(claim, lab results) SetScope(claim, last 12 months) ReleaseRecord(claim, lab)",
        "",
    ),
    "patient-file-before-disclosure": (
        TREAT + "ReleaseRecord(treat, lab)",
        "",
        "OpenRequest(treat) FindRecord(treat, lab results) ReleaseRecord(treat, lab)",
        "",
    ),
    "patient-file-before-mail": (
        LIST + "SendAccounting(list)",
        "",
        "OpenRequest(list) SetScope(list, last 12 months) SendAccounting(list)",
        "",
    ),
    "verify-strangers": (
        CLAIM + "VerifyRequester(claim, call back) ReleaseRecord(claim, lab)",
        "requesters.by-claim.known = False",
        CLAIM + "VerifyRequester(claim, official credentials) ReleaseRecord(claim, lab)",
        "requesters.by-claim.known = False",
    ),
    "restriction-against-insurers": (
        CLAIM + "ReleaseRecord(claim, lab)",
        "patients.clara.restriction = nothing to other providers",
        CLAIM + "ReleaseRecord(claim, lab)",
        "patients.clara.restriction = nothing to insurers",
    ),
    "restriction-against-providers": (
        EMERGENCY + "ReleaseRecord(emergency, lab) SendLetter(emergency, no further use)",
        "patients.clara.restriction = nothing to other providers",
        TREAT + "ReleaseRecord(treat, lab)",
        "patients.clara.restriction = nothing to other providers",
    ),
    "restriction-against-relatives": (
        NEWS + "TellFamily(news)",
        "patients.clara.restriction = nothing to insurers",
        NEWS + "TellFamily(news)",
        "patients.clara.restriction = nothing to relatives",
    ),
    "no-further-use": (
        EMERGENCY + "ReleaseRecord(emergency, lab)",
        "patients.clara.restriction = nothing to insurers",
        EMERGENCY + "ReleaseRecord(emergency, lab)",
        "patients.clara.restriction = nothing to other providers",
    ),
    "record-public-disclosures": (
        ORDER + "ReleaseRecord(order, lab) RecordDisclosure(order, clara)",
        "",
        ORDER + "ReleaseRecord(order, lab)",
        "",
    ),
    "no-record-of-exempt-disclosures": (
        FLU + "ReleaseRecord(flu, lab) RecordDisclosure(flu, clara)",
        "",
        LIFE + "ReleaseRecord(life, lab) RecordDisclosure(life, clara)",
        "",
    ),
    "true-record": (
        FLU + "ReleaseRecord(flu, lab) RecordDisclosure(flu, clara)",
        "",
        "OpenRequest(flu) RecordDisclosure(flu, clara)",
        "",
    ),
    "only-what-is-needed": (
        "OpenRequest(treat) OpenPatientFile(clara) FindRecord(treat, imaging report) ReleaseRecord(treat, scan)",
        "",
        CLAIM.replace("lab results", "imaging report") + "ReleaseRecord(claim, scan)",
        "",
    ),
    "only-what-the-process-covers": (
        ORDER.replace("lab results", "imaging report") + "ReleaseRecord(order, scan) RecordDisclosure(order, clara)",
        "requests.order.asks_for = imaging report",
        ORDER.replace("lab results", "imaging report") + "ReleaseRecord(order, scan) RecordDisclosure(order, clara)",
        "",
    ),
    "authorization-needed": (
        SUIT + "ReleaseRecord(suit, lab)",
        "",
        "OpenRequest(suit) FindRecord(suit, lab results) FindAuthorization(suit) ReleaseRecord(suit, lab)",
        "",
    ),
    "authorization-in-force": (
        LIFE + "ReleaseRecord(life, lab)",
        "",
        LIFE + "ReleaseRecord(life, lab)",
        "authorizations.for-life.status = expired",
    ),
    "authorization-covers": (
        LIFE + "ReleaseRecord(life, lab)",
        "",
        LIFE + "ReleaseRecord(life, lab)",
        "authorizations.for-life.covers = imaging report",
    ),
    "psychotherapy-notes-released": (
        "OpenRequest(treat) OpenPatientFile(clara) FindRecord(treat, psychotherapy notes) FindAuthorization(treat) "
        "CiteAuthorization(treat, for-life) ReleaseRecord(treat, notes)",
        "authorizations.for-life.requester_id = by-treat; authorizations.for-life.covers = psychotherapy notes",
        "OpenRequest(treat) OpenPatientFile(clara) FindRecord(treat, psychotherapy notes) ReleaseRecord(treat, notes)",
        "",
    ),
    "psychotherapy-notes-own-access": (
        OWN + "GiveAccess(own, lab)",
        "",
        "OpenRequest(own) OpenPatientFile(clara) FindRecord(own, psychotherapy notes) GiveAccess(own, notes)",
        "",
    ),
    "authorization-for-marketing": (
        "OpenRequest(refill) OpenPatientFile(clara) SetScope(refill, last 12 months) MailFlyer(refill)",
        "",
        FLYER.replace("CiteAuthorization(flyer, for-flyer) ", "") + "MailFlyer(flyer)",
        "",
    ),
    "authorization-mentions-payment": (
        FLYER + "MailFlyer(flyer)",
        "authorizations.for-flyer.mentions_payment = False; requests.flyer.paid_by_third_party = False",
        FLYER + "MailFlyer(flyer)",
        "authorizations.for-flyer.mentions_payment = False",
    ),
    "subpoena-with-assurance": (
        SUBPOENA + "ReleaseRecord(subpoena, lab) RecordDisclosure(subpoena, clara)",
        "",
        SUBPOENA + "ReleaseRecord(subpoena, lab) RecordDisclosure(subpoena, clara)",
        "requests.subpoena.assurance = none",
    ),
    "news-for-relatives": (
        NEWS + "AskOpinion(news, clinician) TellFamily(news)",
        "patients.clara.condition = unable to decide",
        NEWS + "AskOpinion(news, clinician) TellFamily(news)",
        "requests.news.patient_answer = objects",
    ),
    "room-of-listed-patients": (
        "OpenRequest(room) OpenPatientFile(clara) SetScope(room, room only) TellRoom(room)",
        "",
        "OpenRequest(room) OpenPatientFile(clara) SetScope(room, room only) TellRoom(room)",
        "patients.clara.directory = not listed",
    ),
    "representatives": (
        THEO + "VerifyRequester(theo, photo identification) GiveAccess(theo, shots)",
        "",
        THEO + "VerifyRequester(theo, photo identification) GiveAccess(theo, shots)",
        "mandates.parent.status = ended",
    ),
    "care-of-minors-alone": (
        THEO + "VerifyRequester(theo, call back) GiveAccess(theo, shots)",
        "",
        THEO + "VerifyRequester(theo, call back) GiveAccess(theo, shots)",
        "records.shots.care_agreed_by = the minor alone",
    ),
    "confidential-address": (
        OWN + "SetAddress(own, box-clara) GiveAccess(own, lab)",
        "contacts.box-clara.status = in force",
        OWN + "GiveAccess(own, lab)",
        "contacts.box-clara.status = in force",
    ),
    "address-of-the-patient": (
        OWN + "SetAddress(own, box-clara) GiveAccess(own, lab)",
        "contacts.box-clara.status = in force",
        OWN + "OpenPatientFile(theo) SetAddress(own, box-theo) GiveAccess(own, lab)",
        "contacts.box-theo.status = in force",
    ),
    "danger-of-access": (
        OWN + "GiveAccess(own, lab)",
        "records.scan.finding = access may endanger life",
        OWN + "GiveAccess(own, lab)",
        "records.lab.finding = access may endanger life",
    ),
    "access-in-30-days": (
        OWN + "FetchFromArchive(lab) GiveAccess(own, lab)",
        "records.lab.location = in the archive",
        OWN + "FetchFromArchive(lab) GiveAccess(own, lab)",
        ARCHIVED,
    ),
    "access-in-60-days": (
        OWN + DELAY + "FetchFromArchive(lab) Wait(14) GiveAccess(own, lab)",
        ARCHIVED,
        OWN + DELAY + "FetchFromArchive(lab) Wait(17) GiveAccess(own, lab)",
        ARCHIVED,
    ),
    "extension-in-time": (
        OWN + "Wait(5) " + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
        ARCHIVED,
        OWN + "Wait(6) " + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
        ARCHIVED,
    ),
    "extension-of-30-days": (
        OWN + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
        ARCHIVED,
        OWN + DELAY + "SendLetter(own, delay of 45 days) FetchFromArchive(lab) GiveAccess(own, lab)",
        ARCHIVED,
    ),
    "one-extension": (
        OWN + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
        ARCHIVED,
        OWN + DELAY + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
        ARCHIVED,
    ),
    "extension-with-reason": (
        OWN + "Wait(8) " + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
        "records.lab.location = in the archive",
        OWN + "Wait(7) " + DELAY + "FetchFromArchive(lab) GiveAccess(own, lab)",
        "records.lab.location = in the archive",
    ),
    "act-on-access": (
        OWN + "GiveAccess(own, lab)",
        "",
        OWN,
        "",
    ),
    "accounting-in-60-days": (
        "OpenRequest(list) OpenPatientFile(clara) Wait(57) SetScope(list, last 12 months) SendAccounting(list)",
        "",
        "OpenRequest(list) OpenPatientFile(clara) Wait(58) SetScope(list, last 12 months) SendAccounting(list)",
        "",
    ),
    "first-accounting-free": (
        LIST + "QuoteFee(clara, 12) ChargeFee(list, 12)",
        "",
        LIST + "QuoteFee(clara, 12) ChargeFee(list, 12)",
        "requests.list.earlier_list = none within 12 months",
    ),
    "fee-told-in-advance": (
        LIST + "QuoteFee(clara, 12) ChargeFee(list, 12)",
        "",
        LIST + "QuoteFee(clara, 12) ChargeFee(list, 13)",
        "",
    ),
    "no-needless-quote": (
        "OpenRequest(list) QuoteFee(clara, 12)",
        "",
        "OpenRequest(list) QuoteFee(clara, 12)",
        "requests.list.earlier_list = none within 12 months",
    ),
    "refused-for-want-of-authorization": (
        "OpenRequest(suit) FindAuthorization(suit) DeclineRequest(suit, no valid authorization)",
        "authorizations.for-suit.status = revoked",
        "OpenRequest(claim) FindAuthorization(claim) DeclineRequest(claim, no valid authorization)",
        "",
    ),
    "not-refused-despite-authorization": (
        "OpenRequest(suit) FindRecord(suit, imaging report) FindAuthorization(suit) "
        "DeclineRequest(suit, no valid authorization)",
        "",
        "OpenRequest(suit) FindRecord(suit, lab results) FindAuthorization(suit) "
        "DeclineRequest(suit, no valid authorization)",
        "",
    ),
    "flyer-not-refused-despite-authorization": (
        "OpenRequest(flyer) FindAuthorization(flyer) DeclineRequest(flyer, no valid authorization)",
        "authorizations.for-flyer.mentions_payment = False",
        "OpenRequest(flyer) FindAuthorization(flyer) DeclineRequest(flyer, no valid authorization)",
        "authorizations.for-flyer.mentions_payment = False; requests.flyer.paid_by_third_party = False",
    ),
    "refused-for-doubtful-identity": (
        "OpenRequest(order) VerifyRequester(order, official credentials) "
        "DeclineRequest(order, identity not established)",
        "requesters.by-order.known = False; requesters.by-order.proof = missing",
        "OpenRequest(order) VerifyRequester(order, call back) DeclineRequest(order, identity not established)",
        "requesters.by-order.known = False",
    ),
    "refused-for-restriction": (
        "OpenRequest(treat) OpenPatientFile(clara) DeclineRequest(treat, agreed restriction)",
        "patients.clara.restriction = nothing to other providers",
        "OpenRequest(emergency) OpenPatientFile(clara) DeclineRequest(emergency, agreed restriction)",
        "patients.clara.restriction = nothing to other providers",
    ),
    "refused-subpoena": (
        "OpenRequest(subpoena) DeclineRequest(subpoena, no assurance from the party)",
        "requests.subpoena.assurance = none",
        "OpenRequest(subpoena) DeclineRequest(subpoena, no assurance from the party)",
        "",
    ),
    "refused-excess": (
        "OpenRequest(claim) FindRecord(claim, imaging report) DeclineRequest(claim, more than was asked for)",
        "",
        "OpenRequest(treat) FindRecord(treat, imaging report) DeclineRequest(treat, more than was asked for)",
        "",
    ),
    "refused-representative": (
        THEO + "DeclineRequest(theo, requester may not act for the patient)",
        "records.shots.care_agreed_by = the minor alone",
        THEO + "VerifyRequester(theo, call back) DeclineRequest(theo, requester may not act for the patient)",
        "",
    ),
    "refused-access": (
        "OpenRequest(own) FindRecord(own, psychotherapy notes) DeclineRequest(own, psychotherapy notes) "
        "SendLetter(own, denial of access)",
        "",
        "OpenRequest(own) FindRecord(own, lab results) DeclineRequest(own, psychotherapy notes) "
        "SendLetter(own, denial of access)",
        "",
    ),
    "refused-relative": (
        "OpenRequest(news) AskOpinion(news, patient) DeclineRequest(news, patient objects)",
        "requests.news.patient_answer = objects",
        "OpenRequest(news) AskOpinion(news, clinician) DeclineRequest(news, clinician advises against it)",
        "requests.news.clinician_answer = objects",
    ),
    "refused-room": (
        "OpenRequest(room) OpenPatientFile(clara) DeclineRequest(room, not in the directory)",
        "patients.clara.directory = not listed",
        "OpenRequest(room) OpenPatientFile(clara) DeclineRequest(room, not in the directory)",
        "",
    ),
    "refused-fee": (
        "OpenRequest(list) QuoteFee(clara, 12) DeclineRequest(list, fee not accepted)",
        "requests.list.accepts_fee = False",
        "OpenRequest(list) DeclineRequest(list, no fee is due)",
        "",
    ),
    "denial-in-writing": (
        "OpenRequest(own) FindRecord(own, lab results) DeclineRequest(own, danger found by a clinician) "
        "SendLetter(own, denial of access with right to review)",
        "records.lab.finding = access may endanger life",
        "OpenRequest(own) FindRecord(own, lab results) DeclineRequest(own, danger found by a clinician)",
        "records.lab.finding = access may endanger life",
    ),
    "true-letter": (
        "OpenRequest(own) FindRecord(own, psychotherapy notes) DeclineRequest(own, psychotherapy notes) "
        "SendLetter(own, denial of access)",
        "",
        "OpenRequest(own) FindRecord(own, psychotherapy notes) DeclineRequest(own, psychotherapy notes) "
        "SendLetter(own, denial of access) SendLetter(own, denial of access with right to review)",
        "",
    ),
    "denial-in-30-days": (
        "OpenRequest(own) FindRecord(own, psychotherapy notes) DeclineRequest(own, psychotherapy notes) "
        "Wait(27) SendLetter(own, denial of access)",
        "",
        "OpenRequest(own) FindRecord(own, psychotherapy notes) DeclineRequest(own, psychotherapy notes) "
        "Wait(28) SendLetter(own, denial of access)",
        "",
    ),
    "assess-before-closing": (
        "OpenIncident(laptop) " + LOGGED + "CloseIncident(laptop)",
        "",
        "OpenIncident(laptop) CloseIncident(laptop) " + LOGGED,
        "",
    ),
    "presumed-breach": (
        "OpenIncident(laptop) RecordFinding(risk, low probability of compromise) CloseIncident(laptop)",
        "assessments.risk.risk = low probability of compromise",
        "OpenIncident(laptop) RecordFinding(risk, low probability of compromise) " + LOGGED + "CloseIncident(laptop)",
        "",
    ),
    "scope-before-disclosure": (
        EMERGENCY + "ReleaseRecord(emergency, lab)",
        "",
        "OpenRequest(claim) OpenPatientFile(clara) FindRecord(claim, lab results) ReleaseRecord(claim, lab)",
        "",
    ),
    "scope-of-the-request": (
        CLAIM + "ReleaseRecord(claim, lab)",
        "",
        CLAIM + "ReleaseRecord(claim, lab)",
        "requests.claim.period = last visit",
    ),
    "scope-of-the-authorization": (
        LIFE + "ReleaseRecord(life, lab)",
        "requests.life.period = last 6 years",
        LIFE + "ReleaseRecord(life, lab)",
        "authorizations.for-life.period = last visit",
    ),
    "scope-of-news": (
        NEWS + "TellFamily(news)",
        "",
        NEWS + "TellFamily(news)",
        "requests.news.involvement = transport",
    ),
    "scope-of-the-directory": (
        "OpenRequest(room) OpenPatientFile(clara) SetScope(room, room only) TellRoom(room)",
        "",
        "OpenRequest(room) OpenPatientFile(clara) SetScope(room, room and condition) TellRoom(room)",
        "",
    ),
    "notice-names-the-information": (
        "OpenIncident(laptop) " + LOGGED,
        "",
        "OpenIncident(laptop) " + LOGGED,
        "incidents.laptop.information = bank details",
    ),
    "log-of-small-breaches": (
        "OpenIncident(laptop) " + LOGGED,
        "",
        "OpenIncident(laptop) " + LOGGED + "ReportToSecretary(laptop, at once)",
        "incidents.laptop.people_affected = 500",
    ),
    "people-notified": (
        "OpenIncident(laptop) RecordFinding(risk, data were encrypted) CloseIncident(laptop)",
        "assessments.risk.data = encrypted",
        "OpenIncident(laptop) RecordFinding(risk, breach) ReportToSecretary(laptop, yearly log) CloseIncident(laptop)",
        "",
    ),
    "notified-by-the-right-means": (
        "OpenIncident(laptop) " + LOGGED.replace("first-class mail", "substitute notice"),
        "mailing_lists.people.reachable_by = no current address",
        "OpenIncident(laptop) " + LOGGED.replace("first-class mail", "e-mail"),
        "",
    ),
    "notified-in-60-days": (
        "OpenIncident(laptop) " + LOGGED + "OrderForensicReport(laptop) CloseIncident(laptop)",
        LONG_KNOWN,
        "OpenIncident(laptop) OrderForensicReport(laptop) " + LOGGED + "CloseIncident(laptop)",
        LONG_KNOWN,
    ),
    "no-notice-during-hold": (
        "OpenIncident(laptop) Wait(39) " + LOGGED,
        HELD,
        "OpenIncident(laptop) Wait(38) " + LOGGED,
        HELD,
    ),
    "no-idle-wait-before-notice": (
        "OpenIncident(laptop) " + LOGGED + "Wait(1) CloseIncident(laptop)",
        "",
        "OpenIncident(laptop) Wait(1) " + LOGGED + "CloseIncident(laptop)",
        "",
    ),
    "media-over-500": (
        "OpenIncident(laptop) " + AT_ONCE + "NotifyMedia(laptop, Ohio)",
        "incidents.laptop.people_affected = 501",
        "OpenIncident(laptop) " + AT_ONCE + "NotifyMedia(laptop, Vermont)",
        "incidents.laptop.people_affected = 501",
    ),
    "media-and-secretary-in-60-days": (
        "OpenIncident(laptop) " + NOTIFY + "Wait(11) ReportToSecretary(laptop, at once)",
        "incidents.laptop.people_affected = 500; " + LONG_KNOWN,
        "OpenIncident(laptop) " + NOTIFY + "Wait(12) ReportToSecretary(laptop, at once)",
        "incidents.laptop.people_affected = 500; " + LONG_KNOWN,
    ),
    "no-public-notice-during-hold": (
        "OpenIncident(laptop) Wait(39) " + AT_ONCE,
        "incidents.laptop.people_affected = 500; " + HELD,
        "OpenIncident(laptop) ReportToSecretary(laptop, at once) Wait(39) " + NOTIFY,
        "incidents.laptop.people_affected = 500; " + HELD,
    ),
    "secretary-from-500": (
        "OpenIncident(laptop) " + AT_ONCE,
        "incidents.laptop.people_affected = 500",
        "OpenIncident(laptop) " + LOGGED,
        "incidents.laptop.people_affected = 500",
    ),
    "yearly-log-below-500": (
        "OpenIncident(laptop) " + LOGGED,
        "incidents.laptop.people_affected = 499",
        "OpenIncident(laptop) " + AT_ONCE,
        "incidents.laptop.people_affected = 499",
    ),
}


def test_every_rule_has_an_example() -> None:
    assert set(RULES) == set(compiled_rules())


@pytest.mark.parametrize("rule", RULES)
def test_a_program_keeps_the_rule_and_another_breaks_it(rule: str) -> None:
    keeping, kept_in, breaking, broken_in = RULES[rule]
    assert broken(run(keeping, kept_in)) == set()
    assert rule in broken(run(breaking, broken_in))


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
