"""Scheduling appointments, and viewing, moving and cancelling them."""

from lawtrace.environments.domains.telehealth.entities import APPOINTMENT_ID, APPOINTMENTS, SLOTS
from lawtrace.environments.domains.telehealth.tools.shared import (
    NOT_FOUND,
    UNKNOWN_DOCTOR,
    blank,
    day_of,
    doctor_parameter,
    is_free,
    moment,
    offers,
    time_of,
    unknown,
)
from lawtrace.environments.domains.telehealth.vocabulary import APPOINTMENT_REASONS
from lawtrace.environments.spec import (
    DATE,
    INVALID_REQUEST,
    TEXT,
    TIME,
    Choice,
    Fails,
    FieldValue,
    FromLookup,
    FromUser,
    Insert,
    KeyResult,
    OneOf,
    Parameter,
    Phrases,
    PhrasesByArgument,
    Raises,
    RowsResult,
    RowVariable,
    Term,
    Tool,
    Update,
    argument,
    constant,
    if_given,
    is_given,
    success_result,
    value_of,
)

ACTION = Choice(("view", "update", "cancel"))

doctor, date, time = argument("doctor_id"), argument("date"), argument("time")
appointment, action = argument("appointment_id"), argument("action")


def starts_on(slot: RowVariable, day: Term) -> Term:
    return (slot.start >= moment(day, constant(0))) & (slot.start < moment(day + 1, constant(0)))


SCHEDULE_APPOINTMENT = Tool(
    name="ScheduleAppointment",
    summary="Schedules an appointment with a doctor in one of the doctor's free slots.",
    phrases=Phrases(
        step='Schedule an appointment with {doctor_id} on {date} at {time}, reason "{reason}".',
        outcome='An appointment with {doctor_id} on {date} at {time} has been scheduled, reason "{reason}".',
        noun_phrase="the appointment with {doctor_id} on {date} at {time}",
    ),
    parameters=(
        doctor_parameter("The doctor."),
        Parameter(
            "date",
            DATE,
            "The day of the appointment.",
            FromUser(FieldValue(SLOTS, "start", lambda s: (s.doctor_id == doctor) & is_free(s), day_of)),
        ),
        Parameter(
            "time",
            TIME,
            "The time at which the slot starts.",
            FromUser(
                FieldValue(SLOTS, "start", lambda s: (s.doctor_id == doctor) & starts_on(s, date) & is_free(s), time_of)
            ),
        ),
        Parameter("reason", TEXT, "What the appointment is for.", FromUser(OneOf(APPOINTMENT_REASONS))),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        Raises(INVALID_REQUEST, "The 'date' or the 'time' is not in the right format."),
        blank("reason"),
    ),
    fails=(Fails("The doctor has no free slot that starts then.", ~offers(doctor, date, time)),),
    effects=(
        Insert(
            APPOINTMENTS,
            {
                "doctor_id": doctor,
                "date": date,
                "time": time,
                "reason": argument("reason"),
                "status": constant("confirmed"),
            },
        ),
    ),
    results=(
        KeyResult("appointment_id", "The identifier of the new appointment.", APPOINTMENTS),
        success_result("Whether the appointment was scheduled."),
    ),
    emits="APPOINTMENT_MANAGEMENT",
    critical=True,
)


def doctor_of_the_appointment() -> Term:
    return value_of(APPOINTMENTS, lambda a: a.appointment_id == appointment, "doctor_id", otherwise="")


def is_meant(row: RowVariable) -> Term:
    """The appointment has the call's identifier and can still be changed."""
    return (row.appointment_id == appointment) & (row.status == "confirmed")


def is_moved(row: RowVariable) -> Term:
    """Whether the appointment is moved.

    The document has no refusal for a time at which the doctor is not free: the appointment stays unchanged, and the
    details in the result show that.
    """
    new_date, new_time = if_given(date, date, row.date), if_given(time, time, row.time)
    return is_meant(row) & (action == "update") & offers(row.doctor_id, new_date, new_time)


MANAGE_APPOINTMENTS = Tool(
    name="ManageAppointments",
    summary=(
        "Views, updates or cancels an appointment. An appointment stays as it is if it is not confirmed, or if the "
        "doctor has no free slot at the new time."
    ),
    phrases=PhrasesByArgument(
        "action",
        {
            "view": Phrases(step="View {appointment_id}."),
            "update": Phrases(
                step="Update {appointment_id}[date: to {date}][time: at {time}].",
                outcome="{appointment_id} has been updated[date: to {date}][time: at {time}].",
            ),
            "cancel": Phrases(step="Cancel {appointment_id}.", outcome="{appointment_id} has been cancelled."),
        },
    ),
    parameters=(
        Parameter("appointment_id", APPOINTMENT_ID, "The appointment.", FromLookup(APPOINTMENTS), malformed=NOT_FOUND),
        Parameter("action", ACTION, "What to do with it.", FromUser(OneOf(ACTION.options))),
        Parameter(
            "date",
            DATE,
            "For an update: the new day; if it is not given, the day stays.",
            FromUser(
                FieldValue(SLOTS, "start", lambda s: (s.doctor_id == doctor_of_the_appointment()) & is_free(s), day_of),
                when=action == "update",
            ),
            required=False,
        ),
        Parameter(
            "time",
            TIME,
            "For an update: the new time; if it is not given, the time stays.",
            FromUser(
                FieldValue(
                    SLOTS,
                    "start",
                    lambda s: (s.doctor_id == doctor_of_the_appointment()) & starts_on(s, date) & is_free(s),
                    time_of,
                ),
                when=action == "update",
            ),
            required=False,
        ),
    ),
    raises=(
        unknown(APPOINTMENTS),
        Raises(
            INVALID_REQUEST,
            "The 'action' is not one of the three, or the 'date' or the 'time' is not in the right format.",
        ),
        Raises(
            INVALID_REQUEST,
            "The 'action' is 'update', and neither 'date' nor 'time' is given.",
            (action == "update") & ~is_given(date) & ~is_given(time),
        ),
    ),
    effects=(
        Update(
            APPOINTMENTS,
            is_moved,
            {"date": lambda a: if_given(date, date, a.date), "time": lambda a: if_given(time, time, a.time)},
        ),
        Update(
            APPOINTMENTS,
            lambda a: is_meant(a) & (action == "cancel"),
            {"status": lambda a: constant("cancelled")},
        ),
    ),
    results=(
        RowsResult(
            "appointment_details",
            "The appointment as it is now.",
            APPOINTMENTS,
            lambda a: a.appointment_id == appointment,
            ("appointment_id", "doctor_id", "date", "time", "reason", "status"),
            single=True,
            after=True,
            reveals_key=False,
        ),
    ),
    emits="APPOINTMENT_MANAGEMENT",
    critical=True,
)
