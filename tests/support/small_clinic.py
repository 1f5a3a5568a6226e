"""A small clinic in a known state, a valid call of each tool, and calls that cause each documented refusal.

The time is noon on 2 March 2026. Ada has free slots on 3 March at 9:00 and 10:00 and on 4 March at 10:00; her slot at
11:00 is taken by an appointment of the patient, and her slot on 1 March is past. Ben is free on 3 March at 9:00.
"""

from lawtrace.environments.domains.telehealth import ENVIRONMENT
from lawtrace.environments.spec.state import decode_state
from lawtrace.schemas.events import Json
from tests.support.environment_fixture import Arguments, EnvironmentFixture

ADA, BEN, NOBODY = "D-1111", "D-2222", "D-9999"
HELD, PLANNED, CONSULTATION = "A-00001", "A-00002", "C-00001"


def slot(key: str, doctor: str, start: str, end: str) -> dict[str, dict[str, Json]]:
    return {key: {"slot_id": key, "doctor_id": doctor, "start": start, "end": end}}


STATE = decode_state(
    {
        "doctors": {
            ADA: {"doctor_id": ADA, "name": "Ada Stone", "specialty": "dermatology", "location": "Harbourtown"},
            BEN: {"doctor_id": BEN, "name": "Ben Stone", "specialty": "cardiology", "location": "Larchfield"},
        },
        "slots": {
            **slot("S-1", ADA, "2026-03-01 09:00", "2026-03-01 09:30"),
            **slot("S-2", ADA, "2026-03-03 09:00", "2026-03-03 09:30"),
            **slot("S-3", ADA, "2026-03-03 10:00", "2026-03-03 10:30"),
            **slot("S-4", ADA, "2026-03-03 11:00", "2026-03-03 11:30"),
            **slot("S-5", ADA, "2026-03-04 10:00", "2026-03-04 10:30"),
            **slot("S-6", BEN, "2026-03-03 09:00", "2026-03-03 09:30"),
        },
        "appointments": {
            HELD: {
                "appointment_id": HELD,
                "doctor_id": BEN,
                "date": "2025-12-01",
                "time": "14:30",
                "reason": "blood test",
                "status": "completed",
                "conclusions": "All well.",
            },
            PLANNED: {
                "appointment_id": PLANNED,
                "doctor_id": ADA,
                "date": "2026-03-03",
                "time": "11:00",
                "reason": "vaccination",
                "status": "confirmed",
            },
        },
        "consultations": {
            CONSULTATION: {
                "consultation_id": CONSULTATION,
                "doctor_id": ADA,
                "reason": "a rash",
                "started": "2026-03-02 11:30",
            }
        },
        "prescriptions": {
            "R-00001": {
                "prescription_request_id": "R-00001",
                "medication_name": "cetirizine",
                "dosage": "5 mg once a day",
                "status": "pending",
                "doctor_id": ADA,
            }
        },
        "reviews": {
            "V-00001": {
                "review_id": "V-00001",
                "doctor_id": ADA,
                "reviewer_name": "Wen Li",
                "rating": 4,
                "review_content": "Good.",
            }
        },
        "patient": {
            "current": {
                "patient_id": "current",
                "name": "Noor Bakker",
                "date_of_birth": "1980-05-06",
                "location": "Harbourtown",
                "familial_genetic_diseases": [],
                "allergies": ["birch pollen"],
                "medications": ["cetirizine"],
                "immunizations": ["tetanus 2021"],
            }
        },
        "session": {"current": {"session_id": "current", "authorized": True, "now": "2026-03-02 12:00"}},
    },
    ENVIRONMENT.entities,
)
BOOK: Arguments = {"doctor_id": ADA, "date": "2026-03-03", "time": "09:00", "reason": "routine checkup"}
MOVE: Arguments = {"appointment_id": PLANNED, "action": "update", "date": "2026-03-04", "time": "10:00"}
PRESCRIPTION: Arguments = {"medication_name": "ibuprofen", "dosage": "100 mg when needed", "doctor_id": ADA}
REVIEW: Arguments = {"doctor_id": ADA, "rating": 5, "review_content": "Very clear."}
GOOD: dict[str, Arguments] = {
    "CheckAuthorization": {},
    "RecordAuditEvent": {"events": ["PHI_ACCESS"]},
    "SearchDoctors": {"keywords": "stone"},
    "ConsultDoctor": {"doctor_id": ADA, "reason": "a cough"},
    "ScheduleAppointment": BOOK,
    "ManageAppointments": MOVE,
    "AccessUserInfo": {},
    "AccessMedicalHistory": {},
    "RequestPrescription": PRESCRIPTION,
    "ViewPrescriptions": {},
    "SendMessage": {"consultation_id": CONSULTATION, "message_content": "May I go swimming?"},
    "LeaveReview": REVIEW,
    "ViewReviews": {"doctor_id": ADA},
}
MORE: dict[str, list[Arguments]] = {
    "SearchDoctors": [{}, {"location": "larch"}, {"date": "2026-03-04"}],
    "ManageAppointments": [{"appointment_id": HELD, "action": "view"}, {"appointment_id": PLANNED, "action": "cancel"}],
}
NO_DOCTOR: list[Arguments] = [{"doctor_id": NOBODY}, {"doctor_id": "Ada Stone"}]

# For each documented exception of each tool, in the order of the documentation: calls that raise it.
RAISED: dict[str, list[list[Arguments]]] = {
    "CheckAuthorization": [],
    "RecordAuditEvent": [[{"events": []}]],
    "SearchDoctors": [[{"date": "tomorrow"}, {"date": "2026-02-30"}], [{"location": ""}, {"location": "  "}]],
    "ConsultDoctor": [[{**GOOD["ConsultDoctor"], **no} for no in NO_DOCTOR]],
    "ScheduleAppointment": [
        [{**BOOK, **no} for no in NO_DOCTOR],
        [{**BOOK, "date": "3 March"}, {**BOOK, "time": "9:00"}, {**BOOK, "time": "24:00"}],
        [{**BOOK, "reason": " "}],
    ],
    "ManageAppointments": [
        [{**MOVE, "appointment_id": "A-99999"}, {**MOVE, "appointment_id": "the one on Tuesday"}],
        [{**MOVE, "action": "delete"}, {**MOVE, "date": "4 March"}, {**MOVE, "time": "ten"}],
        [{"appointment_id": PLANNED, "action": "update"}],
    ],
    "AccessUserInfo": [],
    "AccessMedicalHistory": [],
    "RequestPrescription": [
        [{**PRESCRIPTION, **no} for no in NO_DOCTOR],
        [{**PRESCRIPTION, "medication_name": ""}, {**PRESCRIPTION, "dosage": " "}],
    ],
    "ViewPrescriptions": [],
    "SendMessage": [
        [{**GOOD["SendMessage"], "consultation_id": "C-99999"}, {**GOOD["SendMessage"], "consultation_id": PLANNED}],
        [{**GOOD["SendMessage"], "message_content": "\n"}],
    ],
    "LeaveReview": [
        [{**REVIEW, **no} for no in NO_DOCTOR],
        [{**REVIEW, "rating": 0}, {**REVIEW, "rating": 6}, {**REVIEW, "rating": 4.5}],
        [{**REVIEW, "review_content": ""}],
    ],
    "ViewReviews": [[{"doctor_id": NOBODY}, {"doctor_id": ""}]],
}
FAILED: dict[str, list[Arguments]] = {
    "ScheduleAppointment": [{**BOOK, "time": "11:00"}],
    "RequestPrescription": [{"medication_name": "cetirizine", "dosage": "5 mg once a day", "doctor_id": ADA}],
}
WORLD = EnvironmentFixture(ENVIRONMENT, STATE, GOOD, RAISED, FAILED, MORE)
do, tables = WORLD.do, WORLD.tables
