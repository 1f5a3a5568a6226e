"""The published lock."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

from lawtrace.environments.events import Json
from lawtrace.runs.published.mocks.base import Operation, PublishedMock, Rows


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
    def _guests(self) -> Rows:
        return cast("Rows", self.state["guests"])

    @property
    def _codes(self) -> Rows:
        return cast("Rows", self.state["access_codes"])

    operations: ClassVar[Mapping[str, Operation]] = {
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
