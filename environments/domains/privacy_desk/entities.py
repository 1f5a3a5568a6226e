"""The tables of the data-protection desk.

A *case* is what has come in about one record, which is one set of data about one person. Each record has one case, and
the other way round, so tools take the identifier of the case.
"""

from lawtrace.environments.spec import INTEGER, MOMENT, MONEY, TEXT, Choice, Entity, Field, Pattern

CASE_ID = Pattern("K-XXXX", r"K-\d{4}")
CONTACT_ID = Pattern("C-XXXX", r"C-\d{4}")
PARTNER_ID = Pattern("P-XXXX", r"P-\d{4}")
INCIDENT_ID = Pattern("I-XXXX", r"I-\d{4}")
AUTHORITY_ID = Pattern("A-XXXX", r"A-\d{4}")

RIGHTS = ("access", "rectification", "erasure", "restriction", "objection", "portability")
"""The matters of cases in which a person uses a right; a colleague asks for the others."""
MATTER = Choice((*RIGHTS, "passing on", "use again", "billing"))
CONTACT_KIND = Choice(("email", "post", "portal", "club"))
DETAIL = Choice(("date of birth", "membership number", "home club"))
BASIS = Choice(("consent", "contract", "legal obligation", "legitimate interests"))
RISK = Choice(("unlikely", "likely", "high"))
MEANS = Choice(("each person", "public notice"))

PEOPLE = Entity(
    table="people",
    singular="person",
    key="person_id",
    fields={"person_id": Field(TEXT), "name": Field(TEXT), "age": Field(INTEGER)},
)

CONTACTS = Entity(
    table="contacts",
    singular="contact",
    key="contact_id",
    fields={
        "contact_id": Field(CONTACT_ID),
        "person_id": Field(TEXT),
        "kind": Field(CONTACT_KIND),
        "address": Field(TEXT),
    },
)

CASES = Entity(
    table="cases",
    singular="case",
    key="case_id",
    fields={
        "case_id": Field(CASE_ID),
        "person_id": Field(TEXT),
        "person_name": Field(TEXT),
        "data": Field(TEXT),
        "matter": Field(MATTER),
        "status": Field(Choice(("open", "met", "declined"))),
        "sender": Field(Choice(("on file", "not on file"))),
        "proof": Field(Choice(("sufficient", "insufficient"))),
        "write_by": Field(CONTACT_KIND),
        "earlier": Field(Choice(("none", "has a copy", "repetitive"))),
        "comparable": Field(DETAIL),
    },
)

RECORDS = Entity(
    table="records",
    singular="record",
    key="record_id",
    fields={
        "record_id": Field(TEXT),
        "case_id": Field(CASE_ID),
        # What is stored, and what the person says it should be.
        "entry": Field(TEXT),
        "claimed": Field(TEXT),
        "status": Field(Choice(("in use", "restricted", "stopped", "erased"))),
        "category": Field(Choice(("ordinary", "health"))),
        "purpose": Field(Choice(("direct marketing", "running the clubs"))),
        "kept_for": Field(Choice(("nothing else", "tax law", "legal claim"))),
        "grounds": Field(Choice(("compelling", "not compelling"))),
        "accuracy": Field(Choice(("correct", "incorrect"))),
        "others": Field(Choice(("named", "not named"))),
        "effort": Field(Choice(("little", "complex", "many requests"))),
        "cost": Field(MONEY),
        "legal_basis": Field(BASIS),
        "document": Field(TEXT),  # what the legal basis rests on
        "consent": Field(Choice(("none", "given", "expressly given", "withdrawn"))),
        "consent_by": Field(Choice(("the person", "a parent"))),
        "abroad": Field(Choice(("not asked", "agreed after warning"))),
        "objection": Field(Choice(("none", "to direct marketing", "to this use"))),
    },
)

PARTNERS = Entity(
    table="partners",
    singular="partner",
    key="partner_id",
    fields={
        "partner_id": Field(PARTNER_ID),
        "name": Field(TEXT),
        "country": Field(TEXT),
        "standing": Field(Choice(("member state", "adequacy decision", "standard clauses", "nothing"))),
        "role": Field(Choice(("controller", "processor"))),
        "contract": Field(Choice(("signed", "not signed"))),
        "reach": Field(Choice(("active", "closed down"))),
    },
)

DISCLOSURES = Entity(
    table="disclosures",
    singular="disclosure",
    key="disclosure_id",
    key_prefix="D-",
    fields={"disclosure_id": Field(TEXT), "case_id": Field(CASE_ID), "partner_id": Field(PARTNER_ID)},
)

INCIDENTS = Entity(
    table="incidents",
    singular="incident",
    key="incident_id",
    fields={
        "incident_id": Field(INCIDENT_ID),
        "system": Field(TEXT),
        "what": Field(TEXT),
        "status": Field(Choice(("open", "restored", "closed"))),
        "run_in": Field(TEXT),
        "spread": Field(Choice(("one member state", "several member states"))),
        "risk": Field(RISK),
        "protection": Field(Choice(("unreadable", "readable"))),
        "reach": Field(MEANS),
        "people": Field(INTEGER),
    },
)

AUTHORITIES = Entity(
    table="authorities",
    singular="authority",
    key="authority_id",
    fields={"authority_id": Field(AUTHORITY_ID), "name": Field(TEXT), "country": Field(TEXT)},
)

COPIES = Entity(
    table="copies",
    singular="copy",
    key="copy_id",
    key_prefix="Y-",
    fields={"copy_id": Field(TEXT), "case_id": Field(CASE_ID), "form": Field(TEXT)},
)

FEES = Entity(
    table="fees",
    singular="fee",
    key="fee_id",
    key_prefix="F-",
    fields={"fee_id": Field(TEXT), "case_id": Field(CASE_ID), "amount": Field(MONEY)},
)

DECLINED = Entity(
    table="declined",
    singular="declined wish",
    key="declined_id",
    key_prefix="N-",
    fields={"declined_id": Field(TEXT), "case_id": Field(CASE_ID), "ground": Field(TEXT)},
)

# What the desk sends and files; only compliance tools write these.
LETTERS = Entity(
    table="letters",
    singular="letter",
    key="letter_id",
    key_prefix="L-",
    fields={
        "letter_id": Field(TEXT),
        "case_id": Field(CASE_ID),
        "contact_id": Field(CONTACT_ID),
        "content": Field(TEXT),
    },
)

PARTNER_NOTES = Entity(
    table="partner_notes",
    singular="note to a partner",
    key="note_id",
    key_prefix="T-",
    fields={"note_id": Field(TEXT), "case_id": Field(CASE_ID), "partner_id": Field(PARTNER_ID), "form": Field(TEXT)},
)

REGISTER = Entity(
    table="register",
    singular="register entry",
    key="entry_id",
    key_prefix="E-",
    fields={
        "entry_id": Field(TEXT),
        "subject": Field(TEXT),
        "entry": Field(TEXT),
        "legal_basis": Field(BASIS, optional=True),
        "document": Field(TEXT, optional=True),
        "expense": Field(MONEY, optional=True),
        "people": Field(INTEGER, optional=True),
    },
)

DESK = Entity(table="desk", singular="desk", key="desk_id", fields={"desk_id": Field(TEXT), "now": Field(MOMENT)})

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
