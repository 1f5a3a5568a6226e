"""The tables of the telehealth environment.

Doctors offer slots; a slot is free unless a confirmed appointment fills it. So availability is derived from the
appointments and not stored twice.
"""

from lawtrace.environments.spec import (
    AUDIT_LOG,
    DATE,
    INTEGER,
    MOMENT,
    TEXT,
    TEXTS,
    TIME,
    Choice,
    Entity,
    Field,
    Pattern,
    session_entity,
)

CURRENT = "current"
"""The key of the one patient."""

DOCTOR_ID = Pattern("D-XXXX", r"D-\d{4}")
APPOINTMENT_ID = Pattern("A-XXXXX", r"A-\d{5}")
CONSULTATION_ID = Pattern("C-XXXXX", r"C-\d{5}")

DOCTORS = Entity(
    table="doctors",
    singular="doctor",
    key="doctor_id",
    fields={
        "doctor_id": Field(DOCTOR_ID),
        "name": Field(TEXT),
        "specialty": Field(TEXT),
        "location": Field(TEXT),
    },
)

SLOTS = Entity(
    table="slots",
    singular="slot",
    key="slot_id",
    fields={
        "slot_id": Field(TEXT),
        "doctor_id": Field(DOCTOR_ID),
        "start": Field(MOMENT),
        "end": Field(MOMENT),
    },
)

APPOINTMENTS = Entity(
    table="appointments",
    singular="appointment",
    key="appointment_id",
    key_prefix="A-",
    fields={
        "appointment_id": Field(APPOINTMENT_ID),
        "doctor_id": Field(DOCTOR_ID),
        "date": Field(DATE),
        "time": Field(TIME),
        "reason": Field(TEXT),
        "status": Field(Choice(("confirmed", "cancelled", "completed"))),
        # The doctor's findings, after the appointment has taken place.
        "conclusions": Field(TEXT, optional=True),
    },
)

CONSULTATIONS = Entity(
    table="consultations",
    singular="consultation",
    key="consultation_id",
    key_prefix="C-",
    fields={
        "consultation_id": Field(CONSULTATION_ID),
        "doctor_id": Field(DOCTOR_ID),
        "reason": Field(TEXT),
        "started": Field(MOMENT),
    },
)

MESSAGES = Entity(
    table="messages",
    singular="message",
    key="message_id",
    key_prefix="M-",
    fields={
        "message_id": Field(TEXT),
        "consultation_id": Field(CONSULTATION_ID),
        "message_content": Field(TEXT),
        "doctor_response": Field(TEXT),
    },
)

PRESCRIPTIONS = Entity(
    table="prescriptions",
    singular="prescription",
    key="prescription_request_id",
    key_prefix="R-",
    fields={
        "prescription_request_id": Field(TEXT),
        "medication_name": Field(TEXT),
        "dosage": Field(TEXT),
        "status": Field(Choice(("pending", "approved", "declined"))),
        "doctor_id": Field(DOCTOR_ID),
    },
)

REVIEWS = Entity(
    table="reviews",
    singular="review",
    key="review_id",
    key_prefix="V-",
    fields={
        "review_id": Field(TEXT),
        "doctor_id": Field(DOCTOR_ID),
        "reviewer_name": Field(TEXT),
        "rating": Field(INTEGER),
        "review_content": Field(TEXT),
    },
)

PATIENT = Entity(
    table="patient",
    singular="patient",
    key="patient_id",
    fields={
        "patient_id": Field(TEXT),
        "name": Field(TEXT),
        "date_of_birth": Field(DATE),
        "location": Field(TEXT),
        "familial_genetic_diseases": Field(TEXTS),
        "allergies": Field(TEXTS),
        "medications": Field(TEXTS),
        "immunizations": Field(TEXTS),
    },
)

SESSION = session_entity(now=Field(MOMENT))

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
        AUDIT_LOG,
        SESSION,
    )
}
