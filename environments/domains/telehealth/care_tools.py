"""Tools for consultations, messages, prescriptions and the user's records."""

from lawtrace.environments import spec as s

from . import entities as e
from .doctor_tools import UNKNOWN_DOCTOR, doctor, doctor_parameter, now
from .vocabulary import CONSULTATION_REASONS, DOSAGES, MEDICATIONS, MESSAGE_TEXTS

consultation = s.argument("consultation_id")
medication, dosage = s.argument("medication_name"), s.argument("dosage")


def response(name: str) -> str:
    return f"{name}: thank you for your message, I will look into it today."


doctor_response = s.apply(
    "the response of {0}",
    response,
    s.value_of(e.DOCTORS, lambda d: d.doctor_id == s.field_of(e.CONSULTATIONS, "doctor_id", ""), "name", otherwise=""),
)

CONSULT_DOCTOR = s.Tool(
    name="ConsultDoctor",
    summary="Starts a consultation with a doctor.",
    phrases=s.Phrases(
        step='Start a consultation with {doctor_id}, reason "{reason}".',
        outcome='A consultation with {doctor_id} has been started, reason "{reason}".',
        noun_phrase='the consultation with {doctor_id}, reason "{reason}"',
    ),
    parameters=(
        doctor_parameter("The doctor."),
        s.Parameter("reason", s.TEXT, "What the consultation is about.", s.FromUser(s.OneOf(CONSULTATION_REASONS))),
    ),
    raises=(UNKNOWN_DOCTOR,),
    effects=(s.register(e.CONSULTATIONS, "doctor_id", "reason", started=now),),
    results=(s.KeyResult("consultation_id", "The identifier of the new consultation.", e.CONSULTATIONS),),
    emits="CONSULT_DOCTOR",
    critical=True,
)

SEND_MESSAGE = s.Tool(
    name="SendMessage",
    summary="Sends a message to the doctor of a consultation and gives the doctor's response.",
    phrases=s.Phrases(
        step='Send the message "{message_content}" in {consultation_id}.',
        outcome='The message "{message_content}" has been sent in {consultation_id}.',
    ),
    parameters=(
        s.Parameter(
            "consultation_id",
            e.CONSULTATION_ID,
            "The consultation.",
            s.FromLookup(e.CONSULTATIONS),
            malformed=s.NOT_FOUND,
        ),
        s.Parameter("message_content", s.TEXT, "The message.", s.FromUser(s.OneOf(MESSAGE_TEXTS))),
    ),
    raises=(s.unknown(e.CONSULTATIONS), s.blank("message_content")),
    effects=(s.register(e.MESSAGES, "consultation_id", "message_content", doctor_response=doctor_response),),
    results=(s.ValueResult("doctor_response", "The doctor's response.", s.TEXT, doctor_response),),
    critical=True,
)

REQUEST_PRESCRIPTION = s.Tool(
    name="RequestPrescription",
    summary="Asks a doctor for a new prescription, or for a refill of an old one.",
    phrases=s.Phrases(
        step='Request a prescription of the medication "{medication_name}", dosage "{dosage}", from {doctor_id}.',
        outcome=(
            'A prescription of the medication "{medication_name}", dosage "{dosage}", has been requested from '
            "{doctor_id}."
        ),
    ),
    parameters=(
        s.Parameter("medication_name", s.TEXT, "The name of the medication.", s.FromUser(s.OneOf(MEDICATIONS))),
        s.Parameter("dosage", s.TEXT, "The dosage.", s.FromUser(s.OneOf(DOSAGES))),
        doctor_parameter("The doctor who reviews the request."),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        s.Raises(
            s.INVALID_REQUEST,
            "The 'medication_name' or the 'dosage' is blank.",
            s.is_blank(medication) | s.is_blank(dosage),
        ),
    ),
    # The document says that a request may fail, but not why: a request that is already pending is not repeated.
    fails=(
        s.Fails(
            "The same request to the same doctor is still pending.",
            s.has(e.PRESCRIPTIONS, by="medication_name", dosage=dosage, doctor_id=doctor, status="pending"),
        ),
    ),
    effects=(s.register(e.PRESCRIPTIONS, "medication_name", "dosage", status="pending", doctor_id=doctor),),
    results=(
        s.KeyResult("prescription_request_id", "The identifier of the new request.", e.PRESCRIPTIONS),
        s.success_result("Whether the request was submitted."),
    ),
    emits="PRESCRIPTION_REQUEST",
    critical=True,
)

VIEW_PRESCRIPTIONS = s.Tool(
    name="ViewPrescriptions",
    summary="Shows the user's prescriptions and what has become of them.",
    phrases=s.Phrases(step="View the prescriptions."),
    results=(
        s.RowsResult(
            "prescriptions",
            "The prescriptions, including requested ones.",
            e.PRESCRIPTIONS,
            lambda p: s.constant(True),
            ("prescription_request_id", "medication_name", "dosage", "status", "doctor_id"),
            reveals_key=False,
        ),
    ),
    emits="PHI_ACCESS",
)


ACCESS_USER_INFO = s.Tool(
    name="AccessUserInfo",
    summary="Gives the information on file about the user.",
    phrases=s.Phrases(step="Access the user information."),
    results=(
        s.RowsResult(
            "user_info",
            "The user's information.",
            e.PATIENT,
            lambda p: p.patient_id == e.CURRENT,
            ("date_of_birth", "location", "familial_genetic_diseases", "allergies", "medications", "immunizations"),
            single=True,
        ),
    ),
    emits="PHI_ACCESS",
)

ACCESS_MEDICAL_HISTORY = s.Tool(
    name="AccessMedicalHistory",
    summary="Gives the user's medical history: every appointment, with what the doctor concluded once it was held.",
    phrases=s.Phrases(step="Access the medical history."),
    results=(
        s.RowsResult(
            "health_records",
            "The appointments, oldest entry first.",
            e.APPOINTMENTS,
            lambda a: s.constant(True),
            ("appointment_id", "date", "time", "conclusions", "status"),
            reveals_key=False,
        ),
    ),
    emits="PHI_ACCESS",
)
