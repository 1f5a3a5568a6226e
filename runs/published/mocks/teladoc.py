"""The published clinic.

No published row of it was at hand. What its tools return and keep is built from its description: named fields as
documented, nothing checked but that a doctor, an appointment or a consultation exists, a place compared as a whole, and
a search for a day that finds nobody, since no published state holds a slot. How messages and reviews lie in a state is
our guess.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from lawtrace.environments.events import Json
from lawtrace.runs.published.mocks.base import Operation, PublishedMock, Rows


class TeladocMock(PublishedMock):
    """``Teladoc``: any time is free, any text will do; what does not exist is answered by None or False."""

    def __init__(self, initial: Mapping[str, Json], expected: Mapping[str, Json]) -> None:
        tables: dict[str, Json] = {name: {} for name in ("appointments", "consultations", "prescriptions", "reviews")}
        super().__init__({**tables, **initial}, expected)

    def search(self, keywords: Any = None, location: Any = None, date: Any = None) -> Json:  # noqa: ANN401
        return {
            "doctors": [
                row
                for row in self._rows("doctors").values()
                if date is None
                and (location is None or row["location"] == location)
                and (not keywords or any(keywords.lower() in row[name].lower() for name in ("name", "specialty")))
            ]
        }

    def consult(self, doctor_id: Any, reason: Any) -> Json:  # noqa: ANN401
        if doctor_id not in self._rows("doctors"):
            return {"consultation_id": None}
        name = self.new_id("consultations", "C-{:04d}")
        self._rows("consultations")[name] = {
            "consultation_id": name,
            "doctor_id": doctor_id,
            "reason": reason,
            "messages": [],
        }
        return {"consultation_id": name}

    def schedule(self, doctor_id: Any, date: Any, time: Any, reason: Any) -> Json:  # noqa: ANN401
        if doctor_id not in self._rows("doctors"):
            return {"appointment_id": None, "success": False}
        name = self.new_id("appointments", "A-{:04d}")
        self._rows("appointments")[name] = {
            "appointment_id": name,
            "doctor_id": doctor_id,
            "date": date,
            "time": time,
            "reason": reason,
            "status": "confirmed",
        }
        return {"appointment_id": name, "success": True}

    def manage(self, appointment_id: Any, action: Any, date: Any = None, time: Any = None) -> Json:  # noqa: ANN401
        row = self._rows("appointments").get(appointment_id)
        if row is not None and action == "cancel":
            row["status"] = "cancelled"
        if row is not None and action == "update":
            row.update({name: value for name, value in (("date", date), ("time", time)) if value is not None})
        return {"appointment_details": row}

    def user_info(self) -> Json:
        return {"user_info": self._rows("user_info")}

    def history(self) -> Json:
        kept = ("appointment_id", "date", "time", "status")
        return {
            "health_records": [
                {**{name: row[name] for name in kept}, "conclusions": ""} for row in self._rows("appointments").values()
            ]
        }

    def request(self, medication_name: Any, dosage: Any, doctor_id: Any) -> Json:  # noqa: ANN401
        if doctor_id not in self._rows("doctors"):
            return {"prescription_request_id": None, "success": False}
        name = self.new_id("prescriptions", "R-{:04d}")
        self._rows("prescriptions")[name] = {
            "prescription_request_id": name,
            "medication_name": medication_name,
            "dosage": dosage,
            "status": "pending",
            "doctor_id": doctor_id,
        }
        return {"prescription_request_id": name, "success": True}

    def prescriptions(self) -> Json:
        return {"prescriptions": list(self._rows("prescriptions").values())}

    def send(self, consultation_id: Any, message_content: Any) -> Json:  # noqa: ANN401
        consultation = self._rows("consultations").get(consultation_id)
        if consultation is None:
            return {"doctor_response": None}
        response = "Thank you for your message."
        consultation["messages"] += [
            {"sender": "user", "content": message_content},
            {"sender": "doctor", "content": response},
        ]
        return {"doctor_response": response}

    def review(self, doctor_id: Any, rating: Any, review_content: Any) -> Json:  # noqa: ANN401
        if doctor_id not in self._rows("doctors"):
            return {"success": False}
        written = self._rows("reviews").setdefault(doctor_id, [])
        written.append({"reviewer_name": "user", "rating": rating, "review_content": review_content})
        return {"success": True}

    def reviews(self, doctor_id: Any) -> Json:  # noqa: ANN401
        return {"reviews": self._rows("reviews").get(doctor_id, [])}

    def _rows(self, table: str) -> Rows:
        return cast("Rows", self.state[table])

    operations: ClassVar[Mapping[str, Operation]] = {
        "CheckAuthorization": PublishedMock.authorize,
        "RecordAuditEvent": PublishedMock.record,
        "SearchDoctors": search,
        "ConsultDoctor": consult,
        "ScheduleAppointment": schedule,
        "ManageAppointments": manage,
        "AccessUserInfo": user_info,
        "AccessMedicalHistory": history,
        "RequestPrescription": request,
        "ViewPrescriptions": prescriptions,
        "SendMessage": send,
        "LeaveReview": review,
        "ViewReviews": reviews,
    }
