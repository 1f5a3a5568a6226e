"""The tables of the smart-home environment.

``now`` is a field of the session: the moment at which it starts. The tools read this field and not the running clock,
because a session is short and goals must not depend on the minute of a call. An access or code expires when its end has
passed by that field, regardless of other fields.
"""

from lawtrace.environments import spec as s

GUEST_ID = s.Pattern("guest_N", r"guest_\d+")
ACCESS_CODE = s.Pattern("XXXXXX", r"\d{6}")
LOCK_STATUS = s.Choice(("locked", "unlocked"))
WITHOUT_END = s.MOMENT.decode("9999-12-31 23:59")
"""The end of a permanent access."""

LOCKS = s.table("locks", "lock", lock_id=s.TEXT, status=LOCK_STATUS)

GUESTS = s.table(
    "guests", "guest", key_of=lambda number: f"guest_{number}", guest_id=GUEST_ID, guest_name=s.TEXT, guest_email=s.TEXT
)

# An access is separate from its guest: deleting a guest does not delete the access.
ACCESSES = s.table(
    "accesses", "access", prefix="A-", access_id=s.TEXT, guest_id=GUEST_ID, start_time=s.MOMENT, end_time=s.MOMENT
)


def _scattered(number: int) -> str:
    """The code of row ``number``: six digits, unique, and not an obvious continuation of neighbouring codes."""
    return str(100_000 + number * 567_629 % 900_000)


ACCESS_CODES = s.table(
    "access_codes",
    "access code",
    key_of=_scattered,
    access_code=ACCESS_CODE,
    start_time=s.MOMENT,
    end_time=s.MOMENT,
    status=s.Choice(("active", "revoked")),
)

# Who came in. Name and address are copied, so an entry stays complete after its guest is deleted.
ACCESS_HISTORY = s.table(
    "access_history",
    "entry",
    entry_id=s.TEXT,
    guest_id=GUEST_ID,
    guest_name=s.TEXT,
    guest_email=s.TEXT,
    access_time=s.MOMENT,
)

SESSION = s.session_entity(now=s.Field(s.MOMENT))

ENTITIES = {
    entity.table: entity for entity in (LOCKS, GUESTS, ACCESSES, ACCESS_CODES, ACCESS_HISTORY, s.AUDIT_LOG, SESSION)
}
