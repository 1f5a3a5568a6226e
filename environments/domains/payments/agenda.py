"""What happens at the payment desk without a call."""

from lawtrace.environments import spec as s

from . import entities as e

AGENDA = (
    s.Happening(
        "The full proof comes in that the customer authorised a transaction.",
        e.PROOFS,
        "arrives",
        (s.change(e.FINDINGS, evidence="full proof"),),
    ),
    s.Happening(
        "The customer pays in a shop with a card and its PIN.",
        e.PIN_PAYMENTS,
        "made",
        (s.change(e.TAP_COUNTERS, contactless_total=0, contactless_count=0),),
    ),
    s.Happening(
        "The answer of a party that was asked about an order comes in.",
        e.INQUIRIES,
        "arrives",
        (s.register(e.ANSWERS, "order_id", "party"),),
    ),
    s.Happening(
        "A planned payment is executed.",
        e.PLANNED_PAYMENTS,
        "planned",
        (s.register(e.PAYMENTS, "account_id", "payee_id", "amount"),),
    ),
)
