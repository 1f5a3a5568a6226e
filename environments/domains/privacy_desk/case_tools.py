"""What the desk is asked for: finding a case, doing what it is about, or declining it."""

from lawtrace.environments import spec as s

from . import entities as e
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
    unknown,
    use_becomes,
)

FIND_CASE = s.Tool(
    name="FindCase",
    summary=(
        "Finds an open case: a request of a person about data, or the wish of a colleague to pass data on, to use "
        "restricted data again, or to bill a person for a request."
    ),
    phrases=s.Phrases(
        step="Find the case about {matter} that concerns the {data} of {name}.",
        noun_phrase="the case about {matter} that concerns the {data} of {name}",
    ),
    parameters=(
        s.stated(e.CASES, "person_name", "The full name of the person.", name="name"),
        s.stated(
            e.CASES,
            "data",
            "The kind of data, such as 'newsletter profile' or 'invoices'.",
            lambda c: c.person_name == s.argument("name"),
        ),
        s.stated(
            e.CASES,
            "matter",
            "What is asked for. By the person: 'access' to a copy, 'rectification', 'erasure' since the purpose of the "
            "data has ended, 'restriction' since the person contests their accuracy, 'objection' to their use, or "
            "'portability' to another service. By a colleague: 'passing on' to a partner, 'use again' of data "
            "that were restricted because the person contested their accuracy, or 'billing' for a request.",
            lambda c: (c.person_name == s.argument("name")) & (c.data == s.argument("data")),
        ),
    ),
    raises=(MALFORMED,),
    results=(
        s.RowsResult(
            "cases",
            "The case.",
            e.CASES,
            lambda c: (
                (c.person_name == s.argument("name"))
                & (c.data == s.argument("data"))
                & (c.matter == s.argument("matter"))
                & (c.status == "open")
            ),
            ("case_id", "person_name", "data", "matter", "received"),
        ),
    ),
)

LIST_CASES = s.queue(
    "ListCases",
    e.CASES,
    "person_name",
    "data",
    "matter",
    "received",
    where=lambda c: c.status == "open",
    summary="Lists the open cases of the desk in the order in which they came in.",
)

FORM = s.Choice(("readable", "machine-readable"))

ISSUE_COPY = s.Tool(
    name="IssueCopy",
    summary=(
        "Makes a copy of the data that are at hand or have been brought together, for a case of access or portability. "
        "It goes out with the next letter to the person."
    ),
    phrases=s.PhrasesByArgument(
        "form",
        {
            "readable": s.Phrases("Make a printable copy for {case_id}.", "A printable copy was made for {case_id}."),
            "machine-readable": s.Phrases(
                "Make a copy that other services can import for {case_id}.",
                "A copy that other services can import was made for {case_id}.",
            ),
        },
    ),
    parameters=(
        CASE,
        s.option(
            "form",
            FORM,
            "'readable': a document; 'machine-readable': a structured file in a common format, for other services.",
        ),
    ),
    raises=(MALFORMED, unknown(e.CASES)),
    fails=(not_about("access", "portability"),),
    effects=(s.register(e.COPIES, "case_id", "form"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

ERASE_DATA = s.Tool(
    name="EraseData",
    summary="Erases the data of a case of erasure for good.",
    phrases=s.Phrases("Erase the data in {case_id}.", "The data in {case_id} have been erased."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    fails=(not_about("erasure"),),
    effects=(use_becomes("erased"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

CORRECT_DATA = s.Tool(
    name="CorrectData",
    summary="Corrects the data of a case of rectification.",
    phrases=s.Phrases(
        'Correct the data in {case_id} to say "{correction}".',
        'The data in {case_id} have been corrected to say "{correction}".',
    ),
    parameters=(
        CASE,
        s.stated(e.RECORDS, "claimed", "What the data are to say.", lambda r: r.case_id == case, name="correction"),
    ),
    raises=(
        MALFORMED,
        unknown(e.CASES),
        s.Raises(s.INVALID_REQUEST, "The 'correction' is blank.", s.is_blank(s.argument("correction"))),
    ),
    fails=(not_about("rectification"),),
    effects=(s.change(e.RECORDS, by="case_id", entry=s.argument("correction")), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

RESTRICT_DATA = s.Tool(
    name="RestrictData",
    summary="Restricts the data of a case of restriction: they are stored but not used.",
    phrases=s.Phrases("Freeze the data in {case_id}.", "The data in {case_id} have been frozen."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    fails=(not_about("restriction"),),
    effects=(use_becomes("restricted"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

STOP_USE = s.Tool(
    name="StopUse",
    summary="Ends the use of the data in a case of objection.",
    phrases=s.Phrases("Stop using the data in {case_id}.", "The data in {case_id} are not used any more."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    fails=(not_about("objection"),),
    effects=(use_becomes("stopped"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

LIFT_RESTRICTION = s.Tool(
    name="LiftRestriction",
    summary="Takes restricted data into use again, as a colleague asks in a case of 'use again'.",
    phrases=s.Phrases("Take the data in {case_id} into use again.", "The data in {case_id} are in use again."),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    fails=(not_about("use again"),),
    effects=(use_becomes("in use"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

SCHEDULE_LIFTING = s.Tool(
    name="ScheduleLifting",
    summary=(
        "Plans that restricted data are taken into use again at the beginning of a day, as a colleague asks in a case "
        "of 'use again', and closes the case."
    ),
    phrases=s.Phrases(
        "Have the data in {case_id} taken into use again on {day}.",
        "The data in {case_id} are in use again from {day} on.",
    ),
    parameters=(
        CASE,
        s.Parameter("day", s.DATE, "The day, after today.", s.FromUser(s.DayAfter(e.DESK, "today", 3, 40))),
    ),
    raises=(
        MALFORMED,
        unknown(e.CASES),
        s.Raises(s.INVALID_REQUEST, "The 'day' is not after today.", s.argument("day") <= s.TODAY),
    ),
    fails=(not_about("use again"),),
    effects=(s.register(e.LIFTINGS, "case_id", planned=s.argument("day") * s.MINUTES_PER_DAY), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

BILL_FEE = s.Tool(
    name="BillFee",
    summary="Bills a person a fee for a request about data, as a colleague asks in a case of 'billing'.",
    phrases=s.Phrases("Bill {amount} in {case_id}.", "{amount} has been billed in {case_id}."),
    parameters=(
        CASE,
        s.stated(e.MESSAGES, "fee", "The fee in euros, more than zero.", lambda m: m.case_id == case, name="amount"),
    ),
    raises=(
        MALFORMED,
        unknown(e.CASES),
        s.Raises(s.INVALID_REQUEST, "The 'amount' is not more than zero.", s.argument("amount") <= 0),
    ),
    fails=(not_about("billing"),),
    effects=(s.register(e.FEES, "case_id", "amount"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

FIND_PARTNER = s.Tool(
    name="FindPartner",
    summary="Finds a partner of the company by name.",
    phrases=s.Phrases("Find {name}.", noun_phrase="{name}"),
    parameters=(s.stated(e.PARTNERS, "name", "The partner's full name."),),
    results=(
        s.RowsResult(
            "partners",
            "The partner.",
            e.PARTNERS,
            lambda p: p.name == s.argument("name"),
            ("partner_id", "name", "country"),
        ),
    ),
)

SHARE_DATA = s.Tool(
    name="ShareData",
    summary="Passes the data of a case of 'passing on' on to a partner.",
    phrases=s.Phrases(
        "Send the data in {case_id} to {partner_id}.", "The data in {case_id} have been sent to {partner_id}."
    ),
    parameters=(CASE, PARTNER),
    raises=(MALFORMED, unknown(e.CASES), unknown(e.PARTNERS)),
    fails=(
        not_about("passing on"),
        s.Fails(
            "The colleague has asked for another partner.",
            ~(s.field_of(e.PARTNERS, "name", "") == s.field_of(e.MESSAGES, "partner", "")),
        ),
        s.Fails("The partner has the data already.", s.has(e.DISCLOSURES, by="case_id", partner_id=partner)),
        IS_CLOSED_DOWN,
    ),
    effects=(s.register(e.DISCLOSURES, "case_id", "partner_id"), case_becomes("met")),
    results=(SUCCESS,),
    critical=True,
)

GROUND = s.Choice(
    (
        "cannot tell who asked",
        "excessive",
        "needed",
        "data correct",
        "data incorrect",
        "compelling grounds",
        "no such right",
        "no valid consent",
        "objection",
        "restricted",
        "other purpose",
        "not necessary",
        "no safeguards",
        "no contract",
        "free of charge",
    )
)

DECLINE = s.Tool(
    name="Decline",
    summary="Decides that what a case asks for is not done, tells the colleague in charge, and closes the case.",
    phrases=s.Phrases(
        "Decline {case_id} on the ground '{ground}'.", "{case_id} has been declined on the ground '{ground}'."
    ),
    parameters=(
        CASE,
        s.option(
            "ground",
            GROUND,
            "'cannot tell who asked': it is not clear who they are; 'excessive': the request is repetitive, or "
            "unfounded; 'needed': a legal obligation or a legal claim needs the data; 'data correct': there is nothing "
            "to correct; 'data incorrect': they would be used although they are wrong; 'compelling grounds': they "
            "outweigh an objection; 'no such right': the law gives none for these data; 'no valid consent': it is "
            "withdrawn, not express, or a child gave it alone; 'objection': the person has objected, and nothing "
            "outweighs it; 'restricted': the data are restricted; 'other purpose': an incompatible one; 'not "
            "necessary': what the partner would do goes beyond the legal basis; 'no safeguards': none where the "
            "partner is; 'no contract': none with a processor; 'free of charge': no fee may be billed.",
        ),
    ),
    raises=(MALFORMED, unknown(e.CASES)),
    fails=(s.Fails("The case is not open.", ~is_open(*e.MATTER.options)),),
    effects=(s.register(e.DECLINED, "case_id", "ground"), case_becomes("declined")),
    results=(SUCCESS,),
    critical=True,
)
