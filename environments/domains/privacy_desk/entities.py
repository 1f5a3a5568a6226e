"""The tables of the data-protection desk.

A *case* is what has come in about one record, which is one set of data about one person. Each record has one case, and
the other way round, so tools take the identifier of the case. What can change without a call of the desk stands in
tables of its own.
"""

from lawtrace.environments import spec as s

CASE_ID = s.Pattern("K-XXXX", r"K-\d{4}")
CONTACT_ID = s.Pattern("C-XXXX", r"C-\d{4}")
PARTNER_ID = s.Pattern("P-XXXX", r"P-\d{4}")
INCIDENT_ID = s.Pattern("I-XXXX", r"I-\d{4}")

RIGHTS = ("access", "rectification", "erasure", "restriction", "objection", "portability")
"""The matters of cases in which a person uses a right; a colleague asks for the others."""
MATTER = s.Choice((*RIGHTS, "passing on", "use again", "billing"))
CONTACT_KIND = s.Choice(("email", "post", "portal", "club"))
DETAIL = s.Choice(("date of birth", "membership number", "home club"))
BASIS = s.Choice(("consent", "contract", "legal obligation", "legitimate interests"))
RISK = s.Choice(("unlikely", "likely", "high"))
MEANS = s.Choice(("each person", "public notice"))
ESTABLISHMENTS = s.Choice(("Denmark", "Portugal", "Ireland"))

PEOPLE = s.table("people", "person", person_id=s.TEXT, name=s.TEXT, age=s.INTEGER, consent_age=s.INTEGER)

CONTACTS = s.table("contacts", "contact", contact_id=CONTACT_ID, person_id=s.TEXT, kind=CONTACT_KIND, address=s.TEXT)

CASES = s.table(
    "cases",
    "case",
    case_id=CASE_ID,
    person_id=s.TEXT,
    person_name=s.TEXT,
    data=s.TEXT,
    matter=MATTER,
    received=s.DATE,
    status=s.Choice(("open", "met", "declined")),
)

MESSAGES = s.table(
    "messages",
    "message",
    case_id=CASE_ID,
    sender=s.Choice(("on file", "not on file", "signed in", "confirmed")),
    proof=s.Choice(("sufficient", "insufficient")),
    write_by=CONTACT_KIND,
    character=s.Choice(("ordinary", "further copy", "repetitive", "unfounded")),
    comparable=DETAIL,
    # What is asked for, where the matter does not say it all.
    correction=s.TEXT,
    partner=s.TEXT,
    fee=s.MONEY,
)

RECORDS = s.table(
    "records",
    "record",
    record_id=s.TEXT,
    case_id=CASE_ID,
    # What is stored, and what the person says it should be.
    entry=s.TEXT,
    claimed=s.TEXT,
    category=s.Choice(("ordinary", "health")),
    purpose=s.Choice(("direct marketing", "running the clubs")),
    kept_for=s.Choice(("nothing else", "legal obligation", "legal claim")),
    held=s.Choice(("electronic", "on paper")),
    grounds=s.Choice(("compelling", "not compelling")),
    accuracy=s.Choice(("correct", "incorrect", "incomplete", "unchecked")),
    others=s.Choice(("in confidence", "in passing")),
    cost=s.MONEY,
    legal_basis=BASIS,
    document=s.TEXT,  # what the legal basis rests on
    # What a partner is to do with them.
    use=s.Choice(("same purpose", "compatible purpose", "incompatible purpose")),
    necessity=s.Choice(("necessary", "not necessary", "on consent")),
    abroad=s.Choice(("not asked", "agreed after warning")),
    objection=s.Choice(("none", "to direct marketing", "to this use")),
)

USES = s.table("uses", "use of data", case_id=CASE_ID, status=s.Choice(("in use", "restricted", "stopped", "erased")))

HOLDINGS = s.table(
    "holdings", "holding of data", case_id=CASE_ID, effort=s.Choice(("little", "complex", "many requests"))
)

CONSENTS = s.table(
    "consents",
    "consent",
    case_id=CASE_ID,
    consent=s.Choice(("none", "given", "expressly given", "withdrawn")),
    consent_by=s.Choice(("the person", "a parent")),
)

# What happens without a call.
WITHDRAWALS = s.table("withdrawals", "withdrawal", withdrawal_id=s.TEXT, case_id=CASE_ID, arrives=s.MOMENT)
PROOFS = s.table("proofs", "proof", proof_id=s.TEXT, case_id=CASE_ID, arrives=s.MOMENT)
COLLECTIONS = s.table(
    "collections", "collection", prefix="B-", collection_id=s.TEXT, case_id=CASE_ID, complete=s.MOMENT
)
LIFTINGS = s.table("liftings", "planned lifting", prefix="G-", lifting_id=s.TEXT, case_id=CASE_ID, planned=s.MOMENT)

PARTNERS = s.table(
    "partners",
    "partner",
    partner_id=PARTNER_ID,
    name=s.TEXT,
    country=s.TEXT,
    standing=s.Choice(("member state", "adequacy decision", "standard clauses", "nothing")),
    role=s.Choice(("controller", "processor")),
    contract=s.Choice(("signed", "not signed")),
    reach=s.Choice(("active", "closed down")),
)

DISCLOSURES = s.table(
    "disclosures", "disclosure", prefix="D-", disclosure_id=s.TEXT, case_id=CASE_ID, partner_id=PARTNER_ID
)

INCIDENTS = s.table(
    "incidents",
    "incident",
    incident_id=INCIDENT_ID,
    system=s.TEXT,
    what=s.TEXT,
    status=s.Choice(("open", "restored", "closed")),
    run_in=ESTABLISHMENTS,
    spread=s.Choice(("one member state", "several member states")),
    risk=RISK,
    measures=s.Choice(("none", "high risk averted")),
    reach=MEANS,
    people=s.INTEGER,
)

COPIES = s.table("copies", "copy", prefix="Y-", copy_id=s.TEXT, case_id=CASE_ID, form=s.TEXT)

FEES = s.table("fees", "fee", prefix="F-", fee_id=s.TEXT, case_id=CASE_ID, amount=s.MONEY)

DECLINED = s.table("declined", "declined wish", prefix="N-", declined_id=s.TEXT, case_id=CASE_ID, ground=s.TEXT)

# What the desk sends and files; only compliance tools write these.
LETTERS = s.table(
    "letters", "letter", prefix="L-", letter_id=s.TEXT, case_id=CASE_ID, contact_id=CONTACT_ID, content=s.TEXT
)

PARTNER_NOTES = s.table(
    "partner_notes", "note to a partner", prefix="T-", note_id=s.TEXT, case_id=CASE_ID, partner_id=PARTNER_ID
)

REGISTER = s.table(
    "register",
    "register entry",
    prefix="E-",
    entry_id=s.TEXT,
    subject=s.TEXT,
    entry=s.TEXT,
    legal_basis=s.Field(BASIS, optional=True),
    document=s.Field(s.TEXT, optional=True),
    expense=s.Field(s.MONEY, optional=True),
)

DESK = s.table("desk", "desk", desk_id=s.TEXT, now=s.MOMENT, today=s.DATE)

ENTITIES = s.tables_of(globals())
