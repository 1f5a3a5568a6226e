"""What is on file about the user."""

from lawtrace.environments.phrases import Phrases
from lawtrace.environments.results import RowsResult
from lawtrace.environments.telehealth.entities import APPOINTMENTS, PATIENT
from lawtrace.environments.telehealth.shared import CURRENT
from lawtrace.environments.terms import constant
from lawtrace.environments.tool import Tool

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
            teaches=False,
        ),
    ),
    emits="PHI_ACCESS",
)
