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
DECLINED = s.Choice(("the request", "a fee for it"))
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
        "not allowed by the directory",
        "no fee is due",
        "fee not accepted",
    )
)

FINDING = s.Choice(("data were encrypted", "low probability of compromise", "breach"))
MEANS = s.Choice(("first-class mail", "e-mail", "telephone", "posting on the home page"))
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
MEDIA = s.Choice(("told", "not told"))

PERIOD = s.Choice(("last visit", "last 12 months", "last 3 years", "last 6 years"))
INVOLVEMENT = s.Choice(("care at home", "medication", "bills", "transport"))
DIRECTORY = s.Choice(("room and condition", "room only", "condition only", "presence only", "not listed"))
STATE_LAW = s.Choice(("permits access by a parent", "forbids access by a parent", "is silent"))
SCOPE = s.Choice((*PERIOD.options, *INVOLVEMENT.options))
PAYMENT = s.Choice(("none", "up to the cost of the mailing", "more than the cost of the mailing"))
INFORMATION = s.Choice(("names and birth dates", "diagnoses", "insurance numbers", "bank details"))

PATIENTS = s.table(
    "patients",
    "patient",
    patient_id=s.TEXT,
    name=s.TEXT,
    age_group=s.Choice(("adult", "minor")),
    # What the clinic has agreed with the patient to keep back.
    restriction=s.Choice(("none", "nothing to insurers", "nothing to other providers", "nothing to relatives")),
    # What callers may be told.
    directory=DIRECTORY,
    condition=s.Choice(("able to decide", "unable to decide")),
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

REQUESTERS = s.table(
    "requesters",
    "requester",
    requester_id=s.TEXT,
    name=s.TEXT,
    kind=REQUESTER_KIND,
    known=s.BOOLEAN,
    proof=s.Choice(("complete", "missing")),
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
    # For a flyer: what the company pays the clinic for it. For a list of disclosures: whether there was another one.
    payment=PAYMENT,
    earlier_list=s.Choice(("none within 12 months", "one within 12 months")),
    accepts_fee=s.BOOLEAN,
    # For news to a relative.
    patient_answer=s.Choice(("agrees", "objects")),
    clinician_answer=s.Choice(("agrees", "objects")),
    # What the answer is limited to.
    scope=s.Choice(("everything", *SCOPE.options)),
)

RECORDS = s.table(
    "records",
    "record",
    record_id=s.TEXT,
    patient_id=s.TEXT,
    kind=RECORD_KIND,
    location=s.Choice(("on site", "in the archive")),
    care_agreed_by=s.Choice(("the patient", "a parent", "the minor alone")),
    # What the law of the state says of access by a parent to a record of care to which the minor alone agreed.
    state_law=STATE_LAW,
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
    status=s.Choice(("open", "closed")),
    forensic_report=s.Choice(("none", "received")),
)

# A written statement of a law enforcement official that a notice would impede an investigation until a day.
HOLDS = s.table(
    "holds", "hold", hold_id=s.TEXT, incident_id=s.TEXT, police_statement=s.Choice(("none", "in writing")), until=s.DATE
)

ASSESSMENTS = s.table(
    "assessments",
    "assessment",
    assessment_id=s.TEXT,
    incident_id=s.TEXT,
    data=s.Choice(("readable", "encrypted", "on paper")),
    risk=s.Choice(("low probability of compromise", "not shown to be low")),
)

MAILING_LISTS = s.table(
    "mailing_lists",
    "mailing list",
    list_id=s.TEXT,
    incident_id=s.TEXT,
    reachable_by=s.Choice(("postal address", "e-mail as agreed", "no current address")),
)


# What happens without a call.
REVOCATIONS = s.table("revocations", "revocation", revocation_id=s.TEXT, authorization_id=s.TEXT, arrives=s.MOMENT)
STATEMENTS = s.table("statements", "statement", statement_id=s.TEXT, incident_id=s.TEXT, until=s.DATE, arrives=s.MOMENT)
OPINIONS_DUE = s.table("opinions_due", "opinion due", prefix="OD-", due_id=s.TEXT, request_id=s.TEXT, arrives=s.MOMENT)
NOTICES_DUE = s.table(
    "notices_due",
    "planned notice",
    prefix="ND-",
    due_id=s.TEXT,
    incident_id=s.TEXT,
    means=MEANS,
    information=INFORMATION,
    channel=CHANNEL,
    media=MEDIA,
    planned=s.MOMENT,
)

RELEASES = s.table("releases", "release", prefix="RL-", release_id=s.TEXT, request_id=s.TEXT, record_id=s.TEXT)
ACCESSES = s.table("accesses", "access", prefix="AC-", access_id=s.TEXT, request_id=s.TEXT, record_id=s.TEXT)
ACCOUNTINGS = s.table("accountings", "list of disclosures", prefix="LD-", accounting_id=s.TEXT, request_id=s.TEXT)
FEES = s.table("fees", "fee", prefix="FE-", fee_id=s.TEXT, request_id=s.TEXT, amount=s.MONEY)
NEWS = s.table("news", "piece of news", prefix="NW-", news_id=s.TEXT, request_id=s.TEXT)
ROOMS_TOLD = s.table("rooms_told", "room told", prefix="RM-", room_id=s.TEXT, request_id=s.TEXT)
FLYERS = s.table("flyers", "flyer", prefix="FL-", flyer_id=s.TEXT, request_id=s.TEXT)
REFUSALS = s.table(
    "refusals", "refusal", prefix="NO-", refusal_id=s.TEXT, request_id=s.TEXT, request=DECLINED, ground=GROUND
)

OPINIONS = s.table(
    "opinions", "opinion", prefix="OP-", opinion_id=s.TEXT, request_id=s.TEXT, opinion=s.Choice(("agrees", "objects"))
)
CITATIONS = s.table("citations", "citation", prefix="CI-", citation_id=s.TEXT, request_id=s.TEXT)
ADDRESSES_SET = s.table("addresses_set", "address set", prefix="AD-", setting_id=s.TEXT, request_id=s.TEXT)
DISCLOSURE_LOG = s.table(
    "disclosure_log", "log line", prefix="DL-", line_id=s.TEXT, request_id=s.TEXT, patient_id=s.TEXT
)
FEE_QUOTES = s.table("fee_quotes", "quote", prefix="QU-", quote_id=s.TEXT, patient_id=s.TEXT, amount=s.MONEY)
LETTERS = s.table("letters", "letter", prefix="LE-", letter_id=s.TEXT, request_id=s.TEXT, content=LETTER)
FINDINGS = s.table("findings", "finding", prefix="FI-", finding_id=s.TEXT, incident_id=s.TEXT, finding=FINDING)
NOTICES = s.table(
    "notices", "notice", prefix="NT-", notice_id=s.TEXT, incident_id=s.TEXT, means=MEANS, information=INFORMATION
)
PRESS_NOTICES = s.table(
    "press_notices", "press notice", prefix="PN-", press_notice_id=s.TEXT, incident_id=s.TEXT, state=s.TEXT
)
REPORTS = s.table("reports", "report", prefix="RE-", report_id=s.TEXT, incident_id=s.TEXT, channel=CHANNEL)

SESSION = s.table("session", "session", session_id=s.TEXT, today=s.DATE)

ENTITIES = s.tables_of(globals())
