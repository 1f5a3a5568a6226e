"""Terms and parameters shared by the telehealth tools: the doctor, availability, blank texts, the clock."""

from lawtrace.environments.domains.telehealth.entities import APPOINTMENTS, DOCTOR_ID, DOCTORS, SESSION, SLOTS
from lawtrace.environments.spec import (
    INVALID_REQUEST,
    MINUTES_PER_DAY,
    Entity,
    FromLookup,
    Parameter,
    Raises,
    RowVariable,
    Term,
    Value,
    argument,
    exists,
    is_blank,
    is_unknown,
    session_value,
)

NOT_FOUND = "NotFoundException"
CURRENT = "current"

now = session_value(SESSION, "now")


def unknown(entity: Entity) -> Raises:
    """The refusal of a key that no row of the entity has."""
    description = f"There is no {entity.singular} with that '{entity.key}'."
    return Raises(NOT_FOUND, description, is_unknown(entity, entity.key))


UNKNOWN_DOCTOR = unknown(DOCTORS)


def doctor_parameter(description: str) -> Parameter:
    # An identifier in a wrong format is treated as unknown.
    return Parameter("doctor_id", DOCTOR_ID, description, FromLookup(DOCTORS), malformed=NOT_FOUND)


def blank(name: str) -> Raises:
    """The refusal of a blank text."""
    return Raises(INVALID_REQUEST, f"The '{name}' is blank.", is_blank(argument(name)))


def moment(date: Term, time: Term) -> Term:
    """The minute of that day and time."""
    return date * MINUTES_PER_DAY + time


def day_of(minute: Value) -> Value:
    return minute // MINUTES_PER_DAY


def time_of(minute: Value) -> Value:
    return minute % MINUTES_PER_DAY


def is_free(slot: RowVariable) -> Term:
    """The slot is in the future, and no confirmed appointment fills it."""
    filled = exists(
        APPOINTMENTS,
        lambda a: (a.status == "confirmed") & (a.doctor_id == slot.doctor_id) & (moment(a.date, a.time) == slot.start),
    )
    return (slot.start > now) & ~filled


def offers(doctor: Term, date: Term, time: Term) -> Term:
    """The doctor has a free slot that starts at that time of that day."""
    return exists(SLOTS, lambda s: (s.doctor_id == doctor) & (s.start == moment(date, time)) & is_free(s))
