"""Initial states for the smart home: a door, its guests, their access and their history.

Each state has a guest of every kind: with permanent access, temporary access, expired access, and no access. Names
share words, so an imprecise search finds several guests. All names and addresses are invented.
"""

import datetime as dt
from random import Random

from lawtrace.environments import spec as s

from .entities import ENTITIES, LOCK_STATUS, WITHOUT_END

GUEST_NAMES = (
    "Mara Quell",
    "Mara Windlass",
    "Tobin Quell",
    "Tobin Ashdown",
    "Ilka Marsh",
    "Ilka Hollin",
    "Edda Marsh",
    "Edda Farrow",
    "Joss Hollin",
    "Joss Windlass",
    "Nils Farrow",
    "Nils Ashdown",
    "Runa Pellworm",
    "Casimir Oake",
)
GUEST_EMAILS = tuple(
    f"{creature}{number}@example.org"
    for creature in ("heron", "badger", "linnet", "otter", "plover", "marten")
    for number in (14, 27, 63)
)
FIRST_DAY = dt.date(2028, 1, 3)  # the requirements apply from 11 December 2027
HOUR, DAY = 60, 24 * 60


def populate(random: Random) -> s.State:
    """A door, four or five guests with every kind of access, two codes, and three to six entries of history."""
    now = s.MOMENT.decode(f"{FIRST_DAY + dt.timedelta(random.randrange(300))} {random.randint(8, 20):02d}:00")
    count = random.randint(4, 5)
    names, emails = random.sample(GUEST_NAMES, count), random.sample(GUEST_EMAILS, count)
    ids = [f"guest_{number}" for number in random.sample(range(10_000, 100_000), count)]
    guests = [
        s.Row({"guest_id": guest_id, "guest_name": name, "guest_email": email})
        for guest_id, name, email in zip(ids, names, emails, strict=True)
    ]
    visitors = random.sample(guests, 3)
    windows = [
        (now - random.randint(20, 200) * DAY, WITHOUT_END),
        (now - random.randint(1, 48) * HOUR, now + random.randint(4, 96) * HOUR),
        (now - random.randint(20, 30) * DAY, now - random.randint(1, 48) * HOUR),
    ]
    return s.State(
        {
            **dict.fromkeys(ENTITIES, ()),
            "locks": (s.Row({"lock_id": "front door", "status": random.choice(LOCK_STATUS.options)}),),
            "guests": tuple(guests),
            "accesses": tuple(
                s.Row(
                    {
                        "access_id": f"A-{number:05d}",
                        "guest_id": guest.values["guest_id"],
                        "start_time": start,
                        "end_time": end,
                    }
                )
                for number, (guest, (start, end)) in enumerate(zip(visitors, windows, strict=True), 1)
            ),
            "access_codes": tuple(_codes(random, now)),
            "access_history": tuple(_history(random, now, visitors)),
            "session": (s.Row({"session_id": "current", "authorized": True, "now": now}),),
        }
    )


def _codes(random: Random, now: int) -> list[s.Row]:
    """A valid code and an expired code."""
    starts, ends = (now - 2 * HOUR, now - 30 * HOUR), (now + 20 * HOUR, now - 6 * HOUR)
    return [
        s.Row({"access_code": str(code), "start_time": start, "end_time": end, "status": "active"})
        for code, start, end in zip(random.sample(range(100_000, 1_000_000), 2), starts, ends, strict=True)
    ]


def _history(random: Random, now: int, visitors: list[s.Row]) -> list[s.Row]:
    moments = sorted(now - random.randint(2 * DAY, 20 * DAY) for _ in range(random.randint(3, 6)))
    return [
        s.Row({"entry_id": f"H-{number:05d}", **random.choice(visitors).values, "access_time": moment})
        for number, moment in enumerate(moments, 1)
    ]
