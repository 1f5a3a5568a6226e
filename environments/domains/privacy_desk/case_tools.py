"""What the desk is asked for: finding a case, doing what it is about, or declining it."""

from lawtrace.environments.spec import (
    INVALID_REQUEST,
    MONEY,
    TEXT,
    Amount,
    Choice,
    Fails,
    FieldValue,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    PhrasesByArgument,
    Raises,
    RowsResult,
    Tool,
    Update,
    argument,
    exists,
    is_blank,
)

from .entities import (
    CASES,
    COPIES,
    DECLINED,
    DISCLOSURES,
    FEES,
    MATTER,
    PARTNERS,
    RECORDS,
)
from .shared_terms import (
    CASE,
    IS_CLOSED_DOWN,
    MALFORMED,
    PARTNER,
    SUCCESS,
    case,
    case_becomes,
    is_open,
    not_about,
    partner,
    record_becomes,
    unknown,
)

FIND_CASE = Tool(
    name="FindCase",
    summary=(
        "Finds an open case that came in today: a request of a person about data, or the wish of a colleague to pass "
        "data on, to use restricted data again, or to bill a person for a request."
    ),
    phrases=Phrases(
        step="Find the case about {matter} that concerns the {data} of {name}.",
        noun_phrase="the case about {matter} that concerns the {data} of {name}",
    ),
    parameters=(
        Parameter("name", TEXT, "The full name of the person.", FromUser(FieldValue(CASES, "person_name"))),
        Parameter(
            "data",
            TEXT,
            "The kind of data, such as 'newsletter profile' or 'invoices'.",
            FromUser(FieldValue(CASES, "data", lambda c: c.person_name == argument("name"))),
        ),
        Parameter(
            "matter",
            MATTER,
            "What is asked for. By the person: 'access' to a copy, 'rectification', 'erasure' since the purpose of the "
            "data has ended, 'restriction' since the person contests their accuracy, 'objection' to their use, or "
            "'portability' to another service. By a colleague: 'passing on', 'use again' or 'billing'.",
            FromUser(
                FieldValue(
                    CASES, "matter", lambda c: (c.person_name == argument("name")) & (c.data == argument("data"))
                )
            ),
        ),
    ),
    raises=(MALFORMED,),
    results=(
        RowsResult(
            "cases",
            "The case.",
            CASES,
            lambda c: (
                (c.person_name == argument("name"))
                & (c.data == argument("data"))
                & (c.matter == argument("matter"))
                & (c.status == "open")
            ),
            ("case_id", "person_name", "data", "matter"),
        ),
    ),
)

FORM = Choice(("readable", "machine-readable"))

ISSUE_COPY = Tool(
    name="IssueCopy",
    summary=(
        "Makes a copy of the data that are at hand or have been brought together, for a case of access or portability. "
        "It goes out with the next letter to the person."
    ),
    phrases=PhrasesByArgument(
        "form",
        {
            "readable": Phrases("Make a printable copy for {case_id}.", "A printable copy was made for {case_id}."),
            "machine-readable": Phrases(
                "Make a copy that other services can import for {case_id}.",
                "A copy that other services can import was made for {case_id}.",
            ),
        },
    ),
    parameters=(
        CASE,
        Parameter(
            "form",
            FORM,
            "'readable': a document; 'machine-readable': a structured file in a common format, for other services.",
            FromUser(OneOf(FORM.options)),
        ),
    ),
    raises=(MALFORMED, unknown(CASES)),
    fails=(not_about("access", "portability"),),
    effects=(Insert(COPIES, {"case_id": case, "form": argument("form")}), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

ERASE_DATA = Tool(
    name="EraseData",
    summary="Erases the data of a case of erasure for good.",
    phrases=Phrases("Erase the data in {case_id}.", "The data in {case_id} have been erased."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(CASES)),
    fails=(not_about("erasure"),),
    effects=(record_becomes("erased"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

CORRECT_DATA = Tool(
    name="CorrectData",
    summary="Corrects the data of a case of rectification.",
    phrases=Phrases(
        'Correct the data in {case_id} to say "{correction}".',
        'The data in {case_id} have been corrected to say "{correction}".',
    ),
    parameters=(
        CASE,
        Parameter(
            "correction",
            TEXT,
            "What the data are to say.",
            FromUser(FieldValue(RECORDS, "claimed", lambda r: r.case_id == case)),
        ),
    ),
    raises=(
        MALFORMED,
        unknown(CASES),
        Raises(INVALID_REQUEST, "The 'correction' is blank.", is_blank(argument("correction"))),
    ),
    fails=(not_about("rectification"),),
    effects=(
        Update(RECORDS, lambda r: r.case_id == case, {"entry": lambda r: argument("correction")}),
        case_becomes("met"),
    ),
    results=(SUCCESS,),
    critical=True,
)

RESTRICT_DATA = Tool(
    name="RestrictData",
    summary="Restricts the data of a case of restriction: they are stored but not used.",
    phrases=Phrases("Freeze the data in {case_id}.", "The data in {case_id} have been frozen."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(CASES)),
    fails=(not_about("restriction"),),
    effects=(record_becomes("restricted"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

STOP_USE = Tool(
    name="StopUse",
    summary="Ends the use of the data in a case of objection.",
    phrases=Phrases("Stop using the data in {case_id}.", "The data in {case_id} are not used any more."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(CASES)),
    fails=(not_about("objection"),),
    effects=(record_becomes("stopped"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

LIFT_RESTRICTION = Tool(
    name="LiftRestriction",
    summary="Takes restricted data into use again, as a colleague asks in a case of 'use again'.",
    phrases=Phrases("Take the data in {case_id} into use again.", "The data in {case_id} are in use again."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(CASES)),
    fails=(not_about("use again"),),
    effects=(record_becomes("in use"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

BILL_FEE = Tool(
    name="BillFee",
    summary="Bills a person a fee for a request about data, as a colleague asks in a case of 'billing'.",
    phrases=Phrases("Bill {amount} in {case_id}.", "{amount} has been billed in {case_id}."),
    parameters=(CASE, Parameter("amount", MONEY, "The fee in euros, more than zero.", FromUser(Amount(3_00, 30_00)))),
    raises=(
        MALFORMED,
        unknown(CASES),
        Raises(INVALID_REQUEST, "The 'amount' is not more than zero.", argument("amount") <= 0),
    ),
    fails=(not_about("billing"),),
    effects=(Insert(FEES, {"case_id": case, "amount": argument("amount")}),),
    results=(SUCCESS,),
    critical=True,
)

FIND_PARTNER = Tool(
    name="FindPartner",
    summary="Finds a partner of the company by name.",
    phrases=Phrases("Find {name}.", noun_phrase="{name}"),
    parameters=(Parameter("name", TEXT, "The partner's full name.", FromUser(FieldValue(PARTNERS, "name"))),),
    results=(
        RowsResult(
            "partners",
            "The partner.",
            PARTNERS,
            lambda p: p.name == argument("name"),
            ("partner_id", "name", "country"),
        ),
    ),
)

SHARE_DATA = Tool(
    name="ShareData",
    summary="Passes the data of a case of 'passing on' on to a partner.",
    phrases=Phrases(
        "Send the data in {case_id} to {partner_id}.", "The data in {case_id} have been sent to {partner_id}."
    ),
    parameters=(CASE, PARTNER),
    raises=(MALFORMED, unknown(CASES), unknown(PARTNERS)),
    fails=(
        not_about("passing on"),
        Fails(
            "The partner has the data already.",
            exists(DISCLOSURES, lambda d: (d.case_id == case) & (d.partner_id == partner)),
        ),
        IS_CLOSED_DOWN,
    ),
    effects=(Insert(DISCLOSURES, {"case_id": case, "partner_id": partner}), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

GROUND = Choice(
    (
        "cannot tell who asked",
        "repetitive",
        "needed by law",
        "data correct",
        "data incorrect",
        "compelling grounds",
        "no such right",
        "no valid consent",
        "objection",
        "restricted",
        "no safeguards",
        "no contract",
        "free of charge",
    )
)

DECLINE = Tool(
    name="Decline",
    summary="Decides that what a case asks for is not done, tells the colleague in charge, and closes the case.",
    phrases=Phrases(
        "Decline {case_id} on the ground '{ground}'.", "{case_id} has been declined on the ground '{ground}'."
    ),
    parameters=(
        CASE,
        Parameter(
            "ground",
            GROUND,
            "'cannot tell who asked': the person has not shown who they are; 'repetitive': the same was asked over "
            "and over; 'needed by law': tax law or a legal claim requires the data; 'data correct': there is nothing "
            "to correct; 'data incorrect': they would be used although they are wrong; 'compelling grounds': they "
            "outweigh an objection; 'no such right': the law gives none for data on this basis; 'no valid consent': it "
            "is withdrawn, not express, or a child gave it alone; 'objection': the person has objected, and nothing "
            "outweighs it; 'restricted': the data are restricted; 'no safeguards': none where the partner is; 'no "
            "contract': none with a processor; 'free of charge': no fee may be billed.",
            FromUser(OneOf(GROUND.options)),
        ),
    ),
    raises=(MALFORMED, unknown(CASES)),
    fails=(Fails("The case is not open.", ~is_open(*MATTER.options)),),
    effects=(Insert(DECLINED, {"case_id": case, "ground": argument("ground")}), case_becomes("declined")),
    results=(SUCCESS,),
    critical=True,
)
