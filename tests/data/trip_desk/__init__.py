"""The trip desk of an invented airline. Calls take objects and lists of them: flights, passengers, payments."""

import datetime as dt
from random import Random

from lawtrace.environments import spec as s

FLIGHT_NUMBER = s.Pattern("TR-NNN", r"TR-\d{3}")
BOOKING_CODE = s.Pattern("XXNNNN", r"[A-Z]{2}\d{4}")
CABIN = s.Choice(("economy", "business"))
LEG = s.ObjectOf({"flight_number": FLIGHT_NUMBER, "date": s.DATE, "meal": s.TEXT}, optional=("meal",))
PAYMENT = s.ObjectOf({"method": s.Choice(("card", "voucher", "bank transfer")), "amount": s.MONEY})
CONTACT = s.ObjectOf({"street": s.TEXT, "town": s.TEXT})
PASSENGER = s.ObjectOf({"full_name": s.TEXT, "seats": s.INTEGER, "contact": CONTACT}, optional=("contact",))

DESK = s.table("desk", "desk", desk_id=s.TEXT, today=s.DATE)
FLIGHTS = s.table("flights", "flight", flight_number=FLIGHT_NUMBER, destination=s.TEXT, date=s.DATE, open=CABIN)
BOOKINGS = s.table(
    "bookings",
    "booking",
    key_of=lambda number: f"NW{number:04d}",
    booking_code=BOOKING_CODE,
    holder=s.TEXT,
    passengers=s.ListOf(PASSENGER),
    flights=s.ListOf(LEG),
    payments=s.ListOf(PAYMENT),
)
TICKETS = s.table("tickets", "ticket", prefix="T-", ticket_id=s.TEXT, full_name=s.TEXT, flights=s.INTEGER)
REFUNDS = s.table("refunds", "refund", prefix="RF-", refund_id=s.TEXT, booking_code=BOOKING_CODE, payment=PAYMENT)
CHECKS = s.table("checks", "check", prefix="CH-", check_id=s.TEXT, day=s.DATE)
ENTITIES = {entity.table: entity for entity in (DESK, FLIGHTS, BOOKINGS, TICKETS, REFUNDS, CHECKS)}

code, flights, payment = s.argument("booking_code"), s.argument("flights"), s.argument("payment")
passengers, payments = s.argument("passengers"), s.argument("payments")
today = s.value_of(DESK, lambda d: d.desk_id == "current", "today", otherwise=0)
MALFORMED = s.Raises(s.INVALID_REQUEST, "A part of an argument is not in its format.")
SAID_LEGS = s.FromUser(
    s.Several(s.FieldsOf(FLIGHTS, {"flight_number": "flight_number", "date": "date", "meal": "destination"}))
)
BOOKING = s.key(BOOKINGS, "The booking.")
NO_BOOKING = s.Raises(
    "NotFoundException", "There is no booking with this code.", s.is_unknown(BOOKINGS, "booking_code")
)
NO_FLIGHT = s.Raises(
    "NotFoundException",
    "There is no such flight on that day.",
    s.any_item(
        flights,
        lambda f: ~s.exists(FLIGHTS, lambda row: (row.flight_number == f["flight_number"]) & (row.date == f["date"])),
    ),
)

FIND_BOOKING = s.Tool(
    name="FindBooking",
    summary="Finds the bookings held by one person.",
    phrases=s.Phrases('Find the booking held by "{holder}".', noun_phrase='the booking held by "{holder}"'),
    parameters=(s.stated(BOOKINGS, "holder", "The whole name."),),
    results=(
        s.RowsResult(
            "bookings",
            "The bookings.",
            BOOKINGS,
            lambda b: b.holder == s.argument("holder"),
            ("booking_code", "holder", "passengers", "flights", "payments"),
        ),
    ),
)

MAKE_BOOKING = s.Tool(
    name="MakeBooking",
    summary="Books a trip on flights for passengers.",
    phrases=s.Phrases(
        'Make a booking in the name of "{holder}" on the flights {flights} for the passengers {passengers}, paid by '
        "{payments}.",
        'A booking is made in the name of "{holder}" on the flights {flights} for the passengers {passengers}, paid by '
        "{payments}.",
        noun_phrase='the new booking in the name of "{holder}"',
    ),
    parameters=(
        s.Parameter("holder", s.TEXT, "Who holds it.", s.FromUser(s.OneOf(("Gro Tangen", "Odd Vik")))),
        s.Parameter("flights", s.ListOf(LEG), "The flights.", SAID_LEGS),
        s.Parameter(
            "passengers",
            s.ListOf(PASSENGER),
            "The passengers.",
            s.FromUser(
                s.Several(
                    s.EachField({"full_name": s.OneOf(("Ea Lind", "Ivo Marsh", "Una Holt")), "seats": s.OneOf((1, 2))})
                )
            ),
        ),
        s.Parameter(
            "payments",
            s.ListOf(PAYMENT),
            "The payments.",
            s.FromUser(
                s.Several(s.EachField({"method": s.OneOf(("card", "voucher")), "amount": s.Amount(50_00, 900_00)}))
            ),
        ),
    ),
    raises=(
        MALFORMED,
        NO_FLIGHT,
        s.Raises(s.INVALID_REQUEST, "There is no passenger.", s.count_of(passengers) == 0),
        s.Raises(
            s.INVALID_REQUEST, "An amount is not more than zero.", s.any_item(payments, lambda p: p["amount"] <= 0)
        ),
    ),
    fails=(s.Fails("The payments are less than 50 in all.", s.total_of(payments, lambda p: p["amount"]) < 50_00),),
    effects=(
        s.register(BOOKINGS, "holder", "passengers", "flights", "payments"),
        s.InsertEach(TICKETS, passengers, lambda p: {"full_name": p["full_name"], "flights": s.count_of(flights)}),
    ),
    results=(
        s.success_result("Whether it was booked."),
        s.KeyResult("booking_code", "The new booking.", BOOKINGS),
        s.ValueResult("paid", "What was paid in all.", s.MONEY, s.total_of(payments, lambda p: p["amount"])),
    ),
    critical=True,
)

CHANGE_FLIGHTS = s.Tool(
    name="ChangeFlights",
    summary="Puts a booking on other flights.",
    phrases=s.Phrases(
        "Change {booking_code} to the flights {flights}.", "By a change, {booking_code} is on the flights {flights}."
    ),
    parameters=(BOOKING, s.Parameter("flights", s.ListOf(LEG), "All flights of the booking.", SAID_LEGS)),
    raises=(MALFORMED, NO_BOOKING, NO_FLIGHT),
    effects=(s.change(BOOKINGS, flights=flights),),
    results=(
        s.RowsResult(
            "booking",
            "The booking now.",
            BOOKINGS,
            lambda b: b.booking_code == code,
            ("flights",),
            single=True,
            after=True,
        ),
    ),
    critical=True,
)

REFUND = s.Tool(
    name="RefundBooking",
    summary="Refunds an amount of a booking in one way.",
    phrases=s.Phrases("Refund {booking_code} with {payment}.", "By a refund, {booking_code} has got {payment}."),
    parameters=(
        BOOKING,
        s.Parameter(
            "payment",
            PAYMENT,
            "What is refunded, and how.",
            s.FromUser(s.EachField({"method": s.OneOf(("card", "voucher")), "amount": s.Amount(20_00, 600_00)})),
        ),
    ),
    raises=(
        MALFORMED,
        NO_BOOKING,
        s.Raises(s.INVALID_REQUEST, "The amount is not more than zero.", payment["amount"] <= 0),
    ),
    effects=(s.register(REFUNDS, "booking_code", "payment"),),
    results=(
        s.ValueResult("refund", "What is refunded.", PAYMENT, payment),
        s.ValueResult(
            "in_words", "The way.", s.TEXT, s.choose(payment["method"] == "card", "to the card", "otherwise")
        ),
    ),
    critical=True,
)

CHECK_IDENTITY = s.Tool(
    name="CheckIdentity",
    summary="Checks the passport of the person who asks.",
    leak_words=("passport", "identit", "verif"),
    hint="Check it before a booking is changed or refunded.",
    effects=(s.register(CHECKS, day=today),),
    results=(s.ValueResult("passed", "Whether it is genuine.", s.TEXT, s.constant("yes")),),
    compliance=True,
    critical=True,
)

READ_BOOKING = s.Tool(
    name="ReadBooking",
    summary="Shows a booking with its flights and payments.",
    leak_words=("read", "review", "record"),
    parameters=(BOOKING,),
    raises=(MALFORMED, NO_BOOKING),
    results=(s.show_row("booking", "The booking.", BOOKINGS, "booking_code", "flights", "payments"),),
    compliance=True,
)

TOOLS = (FIND_BOOKING, MAKE_BOOKING, CHANGE_FLIGHTS, REFUND, CHECK_IDENTITY, READ_BOOKING)
TOWNS = ("Porto", "Bergen", "Tallinn", "Valletta", "Lisbon")
HOLDERS = ("Ada Merrow", "Bram Quill", "Cleo Harrow", "Dov Tamsin")
FIRST_DAY = dt.date(2026, 3, 2).toordinal()


def populate(random: Random) -> s.State:
    """Four flights in the next days, and three bookings with one or two of them."""
    day = FIRST_DAY + random.randrange(100)
    offered = [
        s.Row(
            {
                "flight_number": f"TR-{number}",
                "destination": town,
                "date": day + random.randint(1, 9),
                "open": random.choice(CABIN.options),
            }
        )
        for number, town in zip(random.sample(range(100, 999), 4), random.sample(TOWNS, 4), strict=True)
    ]
    booked = [
        s.Row(
            {
                "booking_code": f"KA{1000 + number}",
                "holder": holder,
                "passengers": (s.Record({"full_name": holder, "seats": 1, "contact": None}),),
                "flights": tuple(
                    s.Record({"flight_number": f.values["flight_number"], "date": f.values["date"], "meal": None})
                    for f in random.sample(offered, random.randint(1, 2))
                ),
                "payments": (
                    s.Record({"method": random.choice(["card", "voucher"]), "amount": random.randrange(90_00, 700_00)}),
                ),
            }
        )
        for number, holder in enumerate(random.sample(HOLDERS, 3))
    ]
    desk = s.Row({"desk_id": "current", "today": day})
    return s.State(
        {**dict.fromkeys(ENTITIES, ()), "desk": (desk,), "flights": tuple(offered), "bookings": tuple(booked)}
    )


ENVIRONMENT = s.Environment(
    name="trip_desk",
    title="Trips",
    object_name="TripDesk",
    summary="The desk of an airline that makes, changes and refunds bookings.",
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=s.Clock(s.starts_at(DESK, "today")),
)
