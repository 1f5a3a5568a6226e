"""Tools for doctors, their reviews and appointments, and the terms that telehealth tools share."""

from lawtrace.environments.spec import (
    DATE,
    INTEGER,
    INVALID_REQUEST,
    MINUTES_PER_DAY,
    TEXT,
    TIME,
    AnySampler,
    Choice,
    Entity,
    Fails,
    FieldValue,
    FromLookup,
    FromUser,
    Insert,
    KeyResult,
    NestedRows,
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
    Value,
    argument,
    constant,
    contains_text,
    exists,
    if_given,
    is_blank,
    is_given,
    is_unknown,
    session_value,
    success_result,
    value_of,
)

from .entities import (
    APPOINTMENT_ID,
    APPOINTMENTS,
    CURRENT,
    DOCTOR_ID,
    DOCTORS,
    PATIENT,
    REVIEWS,
    SESSION,
    SLOTS,
)
from .vocabulary import APPOINTMENT_REASONS, REVIEW_TEXTS

NOT_FOUND = "NotFoundException"

now = session_value(SESSION, "now")
doctor, date, time = argument("doctor_id"), argument("date"), argument("time")
keywords, location = argument("keywords"), argument("location")
appointment, action = argument("appointment_id"), argument("action")


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


def free_on_the_day(doctor: RowVariable, slot: RowVariable) -> Term:
    """The slot belongs to the doctor, is free, and is on the requested day if one is given."""
    on_the_day = (slot.start >= date * MINUTES_PER_DAY) & (slot.start < (date + 1) * MINUTES_PER_DAY)
    return (slot.doctor_id == doctor.doctor_id) & is_free(slot) & if_given(date, on_the_day)


SEARCH_DOCTORS = Tool(
    name="SearchDoctors",
    summary="Finds doctors. A filter that is not given is not applied.",
    phrases=Phrases(
        step=(
            'Search for the doctors[keywords: with the keywords "{keywords}"][location: at the location "{location}"]'
            "[date: free on the date {date}]."
        ),
        noun_phrase=(
            'the doctor found[keywords: with the keywords "{keywords}"][location: at the location "{location}"]'
            "[date: free on the date {date}]"
        ),
    ),
    parameters=(
        Parameter(
            "keywords",
            TEXT,
            "Part of the name or of the specialty of a doctor, in upper or lower case.",
            FromUser(AnySampler((FieldValue(DOCTORS, "name"), FieldValue(DOCTORS, "specialty"))), share=0.9),
            required=False,
        ),
        Parameter(
            "location",
            TEXT,
            "Part of the place where the doctor is, in upper or lower case.",
            FromUser(FieldValue(DOCTORS, "location"), share=0.4),
            required=False,
        ),
        Parameter(
            "date",
            DATE,
            "A day on which the doctor must have a free slot.",
            FromUser(FieldValue(SLOTS, "start", is_free, day_of), share=0.2),
            required=False,
        ),
    ),
    raises=(
        Raises(INVALID_REQUEST, "The 'date' is not in the format 'YYYY-MM-DD'."),
        Raises(INVALID_REQUEST, "The 'location' is blank.", if_given(location, is_blank(location), False)),
    ),
    results=(
        RowsResult(
            "doctors",
            "The doctors that were found.",
            DOCTORS,
            lambda d: (
                if_given(
                    keywords,
                    contains_text(d.name, keywords) | contains_text(d.specialty, keywords),
                )
                & if_given(location, contains_text(d.location, location))
                & if_given(date, exists(SLOTS, lambda s: free_on_the_day(d, s)))
            ),
            ("doctor_id", "name", "specialty", "location"),
            parts=(
                NestedRows(
                    "available_slots",
                    "The doctor's free slots, on the requested day if one is given.",
                    SLOTS,
                    free_on_the_day,
                    ("start", "end"),
                ),
            ),
        ),
    ),
)

LEAVE_REVIEW = Tool(
    name="LeaveReview",
    summary="Posts a review of a doctor under the user's name.",
    phrases=Phrases(
        step='Leave a review of {doctor_id}, rating {rating}, review "{review_content}".',
        outcome='A review of {doctor_id} has been left, rating {rating}, review "{review_content}".',
    ),
    parameters=(
        doctor_parameter("The doctor."),
        Parameter("rating", INTEGER, "The rating, from 1 to 5.", FromUser(OneOf((1, 2, 3, 4, 5)))),
        Parameter("review_content", TEXT, "The review.", FromUser(OneOf(REVIEW_TEXTS))),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        Raises(
            INVALID_REQUEST,
            "The 'rating' is not a whole number from 1 to 5.",
            (argument("rating") < 1) | (argument("rating") > 5),
        ),
        blank("review_content"),
    ),
    effects=(
        Insert(
            REVIEWS,
            {
                "doctor_id": doctor,
                "reviewer_name": value_of(PATIENT, lambda p: p.patient_id == CURRENT, "name", otherwise=""),
                "rating": argument("rating"),
                "review_content": argument("review_content"),
            },
        ),
    ),
    results=(success_result("Whether the review was posted."),),
)

VIEW_REVIEWS = Tool(
    name="ViewReviews",
    summary="Shows the reviews of a doctor.",
    phrases=Phrases(step="View the reviews of {doctor_id}."),
    parameters=(doctor_parameter("The doctor."),),
    raises=(UNKNOWN_DOCTOR,),
    results=(
        RowsResult(
            "reviews",
            "The reviews, oldest first.",
            REVIEWS,
            lambda r: r.doctor_id == doctor,
            ("reviewer_name", "rating", "review_content"),
        ),
    ),
)

ACTION = Choice(("view", "update", "cancel"))


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
    fails=(Fails("The doctor has no free slot that starts at that time.", ~offers(doctor, date, time)),),
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
            "For an update: the new day; if it is not given, the day stays the same.",
            FromUser(
                FieldValue(SLOTS, "start", lambda s: (s.doctor_id == doctor_of_the_appointment()) & is_free(s), day_of),
                when=action == "update",
            ),
            required=False,
        ),
        Parameter(
            "time",
            TIME,
            "For an update: the new time; if it is not given, the time stays the same.",
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
