"""The nine tools of the disruption desk."""

from lawtrace.environments.spec import (
    DATE,
    MONEY,
    TEXT,
    TEXTS,
    Amount,
    DayBefore,
    Entity,
    Fails,
    FieldValue,
    FromLookup,
    FromTrace,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    Term,
    Tool,
    Update,
    ValueResult,
    WordsOf,
    any_item,
    argument,
    constant,
    contains_text,
    fresh_key,
    if_given,
    is_empty,
    is_unknown,
    pending_events,
    success_result,
    value_of,
)

from .tables import BOOKING_CODE, BOOKINGS, CASE_LOG, CITY, DESK, FLIGHT_NUMBER, FLIGHTS, NOTICES, PAYMENTS, VOUCHERS

INVALID_REQUEST = "InvalidRequestException"
NOT_FOUND = "NotFoundException"

code, flight, amount = argument("booking_code"), argument("flight_number"), argument("amount")
today = value_of(DESK, lambda desk: desk.desk_id == "current", "today")


def unknown(entity: Entity, name: str) -> Raises:
    return Raises(NOT_FOUND, f"There is no {entity.singular} with this '{name}'.", is_unknown(entity, name))


def of_booking(field: str, otherwise: object) -> Term:
    return value_of(BOOKINGS, lambda b: b.booking_code == code, field, otherwise)


BOOKING = Parameter("booking_code", BOOKING_CODE, "The code of the booking.", FromLookup(BOOKINGS))
NO_BOOKING = unknown(BOOKINGS, "booking_code")
MALFORMED = Raises(INVALID_REQUEST, "An argument is not in its format.")
NOT_POSITIVE = Raises(INVALID_REQUEST, "The 'amount' is not more than zero.", amount <= 0)
AS_PLANNED = Fails("The flight of the booking operates as planned.", of_booking("operates", "") == "as planned")
SUCCESS = success_result("Whether it was done.")

SEND_RIGHTS_NOTICE = Tool(
    name="SendRightsNotice",
    summary="Hands the written notice of passenger rights to the passengers of the present case.",
    leak_words=("notice", "right", "entitle", "inform"),
    hint="Send it once, before passengers choose between remedies.",
    effects=(Insert(NOTICES, {"date": today}),),
    results=(ValueResult("notice_id", "The identifier of the notice.", TEXT, fresh_key(NOTICES)),),
    compliance=True,
    critical=True,
)

RECORD_CASE_ENTRY = Tool(
    name="RecordCaseEntry",
    summary="Writes one entry with a list of event names into the log of the case.",
    leak_words=("record", "log the", "logged", "case entr", "audit", "evidence", "document"),
    hint="Write one at the end of a case, with every event that occurred, in order.",
    parameters=(
        Parameter("events", TEXTS, "The names of the events to record.", FromTrace("pending_events", pending_events)),
    ),
    raises=(Raises(INVALID_REQUEST, "The list 'events' is empty.", is_empty(argument("events"))),),
    effects=(Insert(CASE_LOG, {"events": argument("events")}),),
    results=(ValueResult("entry_id", "The identifier of the new entry.", TEXT, fresh_key(CASE_LOG)),),
    compliance=True,
    critical=True,
)

FIND_BOOKING = Tool(
    name="FindBooking",
    summary="Finds the bookings of passengers whose name holds any of the words.",
    phrases=Phrases(
        step="Find the booking in the name of {keywords}.", noun_phrase="the booking in the name of {keywords}"
    ),
    parameters=(Parameter("keywords", TEXTS, "Words of the name.", FromUser(WordsOf(BOOKINGS, "passenger_name"))),),
    raises=(Raises(INVALID_REQUEST, "The list 'keywords' is empty.", is_empty(argument("keywords"))),),
    results=(
        RowsResult(
            "bookings",
            "The bookings that were found.",
            BOOKINGS,
            lambda b: any_item(argument("keywords"), lambda word: contains_text(b.passenger_name, word)),
            ("booking_code", "passenger_name", "flight_number", "operates", "ticket_price"),
        ),
    ),
)

LOOK_UP_FLIGHT = Tool(
    name="LookUpFlight",
    summary="Looks up the flight to a city.",
    phrases=Phrases(step="Look up the {destination} flight.", noun_phrase="the {destination} flight"),
    parameters=(Parameter("destination", CITY, "The city.", FromUser(FieldValue(FLIGHTS, "destination"))),),
    raises=(Raises(INVALID_REQUEST, "The 'destination' is not a city that the airline flies to."),),
    results=(
        RowsResult(
            "flights",
            "The flights to that city on the day.",
            FLIGHTS,
            lambda f: f.destination == argument("destination"),
            ("flight_number", "destination", "seats"),
        ),
    ),
)

REBOOK_PASSENGER = Tool(
    name="RebookPassenger",
    summary="Moves a booking to another flight.",
    phrases=Phrases(
        step="Rebook {booking_code} to {flight_number}.", outcome="By rebooking, {booking_code} is on {flight_number}."
    ),
    parameters=(
        BOOKING,
        Parameter("flight_number", FLIGHT_NUMBER, "The flight to go on instead.", FromLookup(FLIGHTS)),
    ),
    raises=(MALFORMED, NO_BOOKING, unknown(FLIGHTS, "flight_number")),
    fails=(
        AS_PLANNED,
        Fails(
            "The other flight has no seat left.",
            value_of(FLIGHTS, lambda f: f.flight_number == flight, "seats", otherwise="none") == "none",
        ),
    ),
    effects=(Update(BOOKINGS, lambda b: b.booking_code == code, {"flight_number": lambda b: flight}),),
    results=(SUCCESS,),
    emits="PASSENGER_REBOOKED",
    critical=True,
)

REIMBURSE_TICKET = Tool(
    name="ReimburseTicket",
    summary="Reimburses a ticket in whole or in part.",
    phrases=Phrases(
        step="Reimburse {amount} of the ticket for {booking_code}.",
        outcome="{amount} of the ticket has been reimbursed for {booking_code}.",
    ),
    parameters=(BOOKING, Parameter("amount", MONEY, "The amount, more than zero.", FromUser(Amount(20_00, 180_00)))),
    raises=(MALFORMED, NOT_POSITIVE, NO_BOOKING),
    fails=(
        AS_PLANNED,
        Fails("The amount is more than what is left of the ticket price.", of_booking("ticket_price", 0) < amount),
    ),
    effects=(
        Update(BOOKINGS, lambda b: b.booking_code == code, {"ticket_price": lambda b: b.ticket_price - amount}),
        Insert(PAYMENTS, {"booking_code": code, "date": today, "reason": constant("ticket"), "amount": amount}),
    ),
    results=(SUCCESS,),
    emits="TICKET_REIMBURSED",
    critical=True,
)

PAY_COMPENSATION = Tool(
    name="PayCompensation",
    summary="Pays a compensation to the passenger of a booking.",
    phrases=Phrases(
        step="Pay a compensation of {amount} for {booking_code}.",
        outcome="{amount} of compensation has been paid for {booking_code}.",
    ),
    parameters=(
        BOOKING,
        Parameter("amount", MONEY, "The amount: 250, 400 or 600.", FromUser(OneOf((250_00, 400_00, 600_00)))),
    ),
    raises=(
        MALFORMED,
        Raises(
            INVALID_REQUEST,
            "The 'amount' is not one of the three.",
            ~((amount == 250_00) | (amount == 400_00) | (amount == 600_00)),
        ),
        NO_BOOKING,
    ),
    fails=(AS_PLANNED,),
    effects=(
        Insert(PAYMENTS, {"booking_code": code, "date": today, "reason": constant("compensation"), "amount": amount}),
    ),
    results=(SUCCESS,),
    emits="COMPENSATION_PAID",
    critical=True,
)

ISSUE_MEAL_VOUCHER = Tool(
    name="IssueMealVoucher",
    summary="Issues a voucher for a meal at the airport.",
    phrases=Phrases(
        step="Issue a meal voucher of {amount} for {booking_code}.",
        outcome="{amount} has been issued as a meal voucher for {booking_code}.",
    ),
    parameters=(BOOKING, Parameter("amount", MONEY, "What it is worth.", FromUser(Amount(8_00, 30_00)))),
    raises=(MALFORMED, NOT_POSITIVE, NO_BOOKING),
    fails=(AS_PLANNED,),
    effects=(Insert(VOUCHERS, {"booking_code": code, "amount": amount}),),
    results=(SUCCESS, ValueResult("voucher_id", "The identifier of the voucher.", TEXT, fresh_key(VOUCHERS))),
    emits="CARE_PROVIDED",
)

SHOW_PAYMENTS = Tool(
    name="ShowPayments",
    summary="Shows what was paid for a booking.",
    phrases=Phrases(step="Show the payments made for {booking_code}[since: since {since}]."),
    parameters=(
        BOOKING,
        Parameter(
            "since",
            DATE,
            "Only payments from this day on.",
            FromUser(DayBefore(DESK, "today", 5, 60), share=0.5),
            required=False,
        ),
    ),
    raises=(MALFORMED, NO_BOOKING),
    results=(
        RowsResult(
            "payments",
            "The payments, in the order in which they were made.",
            PAYMENTS,
            lambda p: (p.booking_code == code) & if_given(argument("since"), p.date >= argument("since")),
            ("date", "reason", "amount"),
        ),
    ),
)

TOOLS = (
    SEND_RIGHTS_NOTICE,
    RECORD_CASE_ENTRY,
    FIND_BOOKING,
    LOOK_UP_FLIGHT,
    REBOOK_PASSENGER,
    REIMBURSE_TICKET,
    PAY_COMPENSATION,
    ISSUE_MEAL_VOUCHER,
    SHOW_PAYMENTS,
)
