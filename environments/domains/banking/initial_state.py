"""Initial states for banking: a customer with accounts, payees and a little history.

Account types and payee names are unique in a state, so every row that a trace needs can be looked up unambiguously.
Names share words, so an imprecise look-up finds several rows. All names are invented.
"""

import datetime as dt
from random import Random

from lawtrace.environments import spec as s

from .entities import ACCOUNT_TYPE, ENTITIES

PAYEE_NAMES = (
    "Northwind Power",
    "Northwind Gas",
    "Harbour Water Works",
    "Harbour City Taxes",
    "Meadow Mobile",
    "Meadow Internet",
    "Larch Insurance",
    "Larch Home Insurance",
    "Quarry Lane School",
    "Juniper Fitness",
    "Juniper Dental Clinic",
    "Tern Streaming",
)
FIRST_DAY = dt.date(2026, 1, 5).toordinal()


def populate(random: Random) -> s.State:
    """Three or four accounts (always checking and savings), four payees, and up to six past transactions."""
    today = FIRST_DAY + random.randrange(300)
    others = [kind for kind in ACCOUNT_TYPE.options if kind not in {"checking", "savings", "mortgage"}]
    kinds = ["checking", "savings", *random.sample(others, random.randint(1, 2))]
    random.shuffle(kinds)
    accounts = [_account(random, kind) for kind in kinds]
    payees = [
        s.Row({"payee_id": f"P-{number}", "payee_name": name})
        for name, number in zip(random.sample(PAYEE_NAMES, 4), random.sample(range(100_000, 1_000_000), 4), strict=True)
    ]
    session = s.Row({"session_id": "current", "authorized": True, "today": today})
    return s.State(
        {
            **dict.fromkeys(ENTITIES, ()),
            "accounts": tuple(accounts),
            "payees": tuple(payees),
            "transactions": tuple(_history(random, accounts, payees, today)),
            "session": (session,),
        }
    )


def _account(random: Random, kind: str) -> s.Row:
    number = f"{random.randint(100, 999)}-{random.randint(1000, 9999)}-{random.randint(1000, 9999)}"
    room = random.randint(500_00, 9_000_00) if "TFSA" in kind else None
    return s.Row(
        {
            "account_number": number,
            "account_type": kind,
            "balance": random.randint(2_000_00, 10_000_00),
            "status": "active",
            "remaining_contribution_room": room,
        }
    )


def _history(random: Random, accounts: list[s.Row], payees: list[s.Row], today: int) -> list[s.Row]:
    days = sorted(random.randint(1, 100) for _ in range(random.randint(2, 6)))
    rows: list[s.Row] = []
    for number, days_ago in enumerate(reversed(days), start=1):
        account, payee = random.choice(accounts), random.choice(payees)
        rows.append(
            s.Row(
                {
                    "transaction_id": f"T-{number:05d}",
                    "account_number": account.values["account_number"],
                    "date": today - days_ago,
                    "description": payee.values["payee_name"],
                    "amount": -random.randint(5_00, 200_00),
                    "balance": account.values["balance"] + random.randint(0, 300_00),
                    "reference": str(random.randint(100_000_000, 999_999_999)),
                }
            )
        )
    return rows
