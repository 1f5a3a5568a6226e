"""Pending events, which an audit call records."""

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.schemas.events import CallOutcome, Event


def pending(*calls: str | tuple[str, CallOutcome]) -> tuple[str, ...]:
    events = (Event(call, {}) if isinstance(call, str) else Event(call[0], {}, call[1]) for call in calls)
    return pending_events(ENVIRONMENT.tools, tuple(events))


def test_nothing_is_pending_at_the_start() -> None:
    assert pending() == ()
    assert pending("CheckAuthorization", "SearchPayee", "GetAccountInformation", "SearchTransactions") == ()


def test_each_occurrence_in_order() -> None:
    calls = ("PayBill", "TransferFunds", "SearchPayee", "PayBill", "GetAccountStatement")
    assert pending(*calls) == ("BILL_PAYMENT", "FUNDS_TRANSFER", "BILL_PAYMENT", "ACCOUNT_ACCESS")


def test_an_entry_clears_the_events_before_it() -> None:
    assert pending("PayBill", "RecordAuditEvent") == ()
    assert pending("PayBill", "RecordAuditEvent", "TransferFunds") == ("FUNDS_TRANSFER",)


def test_only_completed_calls_count() -> None:
    assert pending(("PayBill", "failed"), ("PayBill", "raised"), ("PayMoney", "rejected")) == ()
    assert pending("PayBill", ("RecordAuditEvent", "raised")) == ("BILL_PAYMENT",)
