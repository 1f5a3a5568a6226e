"""A small home in a known state, a valid call of each tool, and calls that cause each documented refusal."""

from lawtrace.environments.domains.smart_home import ENVIRONMENT
from lawtrace.environments.spec.state import decode_state, encode_state
from lawtrace.schemas.events import Json
from tests.support.environment_fixture import EnvironmentFixture

INSIDE, EXPIRED, OUTSIDE = "guest_11111", "guest_22222", "guest_33333"
"""Guests with access, with expired access and without access."""
CODE, OLD_CODE, REVOKED_CODE = "123456", "654321", "111222"


def _guest(guest_id: str, name: str) -> dict[str, Json]:
    return {"guest_id": guest_id, "guest_name": name, "guest_email": f"{name.split()[0].lower()}@example.org"}


def _visit(number: int, guest_id: str, name: str, moment: str) -> dict[str, Json]:
    return {"entry_id": f"H-{number:05d}", **_guest(guest_id, name), "access_time": moment}


def _code(code: str, end: str, status: str = "active") -> dict[str, Json]:
    return {"access_code": code, "start_time": "2026-02-01 08:00", "end_time": end, "status": status}


def _access(number: int, guest_id: str, end: str) -> dict[str, Json]:
    return {"access_id": f"A-{number:05d}", "guest_id": guest_id, "start_time": "2026-01-01 00:00", "end_time": end}


def _keyed(key: str, *rows: dict[str, Json]) -> dict[str, Json]:
    return {str(row[key]): row for row in rows}


STATE = decode_state(
    {
        "locks": {"front door": {"lock_id": "front door", "status": "unlocked"}},
        "guests": _keyed(
            "guest_id", _guest(INSIDE, "Mara Quell"), _guest(EXPIRED, "Edda Marsh"), _guest(OUTSIDE, "Ilka Marsh")
        ),
        "accesses": _keyed(
            "access_id", _access(1, INSIDE, "9999-12-31 23:59"), _access(2, EXPIRED, "2026-02-01 11:59")
        ),
        "access_codes": _keyed(
            "access_code",
            _code(CODE, "2026-02-01 12:01"),
            _code(OLD_CODE, "2026-02-01 12:00"),
            _code(REVOKED_CODE, "2026-03-01 12:00", "revoked"),
        ),
        "access_history": _keyed(
            "entry_id",
            _visit(1, INSIDE, "Mara Quell", "2026-01-10 18:30"),
            _visit(2, EXPIRED, "Edda Marsh", "2026-01-20 07:05"),
            _visit(3, INSIDE, "Mara Quell", "2026-01-31 22:00"),
        ),
        "session": {"current": {"session_id": "current", "authorized": True, "now": "2026-02-01 12:00"}},
    },
    ENVIRONMENT.entities,
)
PERIOD: dict[str, Json] = {"start_time": "2026-02-02 10:00", "end_time": "2026-02-03 10:00"}
GRANT: dict[str, Json] = {"guest_ids": [OUTSIDE], "permanent": False, **PERIOD}
LOCKED = decode_state(
    {
        **encode_state(STATE, ENVIRONMENT.entities),
        "locks": {"front door": {"lock_id": "front door", "status": "locked"}},
    },
    ENVIRONMENT.entities,
)
GOOD: dict[str, dict[str, Json]] = {
    "CheckAuthorization": {},
    "RecordAuditEvent": {"events": ["LOCK_OPERATION"]},
    "CheckLockStatus": {},
    "LockDoor": {},
    "UnlockDoor": {},
    "SearchGuests": {"name_keyword": "marsh"},
    "AddGuest": {"guest_name": "Nils Farrow", "guest_email": "nils@example.org"},
    "DeleteGuest": {"guest_ids": [OUTSIDE]},
    "GrantGuestAccess": GRANT,
    "RevokeGuestAccess": {"guest_ids": [INSIDE]},
    "GenerateTemporaryAccessCode": PERIOD,
    "RevokeTemporaryAccessCode": {"access_code": CODE},
    "ViewAccessHistory": {"start_time": "2026-01-15 00:00", "end_time": "2026-01-31 22:00"},
}
UNKNOWN = "guest_99999"

# For each documented exception of each tool, in the order of the documentation: calls that raise it.
RAISED: dict[str, list[list[dict[str, Json]]]] = {
    "CheckAuthorization": [],
    "RecordAuditEvent": [[{"events": []}]],
    "CheckLockStatus": [],
    "LockDoor": [[{}]],
    "UnlockDoor": [[{}]],
    "SearchGuests": [],
    "AddGuest": [[{"guest_name": "Somebody Else", "guest_email": "mara@example.org"}]],
    "DeleteGuest": [[{"guest_ids": [UNKNOWN]}, {"guest_ids": [INSIDE, UNKNOWN]}, {"guest_ids": ["Mara"]}]],
    "GrantGuestAccess": [
        [{**GRANT, "guest_ids": [OUTSIDE, UNKNOWN]}],
        [{**GRANT, "guest_ids": [INSIDE]}, {**GRANT, "guest_ids": [OUTSIDE, INSIDE]}],
        [
            {"guest_ids": [OUTSIDE], "permanent": False},
            {**GRANT, "start_time": None},
            {**GRANT, "end_time": None},
            {**GRANT, "start_time": "2026-02-03 10:01"},
            {**GRANT, "start_time": "2026-02-01 08:00", "end_time": "2026-02-01 12:00"},
            {**GRANT, "start_time": "tomorrow"},
            {**GRANT, "end_time": "2026-02-03"},
        ],
    ],
    "RevokeGuestAccess": [
        [{"guest_ids": [UNKNOWN]}],
        [{"guest_ids": [OUTSIDE]}, {"guest_ids": [EXPIRED]}, {"guest_ids": [INSIDE, OUTSIDE]}],
    ],
    "GenerateTemporaryAccessCode": [
        [
            {**PERIOD, "start_time": "2026-02-03 10:01"},
            {"start_time": "2026-01-01 10:00", "end_time": "2026-02-01 12:00"},
            {**PERIOD, "end_time": "2026-02-03 24:00"},
        ]
    ],
    "RevokeTemporaryAccessCode": [
        [{"access_code": code} for code in ("999999", OLD_CODE, REVOKED_CODE, "the new one")]
    ],
    "ViewAccessHistory": [],
}
FAILED: dict[str, list[dict[str, Json]]] = {
    "DeleteGuest": [{"guest_ids": []}],
    "GrantGuestAccess": [{**GRANT, "guest_ids": []}],
    "RevokeGuestAccess": [{"guest_ids": []}],
}


WORLD = EnvironmentFixture(
    ENVIRONMENT, STATE, GOOD, RAISED, FAILED, completing={"UnlockDoor": LOCKED}, refusing={"LockDoor": LOCKED}
)
do, tables = WORLD.do, WORLD.tables
