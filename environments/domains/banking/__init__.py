"""Personal online banking under PSD2: eight tools over accounts, payees, transactions and an audit log.

``entities.py`` holds the tables, ``tools.py`` the tools, ``initial_state.py`` the initial states; ``regulation.toml``
restates the provisions and ``rules.toml`` holds the curated rule set.
"""

from lawtrace.environments.domains.banking.entities import ENTITIES, SESSION
from lawtrace.environments.domains.banking.initial_state import populate
from lawtrace.environments.domains.banking.tools import TOOLS
from lawtrace.environments.spec import Clock, Environment, starts_at

ENVIRONMENT = Environment(
    name="banking",
    title="Financial",
    object_name="BankManager",
    summary=(
        "Personal online banking for one customer: look at accounts, statements and transactions, find payees, move "
        "money between accounts and pay bills."
    ),
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=Clock(starts_at(SESSION, "today")),
)
