"""The facts of an initial state that the law turns on."""

from lawtrace.environments import spec as s

from . import entities as e
from .initial_state import LATELY, LONG_AGO, RECENTLY, WEEKS_AGO

FACTS = (
    s.Fact("purpose of an insurer", e.REQUESTS, "purpose", ("payment of a claim", "life insurance")),
    s.Fact("purpose of a provider", e.REQUESTS, "purpose", ("treatment", "emergency treatment")),
    s.Fact("purpose of a law firm", e.REQUESTS, "purpose", ("lawsuit", "subpoena")),
    s.Fact("purpose of a flyer", e.REQUESTS, "purpose", ("marketing", "refill reminder")),
    s.Fact("record asked for", e.REQUESTS, "asks_for", e.RECORD_KIND.options),
    s.Fact("period asked for", e.REQUESTS, "period", e.PERIOD.options),
    s.Fact("part of a relative in the care", e.REQUESTS, "involvement", e.INVOLVEMENT.options),
    s.Fact("day of the request", e.REQUESTS, "received_on", (LONG_AGO, LATELY)),
    s.Fact("assurance for a subpoena", e.REQUESTS, "assurance", ("none", "patient was told and did not object")),
    s.Fact("payment for a flyer", e.REQUESTS, "payment", e.PAYMENT.options),
    s.Fact(
        "earlier list of disclosures", e.REQUESTS, "earlier_list", ("none within 12 months", "one within 12 months")
    ),
    s.Fact("acceptance of the fee", e.REQUESTS, "accepts_fee", (True, False)),
    s.Fact("answer of the patient", e.REQUESTS, "patient_answer", ("agrees", "objects")),
    s.Fact("judgement of the clinician", e.REQUESTS, "clinician_answer", ("agrees", "objects")),
    s.Fact("capacity of the patient", e.PATIENTS, "condition", ("able to decide", "unable to decide")),
    s.Fact(
        "agreed restriction",
        e.PATIENTS,
        "restriction",
        ("none", "nothing to insurers", "nothing to other providers", "nothing to relatives"),
    ),
    s.Fact("entry in the directory", e.PATIENTS, "directory", e.DIRECTORY.options),
    s.Fact("confidential address", e.CONTACTS, "status", ("in force", "withdrawn")),
    s.Fact("acquaintance with the requester", e.REQUESTERS, "known", (True, False)),
    s.Fact("proof of identity", e.REQUESTERS, "proof", ("complete", "missing")),
    s.Fact("authorization", e.AUTHORIZATIONS, "status", ("in force", "expired", "revoked")),
    s.Fact("coverage of the authorization", e.AUTHORIZATIONS, "covers", e.RECORD_KIND.options),
    s.Fact("period of the authorization", e.AUTHORIZATIONS, "period", e.PERIOD.options),
    s.Fact("payment in the authorization", e.AUTHORIZATIONS, "mentions_payment", (True, False)),
    s.Fact("power to act for the patient", e.MANDATES, "status", ("in force", "ended")),
    s.Fact("consent to a minor's care", e.RECORDS, "care_agreed_by", ("a parent", "the minor alone")),
    s.Fact("state law on a parent's access", e.RECORDS, "state_law", e.STATE_LAW.options),
    s.Fact("danger of access", e.RECORDS, "finding", ("none", "access may endanger life")),
    s.Fact("day of discovery", e.INCIDENTS, "discovered_on", (WEEKS_AGO, RECENTLY)),
    s.Fact("people affected", e.INCIDENTS, "people_affected", (499, 500, 501)),
    s.Fact("few people affected", e.INCIDENTS, "people_affected", (9, 10)),
    s.Fact("kind of information lost", e.INCIDENTS, "information", e.INFORMATION.options),
    s.Fact("statement of the police", e.HOLDS, "police_statement", ("none", "in writing")),
    s.Fact("protection of the data", e.ASSESSMENTS, "data", ("readable", "encrypted")),
    s.Fact("risk", e.ASSESSMENTS, "risk", ("not shown to be low", "low probability of compromise")),
    s.Fact(
        "way to reach the people",
        e.MAILING_LISTS,
        "reachable_by",
        ("postal address", "e-mail as agreed", "no current address"),
    ),
)
