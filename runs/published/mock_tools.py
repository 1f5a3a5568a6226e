"""The published mock tools with their quirks, for the published grading profiles only.

They answer as the tools of the published evaluation did, not as documented: no call raises by itself, authorization
always succeeds, the lock returns bare values, a payment checks neither balance nor payee, and the id of a new row is
taken from the expected final state in sorted order, so creating rows in another order swaps their ids. States are the
published JSON with floats, never mixed with ours.

The published code drew further ids at random; here they continue from the existing ids, so a program always gets the
same verdict. One recorded verdict depends on that draw in about one of a hundred cases.
"""

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, cast

from lawtrace.environments.events import Event, Json
from lawtrace.environments.sandbox import PauseClock, Raised, Reply, Returned
from lawtrace.environments.spec.clock import DEFAULT_START

MockRows = dict[str, Any]
MockOperation = Callable[..., Json]


class PublishedMock:
    """The tools of one evaluation: state, events, and the expected ids that are still unused."""

    operations: ClassVar[Mapping[str, MockOperation]]

    def __init__(self, initial: Mapping[str, Json], expected: Mapping[str, Json]) -> None:
        self.state: dict[str, Any] = {"audit_logs": {}, **copy.deepcopy(dict(initial))}
        self.events: list[Event] = []
        self.clock = PauseClock(DEFAULT_START)
        self._expected = {table: sorted(rows) for table, rows in expected.items() if isinstance(rows, dict)}

    @classmethod
    def signatures(cls) -> dict[str, tuple[str, ...]]:
        """The parameter names of each tool, in order."""
        return {name: tuple(inspect.signature(tool).parameters)[1:] for name, tool in cls.operations.items()}

    def answer(self, tool: str, arguments: dict[str, Json]) -> Reply:
        """Answer one call for the jail. An error inside a tool is raised in the program."""
        operation = self.operations.get(tool)
        if operation is None:
            return Raised("AttributeError", f"{type(self).__name__!r} object has no attribute {tool!r}")
        try:
            inspect.signature(operation).bind(self, **arguments)
        except TypeError as error:
            return Raised("TypeError", f"{tool}() {error}")
        try:
            result = operation(self, **arguments)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            self.events.append(Event(tool, arguments, "raised", None, f"{type(error).__name__}: {error}"))
            return Raised(type(error).__name__, str(error))
        self.events.append(Event(tool, arguments, "completed", copy.deepcopy(result)))
        return Returned(result)

    def authorize(self) -> Json:
        return {"authorized": True}

    def record(self, events: Any) -> Json:  # noqa: ANN401 - the mock accepts any value
        entry = self.new_id("audit_logs", "L-{:05d}")
        self.state["audit_logs"][entry] = {"log_entry_id": entry, "events": events}
        return {"log_entry_id": entry, "success": True}

    def new_id(self, table: str, pattern: str) -> str:
        """The next unused id of the expected state, or else the first free number."""
        taken = cast("MockRows", self.state[table])
        expected = (name for name in self._expected.get(table, ()) if name not in taken)
        return next(expected, None) or next(
            name for number in range(1, len(taken) + 2) if (name := pattern.format(number)) not in taken
        )


class BankMock(PublishedMock):
    """``BankManager``: exact match on account types, any keyword inside a payee's name, money moved unchecked."""

    def accounts(self, account_type: Any) -> Json:  # noqa: ANN401
        return {"accounts": [row for row in self._accounts.values() if row["account_type"] == account_type]}

    def payees(self, keywords: Iterable[str]) -> Json:
        words = [word.lower() for word in keywords]
        payees = cast("MockRows", self.state["payees"]).values()
        return {"payees": [row for row in payees if any(word in row["payee_name"].lower() for word in words)]}

    def statement(self, account_number: Any, start_date: Any, end_date: Any, download: Any = False) -> Json:  # noqa: ANN401
        # No recorded state holds transactions, so both look-ups are always empty.
        return {"transactions": [], "statement_file_path": f"/statements/{account_number}.pdf" if download else ""}

    def transactions(
        self,
        account_number: Any,  # noqa: ANN401
        keyword: Any = None,  # noqa: ANN401
        min_amount: Any = None,  # noqa: ANN401
        max_amount: Any = None,  # noqa: ANN401
    ) -> Json:
        return {"transactions": []}

    def transfer(self, from_account_number: Any, to_account_number: Any, amount: Any) -> Json:  # noqa: ANN401
        accounts = self._accounts
        if from_account_number not in accounts or to_account_number not in accounts:
            return {"success": False}
        accounts[from_account_number]["balance"] -= amount
        accounts[to_account_number]["balance"] += amount
        return {"success": True}

    def pay(
        self,
        from_account_number: Any,  # noqa: ANN401
        payee_id: Any,  # noqa: ANN401
        service_account_number: Any,  # noqa: ANN401
        payment_date: Any,  # noqa: ANN401
        amount: Any,  # noqa: ANN401
    ) -> Json:
        if from_account_number not in self._accounts:
            return {"success": False}
        self._accounts[from_account_number]["balance"] -= amount
        return {"success": True}

    @property
    def _accounts(self) -> MockRows:
        return cast("MockRows", self.state["accounts"])

    operations: ClassVar[Mapping[str, MockOperation]] = {
        "CheckAuthorization": PublishedMock.authorize,
        "RecordAuditEvent": PublishedMock.record,
        "GetAccountInformation": accounts,
        "SearchPayee": payees,
        "GetAccountStatement": statement,
        "SearchTransactions": transactions,
        "TransferFunds": transfer,
        "PayBill": pay,
    }


class LockMock(PublishedMock):
    """``SmartLock``: bare values where the document promises named fields; times and repetitions unchecked."""

    def status(self) -> Json:
        return cast("str", self.state["lock"]["status"])

    def lock(self) -> Json:
        self.state["lock"]["status"] = "locked"
        return True

    def unlock(self) -> Json:
        self.state["lock"]["status"] = "unlocked"
        return True

    def search(self, name_keyword: str) -> Json:
        return [row for row in self._guests.values() if name_keyword.lower() in row["guest_name"].lower()]

    def add(self, guest_name: Any, guest_email: Any) -> Json:  # noqa: ANN401
        guest = self.new_id("guests", "guest_{}")
        self._guests[guest] = {
            "guest_id": guest,
            "guest_name": guest_name,
            "guest_email": guest_email,
            "has_access": False,
        }
        return guest

    def delete(self, guest_ids: Iterable[Any]) -> Json:
        deleted = [self._guests.pop(guest, None) for guest in guest_ids]
        return None not in deleted

    def grant(self, guest_ids: Iterable[Any], permanent: Any, start_time: Any = None, end_time: Any = None) -> Json:  # noqa: ANN401
        return self._set_access(guest_ids, access=True)

    def revoke(self, guest_ids: Iterable[Any]) -> Json:
        return self._set_access(guest_ids, access=False)

    def generate_code(self, start_time: Any, end_time: Any) -> Json:  # noqa: ANN401
        code = self.new_id("access_codes", "{:06d}")
        self._codes[code] = {"code": code, "start_time": start_time, "end_time": end_time, "is_active": True}
        return code

    def revoke_code(self, access_code: Any) -> Json:  # noqa: ANN401
        if access_code not in self._codes:
            return False
        self._codes[access_code]["is_active"] = False
        return True

    def history(self, start_time: Any, end_time: Any) -> Json:  # noqa: ANN401
        return []

    def _set_access(self, guest_ids: Iterable[Any], *, access: bool) -> bool:
        named = list(guest_ids)
        for guest in named:
            if guest in self._guests:
                self._guests[guest]["has_access"] = access
        return all(guest in self._guests for guest in named)

    @property
    def _guests(self) -> MockRows:
        return cast("MockRows", self.state["guests"])

    @property
    def _codes(self) -> MockRows:
        return cast("MockRows", self.state["access_codes"])

    operations: ClassVar[Mapping[str, MockOperation]] = {
        "CheckAuthorization": PublishedMock.authorize,
        "RecordAuditEvent": PublishedMock.record,
        "CheckLockStatus": status,
        "LockDoor": lock,
        "UnlockDoor": unlock,
        "SearchGuests": search,
        "AddGuest": add,
        "DeleteGuest": delete,
        "GrantGuestAccess": grant,
        "RevokeGuestAccess": revoke,
        "GenerateTemporaryAccessCode": generate_code,
        "RevokeTemporaryAccessCode": revoke_code,
        "ViewAccessHistory": history,
    }


class TeladocMock(PublishedMock):
    """``Teladoc``: any time is free, any text is accepted; a missing entity gives None or False."""

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

    def _rows(self, table: str) -> MockRows:
        return cast("MockRows", self.state[table])

    operations: ClassVar[Mapping[str, MockOperation]] = {
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


__all__ = ["MOCKS", "BankMock", "LockMock", "PublishedMock", "TeladocMock"]

MOCKS: Mapping[str, type[PublishedMock]] = {"BankManager": BankMock, "SmartLock": LockMock, "Teladoc": TeladocMock}
"""Mock by the object name in published programs."""
