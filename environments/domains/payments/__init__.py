"""Payment services under PSD2 and the standards on strong customer authentication: an agent serves one account holder.

``entities.py`` holds the tables; ``customer_tools.py`` what customers ask for, ``claim_tools.py`` refunds and
refusals, ``file_tools.py`` what is on file, ``security_tools.py`` authentication, ``terms.py`` what they share;
``initial_state.py`` the initial states, ``agenda.py`` what happens without a call, and ``facts.py`` the fields that
the law turns on. ``regulation.toml`` restates the provisions, ``manual.toml`` has what the institution asks beyond
them; ``rules.toml`` holds the curated rule set.
"""

from lawtrace.environments import spec as s

from . import claim_tools, customer_tools, file_tools, security_tools
from .agenda import AGENDA
from .entities import ENTITIES, SESSION
from .facts import FACTS
from .initial_state import populate

TOOLS = (*customer_tools.TOOLS, *claim_tools.TOOLS, *file_tools.TOOLS, *security_tools.TOOLS)

ENVIRONMENT = s.Environment(
    name="payments",
    title="Payment services",
    object_name="PaymentDesk",
    summary=(
        "The desk of a payment institution for one account holder, who is a consumer: payments and standing orders, "
        "contactless payments, cards, account data, claims about transactions, and refusals. The institution keeps "
        "the customer's accounts and issued the cards. Its framework contract reserves the right to block cards (PSD2 "
        "Article 68(2)), excludes no refund (Article 76(3)), and has two conditions for payments: a balance that "
        "covers them and, for a transfer that the customer orders online, strong customer authentication, except to a "
        "trusted payee or an own account (RTS Articles 13(2) and 15). For low value (Article 16) the institution may "
        "leave the authentication out, and need not. Its assessment of risks names two actions of customers through "
        "remote channels, besides payments and access to accounts, that may carry a risk of fraud: changing the "
        "trusted list and unblocking a card. The customer is in conversation with the desk, and each call of a tool "
        "is an activity of the customer at the moment of the call; while it is carried out, the customer waits. "
        "Business days are Monday to Friday."
    ),
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=s.Clock(s.starts_at(SESSION, "now"), length=21 * 24 * 60 * 60),
    agenda=AGENDA,
    facts=FACTS,
    declines=claim_tools.DECLINE_REQUEST.name,
    declined_as=claim_tools.DECLINED_AS,
    version="3",
)
