"""The tables of the telehealth environment.

Doctors offer slots; a slot is free unless a confirmed appointment fills it. So availability is derived from the
appointments and not stored twice.
"""

from lawtrace.environments import spec as s

CURRENT = "current"
"""The key of the one patient."""

DOCTOR_ID = s.Pattern("D-XXXX", r"D-\d{4}")
APPOINTMENT_ID = s.Pattern("A-XXXXX", r"A-\d{5}")
CONSULTATION_ID = s.Pattern("C-XXXXX", r"C-\d{5}")

DOCTORS = s.Entity(
    table="doctors",
    singular="doctor",
    key="doctor_id",
    fields={
        "doctor_id": s.Field(DOCTOR_ID),
        "name": s.Field(s.TEXT),
        "specialty": s.Field(s.TEXT),
        "location": s.Field(s.TEXT),
    },
)

SLOTS = s.Entity(
    table="slots",
    singular="slot",
    key="slot_id",
    fields={
        "slot_id": s.Field(s.TEXT),
        "doctor_id": s.Field(DOCTOR_ID),
        "start": s.Field(s.MOMENT),
        "end": s.Field(s.MOMENT),
    },
)

APPOINTMENTS = s.Entity(
    table="appointments",
    singular="appointment",
    key="appointment_id",
    key_prefix="A-",
    fields={
        "appointment_id": s.Field(APPOINTMENT_ID),
        "doctor_id": s.Field(DOCTOR_ID),
        "date": s.Field(s.DATE),
        "time": s.Field(s.TIME),
        "reason": s.Field(s.TEXT),
        "status": s.Field(s.Choice(("confirmed", "cancelled", "completed"))),
        # The doctor's findings, after the appointment has taken place.
        "conclusions": s.Field(s.TEXT, optional=True),
    },
)

CONSULTATIONS = s.Entity(
    table="consultations",
    singular="consultation",
    key="consultation_id",
    key_prefix="C-",
    fields={
        "consultation_id": s.Field(CONSULTATION_ID),
        "doctor_id": s.Field(DOCTOR_ID),
        "reason": s.Field(s.TEXT),
        "started": s.Field(s.MOMENT),
    },
)

MESSAGES = s.Entity(
    table="messages",
    singular="message",
    key="message_id",
    key_prefix="M-",
    fields={
        "message_id": s.Field(s.TEXT),
        "consultation_id": s.Field(CONSULTATION_ID),
        "message_content": s.Field(s.TEXT),
        "doctor_response": s.Field(s.TEXT),
    },
)

PRESCRIPTIONS = s.Entity(
    table="prescriptions",
    singular="prescription",
    key="prescription_request_id",
    key_prefix="R-",
    fields={
        "prescription_request_id": s.Field(s.TEXT),
        "medication_name": s.Field(s.TEXT),
        "dosage": s.Field(s.TEXT),
        "status": s.Field(s.Choice(("pending", "approved", "declined"))),
        "doctor_id": s.Field(DOCTOR_ID),
    },
)

REVIEWS = s.Entity(
    table="reviews",
    singular="review",
    key="review_id",
    key_prefix="V-",
    fields={
        "review_id": s.Field(s.TEXT),
        "doctor_id": s.Field(DOCTOR_ID),
        "reviewer_name": s.Field(s.TEXT),
        "rating": s.Field(s.INTEGER),
        "review_content": s.Field(s.TEXT),
    },
)

PATIENT = s.Entity(
    table="patient",
    singular="patient",
    key="patient_id",
    fields={
        "patient_id": s.Field(s.TEXT),
        "name": s.Field(s.TEXT),
        "date_of_birth": s.Field(s.DATE),
        "location": s.Field(s.TEXT),
        "familial_genetic_diseases": s.Field(s.TEXTS),
        "allergies": s.Field(s.TEXTS),
        "medications": s.Field(s.TEXTS),
        "immunizations": s.Field(s.TEXTS),
    },
)

SESSION = s.session_entity(now=s.Field(s.MOMENT))

ENTITIES = {
    entity.table: entity
    for entity in (
        DOCTORS,
        SLOTS,
        APPOINTMENTS,
        CONSULTATIONS,
        MESSAGES,
        PRESCRIPTIONS,
        REVIEWS,
        PATIENT,
        s.AUDIT_LOG,
        SESSION,
    )
}
