"""A small bank in a known state, a valid call of each tool, and calls that cause each documented refusal."""

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.spec.state import decode_state
from lawtrace.schemas.events import Json
from tests.support.environment_fixture import Arguments, EnvironmentFixture

MAIN, SPARE, NEST = "111-1111-1111", "222-2222-2222", "333-3333-3333"
STATE = decode_state(
    {
        "accounts": {
            MAIN: {"account_number": MAIN, "account_type": "checking", "balance": 100.0, "status": "active"},
            SPARE: {"account_number": SPARE, "account_type": "savings", "balance": 20.0, "status": "active"},
            NEST: {
                "account_number": NEST,
                "account_type": "self-directed TFSA",
                "balance": 0.0,
                "status": "active",
                "remaining_contribution_room": 6500.0,
            },
        },
        "payees": {
            "P-000001": {"payee_id": "P-000001", "payee_name": "Harbour Water"},
            "P-000002": {"payee_id": "P-000002", "payee_name": "Harbour Taxes"},
        },
        "transactions": {
            "T-00001": {
                "transaction_id": "T-00001",
                "account_number": MAIN,
                "date": "2026-01-10",
                "description": "Harbour Water",
                "amount": -30.0,
                "balance": 100.0,
                "reference": "123456789",
            },
            "T-00002": {
                "transaction_id": "T-00002",
                "account_number": MAIN,
                "date": "2026-01-20",
                "description": "Salary",
                "amount": 80.0,
                "balance": 180.0,
            },
        },
        "session": {"current": {"session_id": "current", "authorized": True, "today": "2026-02-01"}},
    },
    ENVIRONMENT.entities,
)
TRANSFER: dict[str, Json] = {"from_account_number": MAIN, "to_account_number": SPARE, "amount": 10}
BILL: dict[str, Json] = {
    "from_account_number": MAIN,
    "payee_id": "P-000001",
    "service_account_number": "42",
    "payment_date": "2026-02-03",
    "amount": 25.5,
}
STATEMENT: dict[str, Json] = {"account_number": MAIN, "start_date": "2026-01-01", "end_date": "2026-01-31"}
GOOD: dict[str, dict[str, Json]] = {
    "CheckAuthorization": {},
    "RecordAuditEvent": {"events": ["BILL_PAYMENT"]},
    "GetAccountInformation": {"account_type": "checking"},
    "TransferFunds": TRANSFER,
    "SearchPayee": {"keywords": ["water"]},
    "PayBill": BILL,
    "GetAccountStatement": STATEMENT,
    "SearchTransactions": {"account_number": MAIN},
}
UNKNOWN = "999-9999-9999"

# For each documented exception of each tool, in the order of the documentation: calls that raise it.
RAISED: dict[str, list[list[dict[str, Json]]]] = {
    "CheckAuthorization": [],
    "RecordAuditEvent": [[{"events": []}]],
    "GetAccountInformation": [[{"account_type": "gold"}, {"account_type": ""}]],
    "TransferFunds": [
        [{**TRANSFER, "amount": 0}, {**TRANSFER, "amount": -5}],
        [{**TRANSFER, "from_account_number": UNKNOWN}],
        [{**TRANSFER, "to_account_number": "savings"}],
    ],
    "SearchPayee": [[{"keywords": []}], [{"keywords": [""]}, {"keywords": ["water", "  "]}]],
    "PayBill": [
        [{**BILL, "amount": 0}],
        [{**BILL, "from_account_number": UNKNOWN}],
        [{**BILL, "payee_id": "P-999999"}],
        [{**BILL, "payment_date": "3 February"}, {**BILL, "payment_date": "2026-02-30"}],
    ],
    "GetAccountStatement": [
        [{**STATEMENT, "account_number": UNKNOWN}],
        [{**STATEMENT, "start_date": "1 January"}, {**STATEMENT, "end_date": "2026-02-30"}],
    ],
    "SearchTransactions": [
        [{"account_number": UNKNOWN}],
        [
            {"account_number": MAIN, "min_amount": -1},
            {"account_number": MAIN, "max_amount": -0.01},
            {"account_number": MAIN, "min_amount": 20, "max_amount": 10},
        ],
    ],
}
FAILED: dict[str, list[dict[str, Json]]] = {
    "TransferFunds": [
        {**TRANSFER, "to_account_number": UNKNOWN},
        {**TRANSFER, "to_account_number": MAIN},
        {**TRANSFER, "amount": 100.01},
    ],
    "PayBill": [{**BILL, "amount": 100.01}],
}


MORE: dict[str, list[Arguments]] = {
    "GetAccountInformation": [{"account_type": "self-directed TFSA"}],
    "SearchTransactions": [{"account_number": MAIN, "keyword": "HARBOUR", "min_amount": 30, "max_amount": 30}],
    "GetAccountStatement": [{**STATEMENT, "download": True}],
}
WORLD = EnvironmentFixture(ENVIRONMENT, STATE, GOOD, RAISED, FAILED, MORE)
do, tables = WORLD.do, WORLD.tables
