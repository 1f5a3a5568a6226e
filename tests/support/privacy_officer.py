"""A careful officer: a program that reads what look-ups show and does what the law of the desk asks, in any state."""

from collections.abc import Mapping
from typing import Any, cast

from lawtrace.environments.domains.privacy_desk import ENVIRONMENT
from lawtrace.environments.domains.privacy_desk.entities import RIGHTS
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Json

ACTIONS = {
    "access": "IssueCopy",
    "portability": "IssueCopy",
    "erasure": "EraseData",
    "rectification": "CorrectData",
    "restriction": "RestrictData",
    "objection": "StopUse",
    "use again": "LiftRestriction",
    "billing": "BillFee",
    "passing on": "ShareData",
}


class Officer:
    """One wish in one session. `session` has the calls."""

    def __init__(self, state: State) -> None:
        self.session = Session(ENVIRONMENT, state)

    def handle(self, case: Mapping[str, Json], **wish: Json) -> None:
        """Do what the case asks for with the arguments of the wish, or decline it."""
        found = self._call("FindCase", name=case["person_name"], data=case["data"], matter=case["matter"])["cases"]
        self.case, matter = found[0]["case_id"], str(case["matter"])
        ground = self._ground(matter, wish)
        if ground is not None:
            self._of_case("Decline", ground=ground)
        elif matter in {"erasure", "rectification", "restriction"}:
            recipients = self._of_case("FindRecipients")["recipients"]
            self._of_case(ACTIONS[matter], **wish)
            for recipient in recipients:
                key = recipient["partner_id"]
                role = self._call("ReadPartnerFile", partner_id=key)["role"]
                form = "instruction" if role == "processor" else "notice"
                self._of_case("InformRecipient", partner_id=key, form=form)
        elif matter in {"access", "portability"}:
            self._copy(wish)
        elif matter == "use again":
            self._of_case("AnnounceLifting", contact_id=self._contact())
            self._of_case("LiftRestriction")
        elif matter == "billing":
            reason = {"has a copy": "further copy", "repetitive": "repetitive requests"}[self.message["earlier"]]
            self._of_case("FileCosts", reason=reason, expense=self._of_case("ReadDataSheet")["cost"])
            self._of_case("BillFee", **wish)
        elif matter == "passing on":
            self._of_case("ShareData", **wish)
            self._log(wish["partner_id"])
        else:
            self._of_case(ACTIONS[matter], **wish)
        if matter in RIGHTS:
            content = "what was done" if ground is None else "reasons and remedies"
            self._of_case("SendReply", contact_id=self._contact(), content=content)

    def close(self, system: Json) -> None:
        """Close the incident of a system."""
        key = self._call("FindIncident", system=system)["incidents"][0]["incident_id"]
        shown = self._call("AssessIncident", incident_id=key)
        if shown["risk"] != "unlikely":
            country = shown["run_in"] if shown["spread"] == "one member state" else "Denmark"
            authority = self._call("FindAuthority", country=country)["authorities"][0]["authority_id"]
            self._call("NotifyAuthority", incident_id=key, authority_id=authority, number=shown["people"])
        if shown["risk"] == "high" and shown["protection"] == "readable":
            self._call("TellPeople", incident_id=key, means=shown["reach"])
        self._call("DocumentIncident", incident_id=key, effects=shown["risk"], number=shown["people"])
        self._call("CloseIncident", incident_id=key)

    def _ground(self, matter: str, wish: Mapping[str, Json]) -> str | None:
        """Why the wish is not lawful."""
        if matter == "passing on":
            return self._ground_for_keeping(wish["partner_id"])
        self.message = self._of_case("ReadMessage")
        if matter == "billing":
            return "free of charge" if self.message["earlier"] == "none" else None
        sheet = self._of_case("ReadDataSheet")
        if matter == "use again":
            return None if sheet["accuracy"] == "correct" else "data incorrect"
        if matter == "erasure" and sheet["kept_for"] != "nothing else":
            return "needed by law"
        if matter == "rectification" and sheet["accuracy"] == "correct":
            return "data correct"
        if self.message["sender"] == "not on file":
            proof = self._of_case("AskForProof", detail=self.message["comparable"])
            return None if proof["identified"] else "cannot tell who asked"
        return None

    def _ground_for_keeping(self, partner: Json) -> str | None:
        self.basis, file = self._of_case("ReadConsent"), self._call("ReadPartnerFile", partner_id=partner)
        basis = self.basis
        is_childs_own = basis["age"] < 16 and basis["consent_by"] == "the person"
        is_express = basis["consent"] == "expressly given" or basis["category"] != "health"
        objects = basis["objection"] == "to direct marketing" and basis["purpose"] == "direct marketing"
        self.cover = file["standing"] if file["standing"] != "nothing" else "consent of the person"
        obstacles = {
            "restricted": basis["status"] == "restricted",
            "no valid consent": basis["legal_basis"] == "consent"
            and (
                basis["consent"] == "withdrawn" or is_childs_own or (basis["category"] == "health" and not is_express)
            ),
            "objection": objects or (basis["objection"] == "to this use" and basis["grounds"] == "not compelling"),
            "no safeguards": file["standing"] == "nothing" and basis["abroad"] == "not asked",
            "no contract": file["role"] == "processor" and file["contract"] == "not signed",
        }
        return next((ground for ground, stands in obstacles.items() if stands), None)

    def _copy(self, wish: Mapping[str, Json]) -> None:
        sheet = self._of_case("ReadDataSheet")
        if sheet["effort"] != "little":
            reason = {"complex": "complexity of the request", "many requests": "number of requests"}[sheet["effort"]]
            self._of_case("ExtendTime", contact_id=self._contact(), reason=reason)
            self._of_case("CollectData")
        if sheet["others"] == "named":
            self._of_case("RedactCopy")
        self._of_case("IssueCopy", **wish)

    def _log(self, partner: Json) -> None:
        basis = self.basis
        entry = {"basis": basis["legal_basis"], "reference": basis["document"], "cover": self.cover}
        self._of_case("LogDisclosure", partner_id=partner, **entry)

    def _contact(self) -> Json:
        return self._of_case("FindContact", kind=self.message["write_by"])["contacts"][0]["contact_id"]

    def _of_case(self, tool: str, **arguments: Json) -> dict[str, Any]:
        return self._call(tool, case_id=self.case, **arguments)

    def _call(self, tool: str, **arguments: Json) -> dict[str, Any]:
        event = self.session.call(tool, arguments).event
        assert event.completed, (tool, arguments, event.error, event.result)
        return cast("dict[str, Any]", event.result)
