"""The published mock tools with their quirks, for the published grading profiles only.

They answer as the tools of the published evaluation did, not as documented: no call raises by itself, authorization
always succeeds, the lock returns bare values, a payment checks neither balance nor payee, and the id of a new row is
taken from the expected final state in sorted order, so creating rows in another order swaps their ids. A call counts
before its arguments are looked at, so also one that fails. States are the published JSON with floats, never mixed with
ours.

The published code drew further ids at random. Here they are the first free ones of the same range, so a program always
gets the same verdict. One recorded verdict depends on that draw in about one of a hundred cases.
"""

import copy
import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, cast

from lawtrace.environments.sandbox import PauseClock, Raised, Reply, Returned
from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.schemas.events import Event, Json

Value = Any
"""An argument: the mocks accept any value."""

MockRows = dict[str, Any]
MockOperation = Callable[..., Json]


class PublishedMock:
    """The tools of one evaluation.

    Attributes:
        operations: the tools by name: those of all mocks, and the methods of the class, ``pay_bill`` for ``PayBill``.
        tables: the tables that a state has even if its initial state lacks them.
        state: as it is now.
        events: the calls so far.
        drawn_ids: number of created rows, audit entries apart, whose id the published code drew at random.
    """

    operations: ClassVar[Mapping[str, MockOperation]]
    tables: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        tools = (PublishedMock.check_authorization, PublishedMock.record_audit_event, *vars(cls).values())
        cls.operations = {tool.__name__.title().replace("_", ""): tool for tool in tools if inspect.isfunction(tool)}

    def __init__(self, initial: Mapping[str, Json], expected: Mapping[str, Json]) -> None:
        self.state: dict[str, Any] = {
            **{table: {} for table in ("audit_logs", *self.tables)},
            **copy.deepcopy(dict(initial)),
        }
        self.events: list[Event] = []
        self.clock = PauseClock(DEFAULT_START)
        self.drawn_ids = 0
        self._unused = {
            table: sorted(rows.keys() - self.state[table].keys())
            for table, rows in expected.items()
            if isinstance(rows, dict) and table in self.state
        }

    @classmethod
    def signatures(cls) -> dict[str, tuple[str, ...]]:
        """The parameter names of each tool, in order."""
        return {name: tuple(inspect.signature(tool).parameters)[1:] for name, tool in cls.operations.items()}

    def answer(self, tool: str, arguments: dict[str, Json]) -> Reply:
        """Answer one call for the sandbox. An error inside a tool is raised in the program."""
        operation = self.operations.get(tool)
        if operation is None:
            return Raised("AttributeError", f"{type(self).__name__!r} object has no attribute {tool!r}")
        try:
            inspect.signature(operation).bind(self, **arguments)
            result = operation(self, **arguments)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            self.events.append(Event(tool, arguments, "raised", None, f"{type(error).__name__}: {error}"))
            return Raised(type(error).__name__, str(error))
        self.events.append(Event(tool, arguments, "completed", copy.deepcopy(result)))
        return Returned(result)

    def check_authorization(self) -> Json:
        return {"authorized": True}

    def record_audit_event(self, events: Value) -> Json:
        entry = self.new_id("audit_logs", "L-{:05d}", 1)
        self.state["audit_logs"][entry] = {"log_entry_id": entry, "events": events}
        return {"log_entry_id": entry, "success": True}

    def new_id(self, table: str, pattern: str, first: int) -> str:
        """The next unused id of the expected state, or else the first free number of the published range."""
        if unused := self._unused.get(table):
            return unused.pop(0)
        self.drawn_ids += table != "audit_logs"
        taken = self._rows(table)
        return next(name for number in itertools.count(first) if (name := pattern.format(number)) not in taken)

    def insert(self, table: str, name: str, key: str, **fields: Value) -> str:
        """Insert a row under a new id, which is its field ``key``, too."""
        self._rows(table)[name] = {key: name, **fields}
        return name

    def _rows(self, table: str) -> MockRows:
        return cast("MockRows", self.state[table])


class BankMock(PublishedMock):
    """``BankManager``: exact match on account types, any keyword inside a payee's name, money moved unchecked."""

    tables = ("accounts", "payees")

    def get_account_information(self, account_type: Value) -> Json:
        return {"accounts": [row for row in self._rows("accounts").values() if row["account_type"] == account_type]}

    def search_payee(self, keywords: Iterable[str]) -> Json:
        rows = self._rows("payees").values()
        return {"payees": [row for row in rows if any(word.lower() in row["payee_name"].lower() for word in keywords)]}

    def get_account_statement(
        self, account_number: Value, start_date: Value, end_date: Value, download: Value = False
    ) -> Json:
        # No recorded state holds transactions, so both look-ups are always empty.
        written = download and account_number in self._rows("accounts")
        return {"transactions": [], "statement_file_path": f"/statements/{account_number}.csv" if written else ""}

    def search_transactions(
        self, account_number: Value, keyword: Value = None, min_amount: Value = None, max_amount: Value = None
    ) -> Json:
        return {"transactions": []}

    def transfer_funds(self, from_account_number: Value, to_account_number: Value, amount: Value) -> Json:
        accounts = self._rows("accounts")
        if from_account_number not in accounts or to_account_number not in accounts:
            return {"success": False, "error": "no such account"}
        source, target = accounts[from_account_number], accounts[to_account_number]
        source["balance"] = float(source["balance"]) - float(amount)
        target["balance"] = float(target["balance"]) + float(amount)
        return {"success": True}

    def pay_bill(
        self,
        from_account_number: Value,
        payee_id: Value,
        service_account_number: Value,
        payment_date: Value,
        amount: Value,
    ) -> Json:
        accounts = self._rows("accounts")
        if from_account_number not in accounts:
            return {"success": False, "message": "no such account"}
        accounts[from_account_number]["balance"] -= amount
        return {"success": True}


class LockMock(PublishedMock):
    """``SmartLock``: bare values where the document promises named fields; times and repetitions unchecked.

    A call about several guests is successful if it changed one of them; granting access twice counts as a change.
    """

    tables = ("guests", "access_codes")

    def check_lock_status(self) -> Json:
        return cast("str", self.state["lock"]["status"])

    def lock_door(self) -> Json:
        self.state["lock"]["status"] = "locked"
        return True

    def unlock_door(self) -> Json:
        self.state["lock"]["status"] = "unlocked"
        return True

    def search_guests(self, name_keyword: str) -> Json:
        return [row for row in self._rows("guests").values() if name_keyword.lower() in row["guest_name"].lower()]

    def add_guest(self, guest_name: Value, guest_email: Value) -> Json:
        guest = self.new_id("guests", "guest_{}", 1)
        given = {"guest_name": guest_name, "guest_email": guest_email}
        return self.insert("guests", guest, "guest_id", **given, has_access=False)

    def delete_guest(self, guest_ids: Iterable[Any]) -> Json:
        deleted = [self._rows("guests").pop(guest, None) for guest in guest_ids]
        return any(row is not None for row in deleted)

    def grant_guest_access(
        self, guest_ids: Iterable[Any], permanent: Value, start_time: Value = None, end_time: Value = None
    ) -> Json:
        known = [guest for guest in map(self._rows("guests").get, guest_ids) if guest]
        for guest in known:
            guest["has_access"] = True
        return bool(known)

    def revoke_guest_access(self, guest_ids: Iterable[Any]) -> Json:
        revoked = False
        for guest in filter(None, map(self._rows("guests").get, guest_ids)):
            revoked = revoked or guest["has_access"]
            guest["has_access"] = False
        return revoked

    def generate_temporary_access_code(self, start_time: Value, end_time: Value) -> Json:
        code = self.new_id("access_codes", "{:06d}", 100000)
        return self.insert("access_codes", code, "code", start_time=start_time, end_time=end_time, is_active=True)

    def revoke_temporary_access_code(self, access_code: Value) -> Json:
        code = self._rows("access_codes").get(access_code)
        if not code or not code["is_active"]:
            return False
        code["is_active"] = False
        return True

    def view_access_history(self, start_time: Value, end_time: Value) -> Json:
        return []


_DOCTOR_RESPONSE = "Doctor will reply shortly."
_REVIEWER = "Simulated User"
"""As the published final states have them."""


class TeladocMock(PublishedMock):
    """``Teladoc``: any time is free, any text is accepted; a missing entity gives None or False."""

    tables = ("doctors", "appointments", "consultations", "prescriptions", "reviews")

    def search_doctors(self, keywords: Value = None, location: Value = None, date: Value = None) -> Json:
        def found(row: MockRows) -> bool:
            named = not keywords or any(keywords.lower() in row[name].lower() for name in ("specialty", "name"))
            # No recorded state holds free times, so no doctor is found by a date.
            return named and not (location and location.lower() != row["location"].lower()) and not date

        return {"doctors": [row for row in self._rows("doctors").values() if found(row)]}

    def consult_doctor(self, doctor_id: Value, reason: Value) -> Json:
        if doctor_id not in self._rows("doctors"):
            return {"consultation_id": None, "error": "no such doctor"}
        name = self.new_id("consultations", "C-{}", 1000)
        self.insert("consultations", name, "consultation_id", doctor_id=doctor_id, reason=reason, messages=[])
        return {"consultation_id": name}

    def schedule_appointment(self, doctor_id: Value, date: Value, time: Value, reason: Value) -> Json:
        if doctor_id not in self._rows("doctors"):
            return {"appointment_id": None, "success": False}
        name = self.new_id("appointments", "A-{}", 1000)
        given = {"doctor_id": doctor_id, "date": date, "time": time, "reason": reason}
        self.insert("appointments", name, "appointment_id", **given, status="confirmed")
        return {"appointment_id": name, "success": True}

    def manage_appointments(self, appointment_id: Value, action: Value, date: Value = None, time: Value = None) -> Json:
        row = self._rows("appointments").get(appointment_id)
        if not row:
            return {"appointment_details": None, "error": "no such appointment"}
        match action:
            case "view":
                pass
            case "cancel":
                row["status"] = "cancelled"
            case "update":
                row |= {name: value for name, value in (("date", date), ("time", time)) if value}
                row["status"] = "updated"
            case _:
                return {"appointment_details": None, "error": "unknown action"}
        return {"appointment_details": row}

    def access_user_info(self) -> Json:
        return {"user_info": self.state.get("user_info")}

    def access_medical_history(self) -> Json:
        return {
            "health_records": [
                {
                    "appointment_id": name,
                    "date": row["date"],
                    "time": row["time"],
                    "conclusions": f"record of {row['reason']}",
                    "status": "completed",
                }
                for name, row in self._rows("appointments").items()
            ]
        }

    def request_prescription(self, medication_name: Value, dosage: Value, doctor_id: Value) -> Json:
        if doctor_id not in self._rows("doctors"):
            return {"prescription_request_id": None, "success": False}
        name = self.new_id("prescriptions", "R-{}", 1000)
        given = {"medication_name": medication_name, "dosage": dosage, "status": "pending", "doctor_id": doctor_id}
        self.insert("prescriptions", name, "prescription_request_id", **given)
        return {"prescription_request_id": name, "success": True}

    def view_prescriptions(self) -> Json:
        return {"prescriptions": list(self._rows("prescriptions").values())}

    def send_message(self, consultation_id: Value, message_content: Value) -> Json:
        consultation = self._rows("consultations").get(consultation_id)
        if not consultation:
            return {"doctor_response": None, "error": "no such consultation"}
        consultation["messages"] += [
            {"sender": "user", "content": message_content},
            {"sender": "doctor", "content": _DOCTOR_RESPONSE},
        ]
        return {"doctor_response": _DOCTOR_RESPONSE}

    def leave_review(self, doctor_id: Value, rating: Value, review_content: Value) -> Json:
        if doctor_id not in self._rows("doctors"):
            return {"success": False}
        written = self._rows("reviews").setdefault(doctor_id, [])
        written.append({"reviewer_name": _REVIEWER, "rating": rating, "review_content": review_content})
        return {"success": True}

    def view_reviews(self, doctor_id: Value) -> Json:
        return {"reviews": self._rows("reviews").get(doctor_id, [])}


MOCKS: Mapping[str, type[PublishedMock]] = {"BankManager": BankMock, "SmartLock": LockMock, "Teladoc": TeladocMock}
"""Mock by the object name in published programs."""
