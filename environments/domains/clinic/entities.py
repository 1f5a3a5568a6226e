"""The tables of the clinic environment."""

from lawtrace.environments.spec import BOOLEAN, DATE, INTEGER, MONEY, TEXT, Choice, Entity, Field

CATEGORY = Choice(("release", "own records", "accounting", "family", "room", "flyer"))
"""What is asked: a copy for someone else, access to one's own records, a list of past disclosures, news for a relative,
the room of a patient, a flyer for a patient."""

PURPOSE = Choice(
    (
        "treatment",
        "emergency treatment",
        "payment of a claim",
        "life insurance",
        "lawsuit",
        "subpoena",
        "court order",
        "disease surveillance",
        "own use",
        "visit or news",
        "marketing",
        "refill reminder",
    )
)
RECORD_KIND = Choice(
    (
        "visit summary",
        "lab results",
        "imaging report",
        "immunization record",
        "billing statement",
        "psychotherapy notes",
    )
)
REQUESTER_KIND = Choice(
    (
        "provider",
        "insurer",
        "law firm",
        "court",
        "health department",
        "patient",
        "parent",
        "relative",
        "visitor",
        "company",
    )
)
PROOF = Choice(("photo identification", "official credentials", "call back"))
GROUND = Choice(
    (
        "no valid authorization",
        "identity not established",
        "agreed restriction",
        "no assurance from the party",
        "more than was asked for",
        "requester may not act for the patient",
        "psychotherapy notes",
        "danger found by a clinician",
        "patient objects",
        "clinician advises against it",
        "not in the directory",
        "no fee is due",
        "fee not accepted",
    )
)

FINDING = Choice(("data were encrypted", "low probability of compromise", "breach"))
MEANS = Choice(("first-class mail", "e-mail", "substitute notice"))
LETTER = Choice(
    (
        "denial of access",
        "denial of access with right to review",
        "delay of 30 days",
        "delay of 45 days",
        "no further use",
    )
)
CHANNEL = Choice(("at once", "yearly log"))

PERIOD = Choice(("last visit", "last 12 months", "last 3 years", "last 6 years"))
INVOLVEMENT = Choice(("care at home", "medication", "bills", "transport"))
DIRECTORY = Choice(("room and condition", "room only", "condition only", "presence only", "not listed"))
SCOPE = Choice((*PERIOD.options, *INVOLVEMENT.options, *DIRECTORY.options[:4]))
INFORMATION = Choice(("names and birth dates", "diagnoses", "insurance numbers", "bank details"))

PATIENTS = Entity(
    table="patients",
    singular="patient",
    key="patient_id",
    fields={
        "patient_id": Field(TEXT),
        "name": Field(TEXT),
        "age_group": Field(Choice(("adult", "minor"))),
        # What the clinic has agreed with the patient to keep back.
        "restriction": Field(
            Choice(("none", "nothing to insurers", "nothing to other providers", "nothing to relatives"))
        ),
        # What callers may be told.
        "directory": Field(DIRECTORY),
        "condition": Field(Choice(("able to decide", "unable to decide"))),
    },
)

CONTACTS = Entity(
    table="contacts",
    singular="contact",
    key="contact_id",
    fields={
        "contact_id": Field(TEXT),
        "patient_id": Field(TEXT),
        "address": Field(TEXT),
        # A place for confidential mail that the patient asked for, and may have taken back.
        "status": Field(Choice(("in force", "withdrawn"))),
    },
)

REQUESTERS = Entity(
    table="requesters",
    singular="requester",
    key="requester_id",
    fields={
        "requester_id": Field(TEXT),
        "name": Field(TEXT),
        "kind": Field(REQUESTER_KIND),
        "known": Field(BOOLEAN),
        "proof": Field(Choice(("complete", "missing"))),
    },
)

REQUESTS = Entity(
    table="requests",
    singular="request",
    key="request_id",
    fields={
        "request_id": Field(TEXT),
        "category": Field(CATEGORY),
        "patient_id": Field(TEXT),
        "patient_name": Field(TEXT),
        "requester_id": Field(TEXT),
        "requester_name": Field(TEXT),
        "purpose": Field(PURPOSE),
        "asks_for": Field(RECORD_KIND),
        # From when the records or the disclosures are asked for.
        "period": Field(PERIOD),
        # A relative's part in the care.
        "involvement": Field(INVOLVEMENT),
        "received_on": Field(DATE),
        # For a subpoena: what the party that had it issued has shown in writing.
        "assurance": Field(Choice(("none", "patient was told and did not object", "protective order sought"))),
        # For a flyer: whether a third party pays for it. For a list of disclosures: whether there was another one.
        "paid_by_third_party": Field(BOOLEAN),
        "earlier_list": Field(Choice(("none within 12 months", "one within 12 months"))),
        "accepts_fee": Field(BOOLEAN),
        # For news to a relative.
        "patient_answer": Field(Choice(("agrees", "objects"))),
        "clinician_answer": Field(Choice(("agrees", "objects"))),
    },
)

RECORDS = Entity(
    table="records",
    singular="record",
    key="record_id",
    fields={
        "record_id": Field(TEXT),
        "patient_id": Field(TEXT),
        "kind": Field(RECORD_KIND),
        "location": Field(Choice(("on site", "in the archive"))),
        "care_agreed_by": Field(Choice(("the patient", "a parent", "the minor alone"))),
        "finding": Field(Choice(("none", "access may endanger life"))),
    },
)

AUTHORIZATIONS = Entity(
    table="authorizations",
    singular="authorization",
    key="authorization_id",
    fields={
        "authorization_id": Field(TEXT),
        "patient_id": Field(TEXT),
        "requester_id": Field(TEXT),
        "covers": Field(Choice((*RECORD_KIND.options, "marketing"))),
        "status": Field(Choice(("in force", "expired", "revoked"))),
        "period": Field(PERIOD),
        "mentions_payment": Field(BOOLEAN),
    },
)

MANDATES = Entity(
    table="mandates",
    singular="mandate",
    key="mandate_id",
    fields={
        "mandate_id": Field(TEXT),
        "patient_id": Field(TEXT),
        "requester_id": Field(TEXT),
        "status": Field(Choice(("in force", "ended"))),
    },
)

INCIDENTS = Entity(
    table="incidents",
    singular="incident",
    key="incident_id",
    fields={
        "incident_id": Field(TEXT),
        "title": Field(TEXT),
        "discovered_on": Field(DATE),
        "people_affected": Field(INTEGER),
        "information": Field(INFORMATION),
        "state": Field(TEXT),
        # A written statement of a law enforcement official that a notice would impede an investigation.
        "police_statement": Field(Choice(("none", "in writing"))),
        "hold_until": Field(DATE),
        "status": Field(Choice(("open", "closed"))),
        "forensic_report": Field(Choice(("none", "received"))),
    },
)

ASSESSMENTS = Entity(
    table="assessments",
    singular="assessment",
    key="assessment_id",
    fields={
        "assessment_id": Field(TEXT),
        "incident_id": Field(TEXT),
        "data": Field(Choice(("readable", "encrypted"))),
        "risk": Field(Choice(("low probability of compromise", "not shown to be low"))),
    },
)

MAILING_LISTS = Entity(
    table="mailing_lists",
    singular="mailing list",
    key="list_id",
    fields={
        "list_id": Field(TEXT),
        "incident_id": Field(TEXT),
        "reachable_by": Field(Choice(("postal address", "e-mail as agreed", "no current address"))),
    },
)


def _log(table: str, singular: str, key: str, prefix: str, **fields: Field) -> Entity:
    return Entity(table, singular, key, {key: Field(TEXT), **fields}, key_prefix=prefix)


RELEASES = _log("releases", "release", "release_id", "RL-", request_id=Field(TEXT), record_id=Field(TEXT))
ACCESSES = _log("accesses", "access", "access_id", "AC-", request_id=Field(TEXT), record_id=Field(TEXT))
ACCOUNTINGS = _log("accountings", "list of disclosures", "accounting_id", "LD-", request_id=Field(TEXT))
FEES = _log("fees", "fee", "fee_id", "FE-", request_id=Field(TEXT), amount=Field(MONEY))
NEWS = _log("news", "piece of news", "news_id", "NW-", request_id=Field(TEXT))
ROOMS_TOLD = _log("rooms_told", "room told", "room_id", "RM-", request_id=Field(TEXT))
FLYERS = _log("flyers", "flyer", "flyer_id", "FL-", request_id=Field(TEXT))
REFUSALS = _log("refusals", "refusal", "refusal_id", "NO-", request_id=Field(TEXT), ground=Field(GROUND))

CITATIONS = _log("citations", "citation", "citation_id", "CI-", request_id=Field(TEXT), authorization_id=Field(TEXT))
SCOPES_SET = _log("scopes_set", "scope set", "scope_id", "SC-", request_id=Field(TEXT), scope=Field(SCOPE))
ADDRESSES_SET = _log(
    "addresses_set", "address set", "setting_id", "AD-", request_id=Field(TEXT), contact_id=Field(TEXT)
)
DISCLOSURE_LOG = _log("disclosure_log", "log line", "line_id", "DL-", request_id=Field(TEXT), patient_id=Field(TEXT))
FEE_QUOTES = _log("fee_quotes", "quote", "quote_id", "QU-", patient_id=Field(TEXT), amount=Field(MONEY))
LETTERS = _log("letters", "letter", "letter_id", "LE-", request_id=Field(TEXT), content=Field(LETTER))
FINDINGS = _log("findings", "finding", "finding_id", "FI-", assessment_id=Field(TEXT), finding=Field(FINDING))
NOTICES = _log(
    "notices", "notice", "notice_id", "NT-", list_id=Field(TEXT), means=Field(MEANS), information=Field(INFORMATION)
)
PRESS_NOTICES = _log(
    "press_notices", "press notice", "press_notice_id", "PN-", incident_id=Field(TEXT), state=Field(TEXT)
)
REPORTS = _log("reports", "report", "report_id", "RE-", incident_id=Field(TEXT), channel=Field(CHANNEL))

SESSION = Entity("session", "session", "session_id", {"session_id": Field(TEXT), "today": Field(DATE)})

ENTITIES = {
    entity.table: entity
    for entity in (
        PATIENTS,
        CONTACTS,
        REQUESTERS,
        REQUESTS,
        RECORDS,
        AUTHORIZATIONS,
        MANDATES,
        INCIDENTS,
        ASSESSMENTS,
        MAILING_LISTS,
        RELEASES,
        ACCESSES,
        ACCOUNTINGS,
        FEES,
        NEWS,
        ROOMS_TOLD,
        FLYERS,
        REFUSALS,
        CITATIONS,
        SCOPES_SET,
        ADDRESSES_SET,
        DISCLOSURE_LOG,
        FEE_QUOTES,
        LETTERS,
        FINDINGS,
        NOTICES,
        PRESS_NOTICES,
        REPORTS,
        SESSION,
    )
}
