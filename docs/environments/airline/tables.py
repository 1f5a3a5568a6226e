"""The tables of the disruption desk, and a random day at it. All names are invented."""

import datetime as dt
from random import Random

from lawtrace.environments.spec import DATE, MONEY, TEXT, TEXTS, Choice, Entity, Field, Pattern, Row, State

BOOKING_CODE = Pattern("XXNNNN", r"[A-Z]{2}\d{4}")
FLIGHT_NUMBER = Pattern("VE-NNN", r"VE-\d{3}")
CITY = Choice(("Oslo", "Lisbon", "Tallinn", "Valletta", "Porto", "Bergen"))
DISRUPTION = Choice(("cancelled", "delayed", "as planned"))
SEATS = Choice(("free", "none"))

BOOKINGS = Entity(
    table="bookings",
    singular="booking",
    key="booking_code",
    fields={
        "booking_code": Field(BOOKING_CODE),
        "passenger_name": Field(TEXT),
        "flight_number": Field(FLIGHT_NUMBER),
        "operates": Field(DISRUPTION),
        # What is left of the ticket price to reimburse.
        "ticket_price": Field(MONEY),
    },
)

FLIGHTS = Entity(
    table="flights",
    singular="flight",
    key="flight_number",
    fields={"flight_number": Field(FLIGHT_NUMBER), "destination": Field(CITY), "seats": Field(SEATS)},
)

PAYMENTS = Entity(
    table="payments",
    singular="payment",
    key="payment_id",
    key_prefix="PM-",  # tools create payments, so their keys are generated: PM-00001
    fields={
        "payment_id": Field(TEXT),
        "booking_code": Field(BOOKING_CODE),
        "date": Field(DATE),
        "reason": Field(TEXT),
        "amount": Field(MONEY),
    },
)

VOUCHERS = Entity(
    table="vouchers",
    singular="voucher",
    key="voucher_id",
    key_prefix="MV-",
    fields={"voucher_id": Field(TEXT), "booking_code": Field(BOOKING_CODE), "amount": Field(MONEY)},
)

NOTICES = Entity(
    table="notices",
    singular="notice",
    key="notice_id",
    key_prefix="N-",
    fields={"notice_id": Field(TEXT), "date": Field(DATE)},
)

CASE_LOG = Entity(
    table="case_log",
    singular="case entry",
    key="entry_id",
    key_prefix="C-",
    fields={"entry_id": Field(TEXT), "events": Field(TEXTS)},
)

DESK = Entity(table="desk", singular="desk", key="desk_id", fields={"desk_id": Field(TEXT), "today": Field(DATE)})

ENTITIES = {entity.table: entity for entity in (BOOKINGS, FLIGHTS, PAYMENTS, VOUCHERS, NOTICES, CASE_LOG, DESK)}

# Names share words, so that a careless look-up finds too much; each whole name is unique, so that one can be exact.
NAMES = ("Ada Merrow", "Ada Quill", "Bram Merrow", "Bram Tamsin", "Cleo Quill", "Cleo Tamsin", "Dov Harrow")
FIRST_DAY = dt.date(2026, 3, 2).toordinal()


def populate(random: Random) -> State:
    """Four bookings of which three are disrupted, four flights of which three have seats, and an earlier payment."""
    today = FIRST_DAY + random.randrange(200)
    flights = [
        Row({"flight_number": f"VE-{number}", "destination": city, "seats": seats})
        for number, city, seats in zip(
            random.sample(range(100, 500), 4),
            random.sample(CITY.options, 4),
            random.sample(["free", "free", "free", "none"], 4),
            strict=True,
        )
    ]
    bookings = [
        Row(
            {
                "booking_code": code,
                "passenger_name": name,
                "flight_number": f"VE-{random.randrange(500, 1000)}",
                "operates": operates,
                "ticket_price": random.randrange(240_00, 900_00),
            }
        )
        for code, name, operates in zip(
            [f"{letters}{random.randrange(1000, 10_000)}" for letters in random.sample(["KA", "KE", "LU", "MO"], 4)],
            random.sample(NAMES, 4),
            random.sample(["cancelled", "cancelled", "delayed", "as planned"], 4),
            strict=True,
        )
    ]
    paid = Row(
        {
            "payment_id": "PM-00001",
            "booking_code": random.choice(bookings).values["booking_code"],
            "date": today - random.randint(1, 40),
            "reason": "seat reservation",
            "amount": random.randrange(8_00, 40_00),
        }
    )
    desk = Row({"desk_id": "current", "today": today})
    return State(
        {
            **dict.fromkeys(ENTITIES, ()),
            "bookings": tuple(bookings),
            "flights": tuple(flights),
            "payments": (paid,),
            "desk": (desk,),
        }
    )
