"""The published bank."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

from lawtrace.environments.events import Json
from lawtrace.runs.published.mocks.base import Operation, PublishedMock, Rows


class BankMock(PublishedMock):
    """``BankManager``: exact match on account types, any keyword inside a payee's name, money moved unchecked."""

    def accounts(self, account_type: Any) -> Json:  # noqa: ANN401
        return {"accounts": [row for row in self._accounts.values() if row["account_type"] == account_type]}

    def payees(self, keywords: Iterable[str]) -> Json:
        words = [word.lower() for word in keywords]
        payees = cast("Rows", self.state["payees"]).values()
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
    def _accounts(self) -> Rows:
        return cast("Rows", self.state["accounts"])

    operations: ClassVar[Mapping[str, Operation]] = {
        "CheckAuthorization": PublishedMock.authorize,
        "RecordAuditEvent": PublishedMock.record,
        "GetAccountInformation": accounts,
        "SearchPayee": payees,
        "GetAccountStatement": statement,
        "SearchTransactions": transactions,
        "TransferFunds": transfer,
        "PayBill": pay,
    }
