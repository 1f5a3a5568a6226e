"""The tables of the smart-home environment.

``now`` is a field of the session: the moment at which it starts. The tools read this field and not the running clock,
because a session is short and goals must not depend on the minute of a call. An access or code expires when its end has
passed by that field, regardless of other fields.
"""

from lawtrace.environments.spec import AUDIT_LOG, MOMENT, TEXT, Choice, Entity, Field, Pattern, session_entity

GUEST_ID = Pattern("guest_N", r"guest_\d+")
ACCESS_CODE = Pattern("XXXXXX", r"\d{6}")
LOCK_STATUS = Choice(("locked", "unlocked"))
WITHOUT_END = MOMENT.decode("9999-12-31 23:59")
"""The end of a permanent access."""

LOCKS = Entity(
    table="locks", singular="lock", key="lock_id", fields={"lock_id": Field(TEXT), "status": Field(LOCK_STATUS)}
)

GUESTS = Entity(
    table="guests",
    singular="guest",
    key="guest_id",
    key_of=lambda number: f"guest_{number}",
    fields={"guest_id": Field(GUEST_ID), "guest_name": Field(TEXT), "guest_email": Field(TEXT)},
)

# An access is separate from its guest: deleting a guest does not delete the access.
ACCESSES = Entity(
    table="accesses",
    singular="access",
    key="access_id",
    key_prefix="A-",
    fields={
        "access_id": Field(TEXT),
        "guest_id": Field(GUEST_ID),
        "start_time": Field(MOMENT),
        "end_time": Field(MOMENT),
    },
)


def _scattered(number: int) -> str:
    """The code of row ``number``: six digits, unique, and not an obvious continuation of neighbouring codes."""
    return str(100_000 + number * 567_629 % 900_000)


ACCESS_CODES = Entity(
    table="access_codes",
    singular="access code",
    key="access_code",
    key_of=_scattered,
    fields={
        "access_code": Field(ACCESS_CODE),
        "start_time": Field(MOMENT),
        "end_time": Field(MOMENT),
        "status": Field(Choice(("active", "revoked"))),
    },
)

# Who came in. Name and address are copied, so an entry stays complete after its guest is deleted.
ACCESS_HISTORY = Entity(
    table="access_history",
    singular="entry",
    key="entry_id",
    fields={
        "entry_id": Field(TEXT),
        "guest_id": Field(GUEST_ID),
        "guest_name": Field(TEXT),
        "guest_email": Field(TEXT),
        "access_time": Field(MOMENT),
    },
)

SESSION = session_entity(now=Field(MOMENT))

ENTITIES = {
    entity.table: entity for entity in (LOCKS, GUESTS, ACCESSES, ACCESS_CODES, ACCESS_HISTORY, AUDIT_LOG, SESSION)
}
