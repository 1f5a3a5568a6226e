"""Tools for consultations, messages, prescriptions and the user's records."""

from lawtrace.environments.spec import (
    INVALID_REQUEST,
    TEXT,
    Fails,
    FromLookup,
    FromUser,
    Insert,
    KeyResult,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    Tool,
    ValueResult,
    apply,
    argument,
    constant,
    exists,
    is_blank,
    success_result,
    value_of,
)

from .doctor_tools import (
    NOT_FOUND,
    UNKNOWN_DOCTOR,
    blank,
    doctor,
    doctor_parameter,
    now,
    unknown,
)
from .entities import (
    APPOINTMENTS,
    CONSULTATION_ID,
    CONSULTATIONS,
    CURRENT,
    DOCTORS,
    MESSAGES,
    PATIENT,
    PRESCRIPTIONS,
)
from .vocabulary import (
    CONSULTATION_REASONS,
    DOSAGES,
    MEDICATIONS,
    MESSAGE_TEXTS,
)

consultation = argument("consultation_id")
medication, dosage = argument("medication_name"), argument("dosage")


def response(name: str) -> str:
    return f"{name}: thank you for your message, I will look into it today."


doctor_response = apply(
    "the response of {0}",
    response,
    value_of(
        DOCTORS,
        lambda d: (
            d.doctor_id
            == value_of(CONSULTATIONS, lambda c: c.consultation_id == consultation, "doctor_id", otherwise="")
        ),
        "name",
        otherwise="",
    ),
)

CONSULT_DOCTOR = Tool(
    name="ConsultDoctor",
    summary="Starts a consultation with a doctor.",
    phrases=Phrases(
        step='Start a consultation with {doctor_id}, reason "{reason}".',
        outcome='A consultation with {doctor_id} has been started, reason "{reason}".',
        noun_phrase='the consultation with {doctor_id}, reason "{reason}"',
    ),
    parameters=(
        doctor_parameter("The doctor."),
        Parameter("reason", TEXT, "What the consultation is about.", FromUser(OneOf(CONSULTATION_REASONS))),
    ),
    raises=(UNKNOWN_DOCTOR,),
    effects=(Insert(CONSULTATIONS, {"doctor_id": doctor, "reason": argument("reason"), "started": now}),),
    results=(KeyResult("consultation_id", "The identifier of the new consultation.", CONSULTATIONS),),
    emits="CONSULT_DOCTOR",
    critical=True,
)

SEND_MESSAGE = Tool(
    name="SendMessage",
    summary="Sends a message to the doctor of a consultation and gives the doctor's response.",
    phrases=Phrases(
        step='Send the message "{message_content}" in {consultation_id}.',
        outcome='The message "{message_content}" has been sent in {consultation_id}.',
    ),
    parameters=(
        Parameter(
            "consultation_id", CONSULTATION_ID, "The consultation.", FromLookup(CONSULTATIONS), malformed=NOT_FOUND
        ),
        Parameter("message_content", TEXT, "The message.", FromUser(OneOf(MESSAGE_TEXTS))),
    ),
    raises=(
        unknown(CONSULTATIONS),
        blank("message_content"),
    ),
    effects=(
        Insert(
            MESSAGES,
            {
                "consultation_id": consultation,
                "message_content": argument("message_content"),
                "doctor_response": doctor_response,
            },
        ),
    ),
    results=(ValueResult("doctor_response", "The doctor's response.", TEXT, doctor_response),),
    critical=True,
)

REQUEST_PRESCRIPTION = Tool(
    name="RequestPrescription",
    summary="Asks a doctor for a new prescription, or for a refill of an old one.",
    phrases=Phrases(
        step='Request a prescription of the medication "{medication_name}", dosage "{dosage}", from {doctor_id}.',
        outcome=(
            'A prescription of the medication "{medication_name}", dosage "{dosage}", has been requested from '
            "{doctor_id}."
        ),
    ),
    parameters=(
        Parameter("medication_name", TEXT, "The name of the medication.", FromUser(OneOf(MEDICATIONS))),
        Parameter("dosage", TEXT, "The dosage.", FromUser(OneOf(DOSAGES))),
        doctor_parameter("The doctor who reviews the request."),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        Raises(
            INVALID_REQUEST,
            "The 'medication_name' or the 'dosage' is blank.",
            is_blank(medication) | is_blank(dosage),
        ),
    ),
    # The document says that a request may fail, but not why: a request that is already pending is not repeated.
    fails=(
        Fails(
            "The same request to the same doctor is still pending.",
            exists(
                PRESCRIPTIONS,
                lambda p: (
                    (p.medication_name == medication)
                    & (p.dosage == dosage)
                    & (p.doctor_id == doctor)
                    & (p.status == "pending")
                ),
            ),
        ),
    ),
    effects=(
        Insert(
            PRESCRIPTIONS,
            {
                "medication_name": medication,
                "dosage": dosage,
                "status": constant("pending"),
                "doctor_id": doctor,
            },
        ),
    ),
    results=(
        KeyResult("prescription_request_id", "The identifier of the new request.", PRESCRIPTIONS),
        success_result("Whether the request was submitted."),
    ),
    emits="PRESCRIPTION_REQUEST",
    critical=True,
)

VIEW_PRESCRIPTIONS = Tool(
    name="ViewPrescriptions",
    summary="Shows the user's prescriptions and what has become of them.",
    phrases=Phrases(step="View the prescriptions."),
    results=(
        RowsResult(
            "prescriptions",
            "The prescriptions, including requested ones.",
            PRESCRIPTIONS,
            lambda p: constant(True),
            ("prescription_request_id", "medication_name", "dosage", "status", "doctor_id"),
            reveals_key=False,
        ),
    ),
    emits="PHI_ACCESS",
)


ACCESS_USER_INFO = Tool(
    name="AccessUserInfo",
    summary="Gives the information on file about the user.",
    phrases=Phrases(step="Access the user information."),
    results=(
        RowsResult(
            "user_info",
            "The user's information.",
            PATIENT,
            lambda p: p.patient_id == CURRENT,
            (
                "date_of_birth",
                "location",
                "familial_genetic_diseases",
                "allergies",
                "medications",
                "immunizations",
            ),
            single=True,
        ),
    ),
    emits="PHI_ACCESS",
)

ACCESS_MEDICAL_HISTORY = Tool(
    name="AccessMedicalHistory",
    summary="Gives the user's medical history: every appointment, with what the doctor concluded once it was held.",
    phrases=Phrases(step="Access the medical history."),
    results=(
        RowsResult(
            "health_records",
            "The appointments, oldest entry first.",
            APPOINTMENTS,
            lambda a: constant(True),
            ("appointment_id", "date", "time", "conclusions", "status"),
            reveals_key=False,
        ),
    ),
    emits="PHI_ACCESS",
)
