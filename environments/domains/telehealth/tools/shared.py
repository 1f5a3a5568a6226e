"""Terms and parameters shared by the telehealth tools: the doctor, availability, blank texts, the clock."""

from lawtrace.environments.domains.telehealth.entities import APPOINTMENTS, DOCTOR_ID, DOCTORS, SESSION, SLOTS
from lawtrace.environments.spec import (
    MINUTES_PER_DAY,
    Entity,
    FromLookup,
    Parameter,
    Raises,
    RowVariable,
    Term,
    Value,
    apply,
    argument,
    exists,
    value_of,
)

NOT_FOUND = "NotFoundException"
CURRENT = "current"

now = value_of(SESSION, lambda s: s.session_id == CURRENT, "now", otherwise=0)


def is_unknown(entity: Entity, name: str) -> Term:
    return ~exists(entity, lambda row: getattr(row, entity.key) == argument(name))


UNKNOWN_DOCTOR = Raises(NOT_FOUND, "There is no doctor with that 'doctor_id'.", is_unknown(DOCTORS, "doctor_id"))


def doctor_parameter(description: str) -> Parameter:
    # An identifier in a wrong format is treated as unknown.
    return Parameter("doctor_id", DOCTOR_ID, description, FromLookup(DOCTORS), malformed=NOT_FOUND)


def is_blank(name: str) -> Term:
    return apply("{0} is blank", _is_blank, argument(name))


def _is_blank(text: str) -> bool:
    return not text.strip()


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
