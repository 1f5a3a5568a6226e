"""The tables of the clinic environment."""

from lawtrace.environments import spec as s

CATEGORY = s.Choice(("release", "own records", "accounting", "family", "room", "flyer"))
"""What is asked: a copy for someone else, access to one's own records, a list of past disclosures, news for a relative,
the room of a patient, a flyer for a patient."""

PURPOSE = s.Choice(
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
RECORD_KIND = s.Choice(
    (
        "visit summary",
        "lab results",
        "imaging report",
        "immunization record",
        "billing statement",
        "psychotherapy notes",
    )
)
REQUESTER_KIND = s.Choice(
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
PROOF = s.Choice(("photo identification", "official credentials", "call back"))
GROUND = s.Choice(
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

FINDING = s.Choice(("data were encrypted", "low probability of compromise", "breach"))
MEANS = s.Choice(("first-class mail", "e-mail", "substitute notice"))
LETTER = s.Choice(
    (
        "denial of access",
        "denial of access with right to review",
        "delay of 30 days",
        "delay of 45 days",
        "no further use",
    )
)
CHANNEL = s.Choice(("at once", "yearly log"))

PERIOD = s.Choice(("last visit", "last 12 months", "last 3 years", "last 6 years"))
INVOLVEMENT = s.Choice(("care at home", "medication", "bills", "transport"))
DIRECTORY = s.Choice(("room and condition", "room only", "condition only", "presence only", "not listed"))
SCOPE = s.Choice((*PERIOD.options, *INVOLVEMENT.options, *DIRECTORY.options[:4]))
INFORMATION = s.Choice(("names and birth dates", "diagnoses", "insurance numbers", "bank details"))

PATIENTS = s.Entity(
    table="patients",
    singular="patient",
    key="patient_id",
    fields={
        "patient_id": s.Field(s.TEXT),
        "name": s.Field(s.TEXT),
        "age_group": s.Field(s.Choice(("adult", "minor"))),
        # What the clinic has agreed with the patient to keep back.
        "restriction": s.Field(
            s.Choice(("none", "nothing to insurers", "nothing to other providers", "nothing to relatives"))
        ),
        # What callers may be told.
        "directory": s.Field(DIRECTORY),
        "condition": s.Field(s.Choice(("able to decide", "unable to decide"))),
    },
)

CONTACTS = s.table(
    "contacts",
    "contact",
    contact_id=s.TEXT,
    patient_id=s.TEXT,
    address=s.TEXT,
    # A place for confidential mail that the patient asked for, and may have taken back.
    status=s.Choice(("in force", "withdrawn")),
)

REQUESTERS = s.Entity(
    table="requesters",
    singular="requester",
    key="requester_id",
    fields={
        "requester_id": s.Field(s.TEXT),
        "name": s.Field(s.TEXT),
        "kind": s.Field(REQUESTER_KIND),
        "known": s.Field(s.BOOLEAN),
        "proof": s.Field(s.Choice(("complete", "missing"))),
    },
)

REQUESTS = s.table(
    "requests",
    "request",
    request_id=s.TEXT,
    category=CATEGORY,
    patient_id=s.TEXT,
    patient_name=s.TEXT,
    requester_id=s.TEXT,
    requester_name=s.TEXT,
    purpose=PURPOSE,
    asks_for=RECORD_KIND,
    # From when the records or the disclosures are asked for.
    period=PERIOD,
    # A relative's part in the care.
    involvement=INVOLVEMENT,
    received_on=s.DATE,
    # For a subpoena: what the party that had it issued has shown in writing.
    assurance=s.Choice(("none", "patient was told and did not object", "protective order sought")),
    # For a flyer: whether a third party pays for it. For a list of disclosures: whether there was another one.
    paid_by_third_party=s.BOOLEAN,
    earlier_list=s.Choice(("none within 12 months", "one within 12 months")),
    accepts_fee=s.BOOLEAN,
    # For news to a relative.
    patient_answer=s.Choice(("agrees", "objects")),
    clinician_answer=s.Choice(("agrees", "objects")),
)

RECORDS = s.table(
    "records",
    "record",
    record_id=s.TEXT,
    patient_id=s.TEXT,
    kind=RECORD_KIND,
    location=s.Choice(("on site", "in the archive")),
    care_agreed_by=s.Choice(("the patient", "a parent", "the minor alone")),
    finding=s.Choice(("none", "access may endanger life")),
)

AUTHORIZATIONS = s.table(
    "authorizations",
    "authorization",
    authorization_id=s.TEXT,
    patient_id=s.TEXT,
    requester_id=s.TEXT,
    covers=s.Choice((*RECORD_KIND.options, "marketing")),
    status=s.Choice(("in force", "expired", "revoked")),
    period=PERIOD,
    mentions_payment=s.BOOLEAN,
)

MANDATES = s.table(
    "mandates",
    "mandate",
    mandate_id=s.TEXT,
    patient_id=s.TEXT,
    requester_id=s.TEXT,
    status=s.Choice(("in force", "ended")),
)

INCIDENTS = s.table(
    "incidents",
    "incident",
    incident_id=s.TEXT,
    title=s.TEXT,
    discovered_on=s.DATE,
    people_affected=s.INTEGER,
    information=INFORMATION,
    state=s.TEXT,
    # A written statement of a law enforcement official that a notice would impede an investigation.
    police_statement=s.Choice(("none", "in writing")),
    hold_until=s.DATE,
    status=s.Choice(("open", "closed")),
    forensic_report=s.Choice(("none", "received")),
)

ASSESSMENTS = s.table(
    "assessments",
    "assessment",
    assessment_id=s.TEXT,
    incident_id=s.TEXT,
    data=s.Choice(("readable", "encrypted")),
    risk=s.Choice(("low probability of compromise", "not shown to be low")),
)

MAILING_LISTS = s.table(
    "mailing_lists",
    "mailing list",
    list_id=s.TEXT,
    incident_id=s.TEXT,
    reachable_by=s.Choice(("postal address", "e-mail as agreed", "no current address")),
)


def _log(table: str, singular: str, key: str, prefix: str, **fields: s.Field) -> s.Entity:
    return s.Entity(table, singular, key, {key: s.Field(s.TEXT), **fields}, key_prefix=prefix)


RELEASES = _log("releases", "release", "release_id", "RL-", request_id=s.Field(s.TEXT), record_id=s.Field(s.TEXT))
ACCESSES = _log("accesses", "access", "access_id", "AC-", request_id=s.Field(s.TEXT), record_id=s.Field(s.TEXT))
ACCOUNTINGS = _log("accountings", "list of disclosures", "accounting_id", "LD-", request_id=s.Field(s.TEXT))
FEES = _log("fees", "fee", "fee_id", "FE-", request_id=s.Field(s.TEXT), amount=s.Field(s.MONEY))
NEWS = _log("news", "piece of news", "news_id", "NW-", request_id=s.Field(s.TEXT))
ROOMS_TOLD = _log("rooms_told", "room told", "room_id", "RM-", request_id=s.Field(s.TEXT))
FLYERS = _log("flyers", "flyer", "flyer_id", "FL-", request_id=s.Field(s.TEXT))
REFUSALS = _log("refusals", "refusal", "refusal_id", "NO-", request_id=s.Field(s.TEXT), ground=s.Field(GROUND))

CITATIONS = _log(
    "citations", "citation", "citation_id", "CI-", request_id=s.Field(s.TEXT), authorization_id=s.Field(s.TEXT)
)
SCOPES_SET = _log("scopes_set", "scope set", "scope_id", "SC-", request_id=s.Field(s.TEXT), scope=s.Field(SCOPE))
ADDRESSES_SET = _log(
    "addresses_set", "address set", "setting_id", "AD-", request_id=s.Field(s.TEXT), contact_id=s.Field(s.TEXT)
)
DISCLOSURE_LOG = _log(
    "disclosure_log", "log line", "line_id", "DL-", request_id=s.Field(s.TEXT), patient_id=s.Field(s.TEXT)
)
FEE_QUOTES = _log("fee_quotes", "quote", "quote_id", "QU-", patient_id=s.Field(s.TEXT), amount=s.Field(s.MONEY))
LETTERS = _log("letters", "letter", "letter_id", "LE-", request_id=s.Field(s.TEXT), content=s.Field(LETTER))
FINDINGS = _log("findings", "finding", "finding_id", "FI-", assessment_id=s.Field(s.TEXT), finding=s.Field(FINDING))
NOTICES = _log(
    "notices",
    "notice",
    "notice_id",
    "NT-",
    list_id=s.Field(s.TEXT),
    means=s.Field(MEANS),
    information=s.Field(INFORMATION),
)
PRESS_NOTICES = _log(
    "press_notices", "press notice", "press_notice_id", "PN-", incident_id=s.Field(s.TEXT), state=s.Field(s.TEXT)
)
REPORTS = _log("reports", "report", "report_id", "RE-", incident_id=s.Field(s.TEXT), channel=s.Field(CHANNEL))

SESSION = s.Entity("session", "session", "session_id", {"session_id": s.Field(s.TEXT), "today": s.Field(s.DATE)})

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
