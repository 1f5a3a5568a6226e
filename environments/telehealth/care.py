"""Consulting a doctor: the consultation, messages in it, and prescriptions."""

from lawtrace.environments.compliance import INVALID_REQUEST
from lawtrace.environments.domains import Options
from lawtrace.environments.effects import Insert
from lawtrace.environments.kinds import BOOLEAN, TEXT
from lawtrace.environments.phrases import Phrases
from lawtrace.environments.results import KeyResult, RowsResult, ValueResult
from lawtrace.environments.telehealth.entities import CONSULTATION_ID, CONSULTATIONS, DOCTORS, MESSAGES, PRESCRIPTIONS
from lawtrace.environments.telehealth.shared import (
    NOT_FOUND,
    UNKNOWN_DOCTOR,
    doctor_parameter,
    is_blank,
    is_unknown,
    now,
)
from lawtrace.environments.telehealth.vocabulary import CONSULTATION_REASONS, DOSAGES, MEDICATIONS, MESSAGE_TEXTS
from lawtrace.environments.terms import SUCCEEDED, apply, argument, constant, exists, value_of
from lawtrace.environments.tool import Fails, FromLookup, FromUser, Parameter, Raises, Tool

consultation = argument("consultation_id")
medication, dosage, doctor = argument("medication_name"), argument("dosage"), argument("doctor_id")


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
        thing='the consultation with {doctor_id}, reason "{reason}"',
    ),
    parameters=(
        doctor_parameter("The doctor."),
        Parameter("reason", TEXT, "What the consultation is about.", FromUser(Options(CONSULTATION_REASONS))),
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
        Parameter("message_content", TEXT, "The message.", FromUser(Options(MESSAGE_TEXTS))),
    ),
    raises=(
        Raises(
            NOT_FOUND,
            "There is no consultation with that 'consultation_id'.",
            is_unknown(CONSULTATIONS, "consultation_id"),
        ),
        Raises(INVALID_REQUEST, "The 'message_content' is blank.", is_blank("message_content")),
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
    results=(ValueResult("doctor_response", "What the doctor responds.", TEXT, doctor_response),),
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
        Parameter("medication_name", TEXT, "The name of the medication.", FromUser(Options(MEDICATIONS))),
        Parameter("dosage", TEXT, "The dosage.", FromUser(Options(DOSAGES))),
        doctor_parameter("The doctor who is to review the request."),
    ),
    raises=(
        UNKNOWN_DOCTOR,
        Raises(
            INVALID_REQUEST,
            "The 'medication_name' or the 'dosage' is blank.",
            is_blank("medication_name") | is_blank("dosage"),
        ),
    ),
    # The document says that a request may not be submitted, and not why: one that is waiting already is not repeated.
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
        ValueResult("success", "Whether the request was submitted.", BOOLEAN, SUCCEEDED),
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
            "The prescriptions, those that were asked for included.",
            PRESCRIPTIONS,
            lambda p: constant(True),
            ("prescription_request_id", "medication_name", "dosage", "status", "doctor_id"),
            teaches=False,
        ),
    ),
    emits="PHI_ACCESS",
)
