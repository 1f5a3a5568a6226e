"""Initial states for payments: one customer, and what the institution has on file about accounts, cards and payees.

Every name is unique in a state and part of no other, so each row can be looked up by its name. All names are invented.
Sessions start on a Thursday or a Friday, so that a weekend can follow. Days on which orders are due are Tuesdays to
Fridays: the business day before is then the calendar day before.
"""

import datetime as dt
from random import Random

from lawtrace.environments import spec as s

from .entities import ENTITIES

FIRST_DAY = dt.date(2026, 3, 5).toordinal()
ACCOUNT_NAMES = ("everyday account", "holiday pot", "household account", "rainy-day pot")
PAYEE_NAMES = (
    "Margit Lindqvist",
    "Tomasz Wolny",
    "Bellweather Dental",
    "Fernhill Nursery",
    "Osier Street Garage",
    "Ruth Adebayo",
    "Kettle and Crane Roofing",
    "Pelham Music School",
)
OWN_PAYEES = ("My Larkspur savings", "My travel fund", "My account at Hollin Bank")
CARD_NAMES = ("blue debit card", "travel card", "grey credit card", "joint card")
PHONES = ("Aster 12", "Corvid Mini", "Nimbus One")
READERS = ("TapKey 3", "TapKey 5")
ORDER_NAMES = (
    ("rent for Alder Court", "scheduled transfer"),
    ("deposit for the cottage", "scheduled transfer"),
    ("gift to Aunt Isolde", "scheduled transfer"),
    ("Juniper Fitness membership", "direct debit"),
    ("Meadow Mobile contract", "direct debit"),
    ("Larch Insurance premium", "direct debit"),
    ("repayment to Viktor", "transfer under way"),
    ("bike from Petra", "transfer under way"),
)
TRANSACTION_NAMES = (
    ("Halcyon Hotels, Lisbon", "card payment"),
    ("Zephyr Car Hire", "card payment"),
    ("Quillon Electronics", "card payment"),
    ("Northwind Power, February", "direct debit"),
    ("Tern Streaming", "direct debit"),
    ("Harbour Water Works", "direct debit"),
    ("transfer to D. Marchetti", "transfer"),
    ("transfer to K. Osei", "transfer"),
)
PROVIDER_NAMES = ("Budgetwise", "Pennyplan", "Tallysheet", "Moneta View")
AMOUNTS = {
    "Halcyon Hotels, Lisbon": 412_60,
    "Zephyr Car Hire": 287_90,
    "Quillon Electronics": 649_00,
    "Northwind Power, February": 138_45,
    "Tern Streaming": 15_99,
    "Harbour Water Works": 74_20,
    "transfer to D. Marchetti": 230_00,
    "transfer to K. Osei": 95_00,
    "rent for Alder Court": 780_00,
    "deposit for the cottage": 250_00,
    "gift to Aunt Isolde": 60_00,
    "Juniper Fitness membership": 39_90,
    "Meadow Mobile contract": 24_50,
    "Larch Insurance premium": 118_00,
    "repayment to Viktor": 45_00,
    "bike from Petra": 190_00,
}

RESTRICTIONS = ("none", "none", "none", "none", "frozen, may be told", "frozen, must not be told")
LATELY, WEEKS_AGO, YEARS_AGO = (
    day.toordinal() for day in (dt.date(2026, 2, 12), dt.date(2025, 12, 9), dt.date(2024, 11, 26))
)
"""Days of debit: within eight weeks, within thirteen months, and longer ago."""
AUTUMN, LAST_SPRING = (day.toordinal() for day in (dt.date(2025, 11, 3), dt.date(2025, 5, 19)))
"""Days of an authentication: within 180 days, and longer ago."""
DUE_DAYS = tuple(dt.date(2026, 3, day).toordinal() for day in (5, 6, 12, 19))


def populate(random: Random) -> s.State:
    """A customer with two accounts, four payees, two cards, two devices, four orders, five transactions and three
    providers."""
    day = FIRST_DAY + random.randrange(2)
    now = day * s.MINUTES_PER_DAY + random.randrange(9 * 60, 16 * 60, 5)
    numbers = random.sample(range(1000, 10_000), 60)
    accounts = [
        _row(
            account_id=f"AC-{numbers.pop()}",
            nickname=name,
            iban=_iban(random),
            balance=random.randint(1_500, 6_000) * 100,
        )
        for name in random.sample(ACCOUNT_NAMES, 2)
    ]
    cards = [_card(random, name, numbers.pop()) for name in random.sample(CARD_NAMES, 2)]
    transactions = [
        _transaction(random, name, scheme, numbers.pop(), random.choice(accounts))
        for name, scheme in random.sample(TRANSACTION_NAMES, 5)
    ]
    findings = [
        _row(
            transaction_id=transaction.values["transaction_id"],
            evidence=random.choice(("none", "use of the card or password only", "full proof")),
        )
        for transaction in transactions
    ]
    tables = {
        "accounts": accounts,
        "statements": [
            _row(
                statement_id=f"ST-{numbers.pop()}",
                name=f"statement of the {account.values['nickname']}",
                account_id=account.values["account_id"],
            )
            for account in accounts
        ],
        "payees": _payees(random, numbers),
        "cards": cards,
        "tap_counters": [
            _row(
                card_id=card.values["card_id"],
                contactless_total=random.choice((88_10, 146_75, 163_20, 181_55)),
                # Five earlier taps are left out: whether the present one counts is disputed.
                contactless_count=random.choice((3, 4, 7, 8)),
            )
            for card in cards
        ],
        "pin_payments": [
            _row(pin_payment_id=f"PI-{numbers.pop()}", card_id=card.values["card_id"], made=_soon(random, now))
            for card in cards
            if _likely(random, 1 / 3)
        ],
        "devices": _devices(random, numbers),
        "security_file": [_security_file(random)],
        "counters": [_counter(random)],
        "orders": [_order(random, name, kind, numbers.pop(), day) for name, kind in random.sample(ORDER_NAMES, 4)],
        "transactions": transactions,
        "findings": findings,
        "proofs": [
            _row(
                proof_id=f"PF-{numbers.pop()}",
                transaction_id=finding.values["transaction_id"],
                arrives=_soon(random, now),
            )
            for finding in findings
            if finding.values["evidence"] != "full proof" and _likely(random, 1 / 3)
        ],
        "providers": [
            _provider(random, name, numbers.pop(), random.choice(accounts)) for name in random.sample(PROVIDER_NAMES, 3)
        ],
        "session": [_row(session_id="current", now=now, today=day)],
    }
    return s.State({**dict.fromkeys(ENTITIES, ()), **{table: tuple(rows) for table, rows in tables.items()}})


def _row(**values: s.Value) -> s.Row:
    return s.Row(values)


def _iban(random: Random) -> str:
    return f"EX{random.randint(10, 99)} {random.randint(1000, 9999)} {random.randint(1000, 9999)}"


def _soon(random: Random, now: int) -> int:
    """A moment in the next days."""
    return now + random.randrange(90, 60 * 60, 10)


def _likely(random: Random, share: float) -> bool:
    return random.random() < share


def _payees(random: Random, numbers: list[int]) -> list[s.Row]:
    """Two or three other people and firms, and one or two accounts of the customer."""
    own = random.sample(OWN_PAYEES, random.randint(1, 2))
    rows = [(name, False) for name in random.sample(PAYEE_NAMES, 4 - len(own))] + [(name, True) for name in own]
    random.shuffle(rows)
    return [
        _row(
            payee_id=f"PY-{numbers.pop()}",
            name=name,
            iban=_iban(random),
            trusted=_likely(random, 0.4),
            held_by="the customer" if is_own else "someone else",
            same_institution="Hollin" not in name if is_own else _likely(random, 0.4),
            suspicious=_likely(random, 0.25),
            restriction="none" if is_own else random.choice(RESTRICTIONS),
        )
        for name, is_own in rows
    ]


def _card(random: Random, name: str, number: int) -> s.Row:
    status = random.choice(("active", "active", "active", "blocked", "blocked", "reported lost"))
    return _row(
        card_id=f"CD-{number}",
        nickname=name,
        status=status,
        reason_persists=status == "reported lost" or (status == "blocked" and _likely(random, 0.5)),
        pin_failures=random.choice((0, 2, 5, 5) if status == "active" else (0, 2)),
    )


def _devices(random: Random, numbers: list[int]) -> list[s.Row]:
    """A phone and a card reader, at least one of which is active."""
    statuses = ["active", random.choice(("active", "reported lost", "awaiting activation"))]
    random.shuffle(statuses)
    models = (random.choice(PHONES), random.choice(READERS))
    return [
        _row(device_id=f"DV-{numbers.pop()}", kind=kind, model=model, status=status)
        for kind, model, status in zip(("phone", "card reader"), models, statuses, strict=True)
    ]


def _security_file(random: Random) -> s.Row:
    incident = random.choice(("none", "none", "minor", "major", "major"))
    return _row(
        file_id="current",
        failed_attempts=random.choice((1, 1, 4, 4, 5)),
        password=random.choice(("sound", "on a list of stolen passwords")),
        fingerprint=random.choice(("enrolled", "not enrolled")),
        last_authenticated_view=random.choice((AUTUMN, LAST_SPRING, None)),
        incident=incident,
        touches_customers_money=incident != "none" and _likely(random, 0.5),
    )


def _counter(random: Random) -> s.Row:
    return _row(
        counter_id="current",
        remote_total=random.choice((61_40, 97_30, 112_80, 140_25)),
        remote_count=random.choice((4, 5, 6, 7)),
    )


def _order(random: Random, name: str, kind: str, number: int, day: int) -> s.Row:
    is_late = kind == "transfer under way" or _likely(random, 0.65)
    due = day if is_late else random.choice([due for due in DUE_DAYS if due > day])
    return _row(
        order_id=f"OR-{number}",
        description=name,
        kind=kind,
        amount=AMOUNTS[name],
        due=due,
        institution_agrees=_likely(random, 0.6),
        payee_agrees=_likely(random, 0.6),
        revoked=False,
    )


def _transaction(random: Random, name: str, scheme: str, number: int, account: s.Row) -> s.Row:
    """A transaction about which there is a claim, or none. A payee does not initiate a transfer."""
    grounds = ("not authorised",) if scheme == "transfer" else ("not authorised", "payee took too much")
    return _row(
        transaction_id=f"TR-{number}",
        account_id=account.values["account_id"],
        description=name,
        debited=random.choice((LATELY, LATELY, WEEKS_AGO, YEARS_AGO)),
        amount=AMOUNTS[name],
        scheme=scheme,
        consent=random.choice(("given", "given", "withdrawn" if scheme == "direct debit" else "given")),
        informed=_likely(random, 0.7),
        fraud_grounds=_likely(random, 0.25),
        exact_amount_agreed=_likely(random, 0.5),
        above_expectation=_likely(random, 0.6),
        claim=random.choice(grounds) if _likely(random, 0.75) else None,
    )


def _provider(random: Random, name: str, number: int, account: s.Row) -> s.Row:
    return _row(
        provider_id=f"PV-{number}",
        name=name,
        designated_account=account.values["account_id"],
        last_authenticated=random.choice((AUTUMN, AUTUMN, LAST_SPRING, None)),
        evidence_of_misuse=_likely(random, 0.2),
    )
