"""The tables of the data-protection desk.

A *case* is what has come in about one record, which is one set of data about one person. Each record has one case, and
the other way round, so tools take the identifier of the case.
"""

from lawtrace.environments import spec as s

CASE_ID = s.Pattern("K-XXXX", r"K-\d{4}")
CONTACT_ID = s.Pattern("C-XXXX", r"C-\d{4}")
PARTNER_ID = s.Pattern("P-XXXX", r"P-\d{4}")
INCIDENT_ID = s.Pattern("I-XXXX", r"I-\d{4}")
AUTHORITY_ID = s.Pattern("A-XXXX", r"A-\d{4}")

RIGHTS = ("access", "rectification", "erasure", "restriction", "objection", "portability")
"""The matters of cases in which a person uses a right; a colleague asks for the others."""
MATTER = s.Choice((*RIGHTS, "passing on", "use again", "billing"))
CONTACT_KIND = s.Choice(("email", "post", "portal", "club"))
DETAIL = s.Choice(("date of birth", "membership number", "home club"))
BASIS = s.Choice(("consent", "contract", "legal obligation", "legitimate interests"))
RISK = s.Choice(("unlikely", "likely", "high"))
MEANS = s.Choice(("each person", "public notice"))

PEOPLE = s.Entity(
    table="people",
    singular="person",
    key="person_id",
    fields={"person_id": s.Field(s.TEXT), "name": s.Field(s.TEXT), "age": s.Field(s.INTEGER)},
)

CONTACTS = s.Entity(
    table="contacts",
    singular="contact",
    key="contact_id",
    fields={
        "contact_id": s.Field(CONTACT_ID),
        "person_id": s.Field(s.TEXT),
        "kind": s.Field(CONTACT_KIND),
        "address": s.Field(s.TEXT),
    },
)

CASES = s.Entity(
    table="cases",
    singular="case",
    key="case_id",
    fields={
        "case_id": s.Field(CASE_ID),
        "person_id": s.Field(s.TEXT),
        "person_name": s.Field(s.TEXT),
        "data": s.Field(s.TEXT),
        "matter": s.Field(MATTER),
        "status": s.Field(s.Choice(("open", "met", "declined"))),
        "sender": s.Field(s.Choice(("on file", "not on file"))),
        "proof": s.Field(s.Choice(("sufficient", "insufficient"))),
        "write_by": s.Field(CONTACT_KIND),
        "earlier": s.Field(s.Choice(("none", "has a copy", "repetitive"))),
        "comparable": s.Field(DETAIL),
    },
)

RECORDS = s.Entity(
    table="records",
    singular="record",
    key="record_id",
    fields={
        "record_id": s.Field(s.TEXT),
        "case_id": s.Field(CASE_ID),
        # What is stored, and what the person says it should be.
        "entry": s.Field(s.TEXT),
        "claimed": s.Field(s.TEXT),
        "status": s.Field(s.Choice(("in use", "restricted", "stopped", "erased"))),
        "category": s.Field(s.Choice(("ordinary", "health"))),
        "purpose": s.Field(s.Choice(("direct marketing", "running the clubs"))),
        "kept_for": s.Field(s.Choice(("nothing else", "tax law", "legal claim"))),
        "grounds": s.Field(s.Choice(("compelling", "not compelling"))),
        "accuracy": s.Field(s.Choice(("correct", "incorrect"))),
        "others": s.Field(s.Choice(("named", "not named"))),
        "effort": s.Field(s.Choice(("little", "complex", "many requests"))),
        "cost": s.Field(s.MONEY),
        "legal_basis": s.Field(BASIS),
        "document": s.Field(s.TEXT),  # what the legal basis rests on
        "consent": s.Field(s.Choice(("none", "given", "expressly given", "withdrawn"))),
        "consent_by": s.Field(s.Choice(("the person", "a parent"))),
        "abroad": s.Field(s.Choice(("not asked", "agreed after warning"))),
        "objection": s.Field(s.Choice(("none", "to direct marketing", "to this use"))),
    },
)

PARTNERS = s.Entity(
    table="partners",
    singular="partner",
    key="partner_id",
    fields={
        "partner_id": s.Field(PARTNER_ID),
        "name": s.Field(s.TEXT),
        "country": s.Field(s.TEXT),
        "standing": s.Field(s.Choice(("member state", "adequacy decision", "standard clauses", "nothing"))),
        "role": s.Field(s.Choice(("controller", "processor"))),
        "contract": s.Field(s.Choice(("signed", "not signed"))),
        "reach": s.Field(s.Choice(("active", "closed down"))),
    },
)

DISCLOSURES = s.Entity(
    table="disclosures",
    singular="disclosure",
    key="disclosure_id",
    key_prefix="D-",
    fields={"disclosure_id": s.Field(s.TEXT), "case_id": s.Field(CASE_ID), "partner_id": s.Field(PARTNER_ID)},
)

INCIDENTS = s.Entity(
    table="incidents",
    singular="incident",
    key="incident_id",
    fields={
        "incident_id": s.Field(INCIDENT_ID),
        "system": s.Field(s.TEXT),
        "what": s.Field(s.TEXT),
        "status": s.Field(s.Choice(("open", "restored", "closed"))),
        "run_in": s.Field(s.TEXT),
        "spread": s.Field(s.Choice(("one member state", "several member states"))),
        "risk": s.Field(RISK),
        "protection": s.Field(s.Choice(("unreadable", "readable"))),
        "reach": s.Field(MEANS),
        "people": s.Field(s.INTEGER),
    },
)

AUTHORITIES = s.Entity(
    table="authorities",
    singular="authority",
    key="authority_id",
    fields={"authority_id": s.Field(AUTHORITY_ID), "name": s.Field(s.TEXT), "country": s.Field(s.TEXT)},
)

COPIES = s.Entity(
    table="copies",
    singular="copy",
    key="copy_id",
    key_prefix="Y-",
    fields={"copy_id": s.Field(s.TEXT), "case_id": s.Field(CASE_ID), "form": s.Field(s.TEXT)},
)

FEES = s.Entity(
    table="fees",
    singular="fee",
    key="fee_id",
    key_prefix="F-",
    fields={"fee_id": s.Field(s.TEXT), "case_id": s.Field(CASE_ID), "amount": s.Field(s.MONEY)},
)

DECLINED = s.Entity(
    table="declined",
    singular="declined wish",
    key="declined_id",
    key_prefix="N-",
    fields={"declined_id": s.Field(s.TEXT), "case_id": s.Field(CASE_ID), "ground": s.Field(s.TEXT)},
)

# What the desk sends and files; only compliance tools write these.
LETTERS = s.Entity(
    table="letters",
    singular="letter",
    key="letter_id",
    key_prefix="L-",
    fields={
        "letter_id": s.Field(s.TEXT),
        "case_id": s.Field(CASE_ID),
        "contact_id": s.Field(CONTACT_ID),
        "content": s.Field(s.TEXT),
    },
)

PARTNER_NOTES = s.Entity(
    table="partner_notes",
    singular="note to a partner",
    key="note_id",
    key_prefix="T-",
    fields={
        "note_id": s.Field(s.TEXT),
        "case_id": s.Field(CASE_ID),
        "partner_id": s.Field(PARTNER_ID),
        "form": s.Field(s.TEXT),
    },
)

REGISTER = s.Entity(
    table="register",
    singular="register entry",
    key="entry_id",
    key_prefix="E-",
    fields={
        "entry_id": s.Field(s.TEXT),
        "subject": s.Field(s.TEXT),
        "entry": s.Field(s.TEXT),
        "legal_basis": s.Field(BASIS, optional=True),
        "document": s.Field(s.TEXT, optional=True),
        "expense": s.Field(s.MONEY, optional=True),
        "people": s.Field(s.INTEGER, optional=True),
    },
)

DESK = s.Entity(
    table="desk", singular="desk", key="desk_id", fields={"desk_id": s.Field(s.TEXT), "now": s.Field(s.MOMENT)}
)

ENTITIES = {
    entity.table: entity
    for entity in (
        PEOPLE,
        CONTACTS,
        CASES,
        RECORDS,
        PARTNERS,
        DISCLOSURES,
        INCIDENTS,
        AUTHORITIES,
        COPIES,
        FEES,
        DECLINED,
        LETTERS,
        PARTNER_NOTES,
        REGISTER,
        DESK,
    )
}
