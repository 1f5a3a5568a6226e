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

DOCTORS = s.table("doctors", "doctor", doctor_id=DOCTOR_ID, name=s.TEXT, specialty=s.TEXT, location=s.TEXT)

SLOTS = s.table("slots", "slot", slot_id=s.TEXT, doctor_id=DOCTOR_ID, start=s.MOMENT, end=s.MOMENT)

APPOINTMENTS = s.table(
    "appointments",
    "appointment",
    prefix="A-",
    appointment_id=APPOINTMENT_ID,
    doctor_id=DOCTOR_ID,
    date=s.DATE,
    time=s.TIME,
    reason=s.TEXT,
    status=s.Choice(("confirmed", "cancelled", "completed")),
    # The doctor's findings, after the appointment has taken place.
    conclusions=s.Field(s.TEXT, optional=True),
)

CONSULTATIONS = s.table(
    "consultations",
    "consultation",
    prefix="C-",
    consultation_id=CONSULTATION_ID,
    doctor_id=DOCTOR_ID,
    reason=s.TEXT,
    started=s.MOMENT,
)

MESSAGES = s.table(
    "messages",
    "message",
    prefix="M-",
    message_id=s.TEXT,
    consultation_id=CONSULTATION_ID,
    message_content=s.TEXT,
    doctor_response=s.TEXT,
)

PRESCRIPTIONS = s.table(
    "prescriptions",
    "prescription",
    prefix="R-",
    prescription_request_id=s.TEXT,
    medication_name=s.TEXT,
    dosage=s.TEXT,
    status=s.Choice(("pending", "approved", "declined")),
    doctor_id=DOCTOR_ID,
)

REVIEWS = s.table(
    "reviews",
    "review",
    prefix="V-",
    review_id=s.TEXT,
    doctor_id=DOCTOR_ID,
    reviewer_name=s.TEXT,
    rating=s.INTEGER,
    review_content=s.TEXT,
)

PATIENT = s.table(
    "patient",
    "patient",
    patient_id=s.TEXT,
    name=s.TEXT,
    date_of_birth=s.DATE,
    location=s.TEXT,
    familial_genetic_diseases=s.TEXTS,
    allergies=s.TEXTS,
    medications=s.TEXTS,
    immunizations=s.TEXTS,
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
