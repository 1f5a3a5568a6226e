"""Tools for doctors, their reviews and appointments, and the terms that telehealth tools share."""

from lawtrace.environments import spec as s

from . import entities as e
from .vocabulary import APPOINTMENT_REASONS, REVIEW_TEXTS

now = s.session_value(e.SESSION, "now")
doctor, date, time = s.argument("doctor_id"), s.argument("date"), s.argument("time")
keywords, location = s.argument("keywords"), s.argument("location")
appointment, action = s.argument("appointment_id"), s.argument("action")


UNKNOWN_DOCTOR = s.unknown(e.DOCTORS)


def doctor_parameter(description: str) -> s.Parameter:
    # An identifier in a wrong format is treated as unknown.
    return s.Parameter("doctor_id", e.DOCTOR_ID, description, s.FromLookup(e.DOCTORS), malformed=s.NOT_FOUND)


def moment(date: s.Term, time: s.Term) -> s.Term:
    """The minute of that day and time."""
    return date * s.MINUTES_PER_DAY + time


def day_of(minute: s.Value) -> s.Value:
    return minute // s.MINUTES_PER_DAY


def time_of(minute: s.Value) -> s.Value:
    return minute % s.MINUTES_PER_DAY


def is_free(slot: s.RowVariable) -> s.Term:
    """The slot is in the future, and no confirmed appointment fills it."""
    filled = s.exists(
        e.APPOINTMENTS,
        lambda a: (a.status == "confirmed") & (a.doctor_id == slot.doctor_id) & (moment(a.date, a.time) == slot.start),
    )
    return (slot.start > now) & ~filled


def offers(doctor: s.Term, date: s.Term, time: s.Term) -> s.Term:
    """The doctor has a free slot that starts at that time of that day."""
    return s.exists(e.SLOTS, lambda row: (row.doctor_id == doctor) & (row.start == moment(date, time)) & is_free(row))


def free_on_the_day(doctor: s.RowVariable, slot: s.RowVariable) -> s.Term:
    """The slot belongs to the doctor, is free, and is on the requested day if one is given."""
    on_the_day = (slot.start >= date * s.MINUTES_PER_DAY) & (slot.start < (date + 1) * s.MINUTES_PER_DAY)
    return (slot.doctor_id == doctor.doctor_id) & is_free(slot) & s.if_given(date, on_the_day)


SEARCH_DOCTORS = s.Tool(
    name="SearchDoctors",
    summary="Finds doctors. A filter that is not given is not applied.",
    phrases=s.Phrases(
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
        s.Parameter(
            "keywords",
            s.TEXT,
            "Part of the name or of the specialty of a doctor, in upper or lower case.",
            s.FromUser(
                s.AnySampler((s.FieldValue(e.DOCTORS, "name"), s.FieldValue(e.DOCTORS, "specialty"))), share=0.9
            ),
            required=False,
        ),
        s.Parameter(
            "location",
            s.TEXT,
            "Part of the place where the doctor is, in upper or lower case.",
            s.FromUser(s.FieldValue(e.DOCTORS, "location"), share=0.4),
            required=False,
        ),
        s.Parameter(
            "date",
            s.DATE,
            "A day on which the doctor must have a free slot.",
            s.FromUser(s.FieldValue(e.SLOTS, "start", is_free, day_of), share=0.2),
            required=False,
        ),
    ),
    raises=(
        s.Raises(s.INVALID_REQUEST, "The 'date' is not in the format 'YYYY-MM-DD'."),
        s.Raises(s.INVALID_REQUEST, "The 'location' is blank.", s.if_given(location, s.is_blank(location), False)),
    ),
    results=(
        s.RowsResult(
            "doctors",
            "The doctors that were found.",
            e.DOCTORS,
            lambda d: (
                s.if_given(keywords, s.contains_text(d.name, keywords) | s.contains_text(d.specialty, keywords))
                & s.if_given(location, s.contains_text(d.location, location))
                & s.if_given(date, s.exists(e.SLOTS, lambda row: free_on_the_day(d, row)))
            ),
            ("doctor_id", "name", "specialty", "location"),
            parts=(
                s.NestedRows(
                    "available_slots",
                    "The doctor's free slots, on the requested day if one is given.",
                    e.SLOTS,
                    free_on_the_day,
                    ("start", "end"),
                ),
            ),
        ),
    ),
)

LEAVE_REVIEW = s.Tool(
    name="LeaveReview",
    summary="Posts a review of a doctor under the user's name.",
    phrases=s.Phrases(
        step='Leave a review of {doctor_id}, rating {rating}, review "{review_content}".',
        outcome='A review of {doctor_id} has been left, rating {rating}, review "{review_content}".',
    ),
    parameters=(
        doctor_parameter("The doctor."),
        s.Parameter("rating", s.INTEGER, "The rating, from 1 to 5.", s.FromUser(s.OneOf((1, 2, 3, 4, 5)))),
        s.Parameter("review_content", s.TEXT, "The review.", s.FromUser(s.OneOf(REVIEW_TEXTS))),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        s.Raises(
            s.INVALID_REQUEST,
            "The 'rating' is not a whole number from 1 to 5.",
            (s.argument("rating") < 1) | (s.argument("rating") > 5),
        ),
        s.blank("review_content"),
    ),
    effects=(
        s.register(
            e.REVIEWS,
            "doctor_id",
            reviewer_name=s.value_of(e.PATIENT, lambda p: p.patient_id == e.CURRENT, "name", otherwise=""),
            rating=s.argument("rating"),
            review_content=s.argument("review_content"),
        ),
    ),
    results=(s.success_result("Whether the review was posted."),),
)

VIEW_REVIEWS = s.Tool(
    name="ViewReviews",
    summary="Shows the reviews of a doctor.",
    phrases=s.Phrases(step="View the reviews of {doctor_id}."),
    parameters=(doctor_parameter("The doctor."),),
    raises=(UNKNOWN_DOCTOR,),
    results=(
        s.RowsResult(
            "reviews",
            "The reviews, oldest first.",
            e.REVIEWS,
            lambda r: r.doctor_id == doctor,
            ("reviewer_name", "rating", "review_content"),
        ),
    ),
)

ACTION = s.Choice(("view", "update", "cancel"))


def starts_on(slot: s.RowVariable, day: s.Term) -> s.Term:
    return (slot.start >= moment(day, s.constant(0))) & (slot.start < moment(day + 1, s.constant(0)))


SCHEDULE_APPOINTMENT = s.Tool(
    name="ScheduleAppointment",
    summary="Schedules an appointment with a doctor in one of the doctor's free slots.",
    phrases=s.Phrases(
        step='Schedule an appointment with {doctor_id} on {date} at {time}, reason "{reason}".',
        outcome='An appointment with {doctor_id} on {date} at {time} has been scheduled, reason "{reason}".',
        noun_phrase="the appointment with {doctor_id} on {date} at {time}",
    ),
    parameters=(
        doctor_parameter("The doctor."),
        s.Parameter(
            "date",
            s.DATE,
            "The day of the appointment.",
            s.FromUser(s.FieldValue(e.SLOTS, "start", lambda row: (row.doctor_id == doctor) & is_free(row), day_of)),
        ),
        s.Parameter(
            "time",
            s.TIME,
            "The time at which the slot starts.",
            s.FromUser(
                s.FieldValue(
                    e.SLOTS,
                    "start",
                    lambda row: (row.doctor_id == doctor) & starts_on(row, date) & is_free(row),
                    time_of,
                )
            ),
        ),
        s.Parameter("reason", s.TEXT, "What the appointment is for.", s.FromUser(s.OneOf(APPOINTMENT_REASONS))),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        s.Raises(s.INVALID_REQUEST, "The 'date' or the 'time' is not in the right format."),
        s.blank("reason"),
    ),
    fails=(s.Fails("The doctor has no free slot that starts at that time.", ~offers(doctor, date, time)),),
    effects=(s.register(e.APPOINTMENTS, "doctor_id", "date", "time", "reason", status="confirmed"),),
    results=(
        s.KeyResult("appointment_id", "The identifier of the new appointment.", e.APPOINTMENTS),
        s.success_result("Whether the appointment was scheduled."),
    ),
    emits="APPOINTMENT_MANAGEMENT",
    critical=True,
)


def doctor_of_the_appointment() -> s.Term:
    return s.field_of(e.APPOINTMENTS, "doctor_id", "")


def is_meant(row: s.RowVariable) -> s.Term:
    """The appointment has the call's identifier and can still be changed."""
    return (row.appointment_id == appointment) & (row.status == "confirmed")


def is_moved(row: s.RowVariable) -> s.Term:
    """Whether the appointment is moved.

    The document has no refusal for a time at which the doctor is not free: the appointment stays unchanged, and the
    details in the result show that.
    """
    new_date, new_time = s.if_given(date, date, row.date), s.if_given(time, time, row.time)
    return is_meant(row) & (action == "update") & offers(row.doctor_id, new_date, new_time)


MANAGE_APPOINTMENTS = s.Tool(
    name="ManageAppointments",
    summary=(
        "Views, updates or cancels an appointment. An appointment stays as it is if it is not confirmed, or if the "
        "doctor has no free slot at the new time."
    ),
    phrases=s.PhrasesByArgument(
        "action",
        {
            "view": s.Phrases(step="View {appointment_id}."),
            "update": s.Phrases(
                step="Update {appointment_id}[date: to {date}][time: at {time}].",
                outcome="{appointment_id} has been updated[date: to {date}][time: at {time}].",
            ),
            "cancel": s.Phrases(step="Cancel {appointment_id}.", outcome="{appointment_id} has been cancelled."),
        },
    ),
    parameters=(
        s.Parameter(
            "appointment_id", e.APPOINTMENT_ID, "The appointment.", s.FromLookup(e.APPOINTMENTS), malformed=s.NOT_FOUND
        ),
        s.option("action", ACTION, "What to do with it."),
        s.Parameter(
            "date",
            s.DATE,
            "For an update: the new day; if it is not given, the day stays the same.",
            s.FromUser(
                s.FieldValue(
                    e.SLOTS, "start", lambda row: (row.doctor_id == doctor_of_the_appointment()) & is_free(row), day_of
                ),
                when=action == "update",
            ),
            required=False,
        ),
        s.Parameter(
            "time",
            s.TIME,
            "For an update: the new time; if it is not given, the time stays the same.",
            s.FromUser(
                s.FieldValue(
                    e.SLOTS,
                    "start",
                    lambda row: (row.doctor_id == doctor_of_the_appointment()) & starts_on(row, date) & is_free(row),
                    time_of,
                ),
                when=action == "update",
            ),
            required=False,
        ),
    ),
    raises=(
        s.unknown(e.APPOINTMENTS),
        s.Raises(
            s.INVALID_REQUEST,
            "The 'action' is not one of the three, or the 'date' or the 'time' is not in the right format.",
        ),
        s.Raises(
            s.INVALID_REQUEST,
            "The 'action' is 'update', and neither 'date' nor 'time' is given.",
            (action == "update") & ~s.is_given(date) & ~s.is_given(time),
        ),
    ),
    effects=(
        s.Update(
            e.APPOINTMENTS,
            is_moved,
            {"date": lambda a: s.if_given(date, date, a.date), "time": lambda a: s.if_given(time, time, a.time)},
        ),
        s.Update(
            e.APPOINTMENTS, lambda a: is_meant(a) & (action == "cancel"), {"status": lambda a: s.constant("cancelled")}
        ),
    ),
    results=(
        s.RowsResult(
            "appointment_details",
            "The appointment as it is now.",
            e.APPOINTMENTS,
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
