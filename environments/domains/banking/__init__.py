"""Personal online banking under PSD2: eight tools over accounts, payees, transactions and an audit log.

``entities.py`` holds the tables, ``tools.py`` the tools, ``initial_state.py`` the initial states; ``regulation.toml``
restates the provisions, ``manual.toml`` has what the bank demands beyond them, and ``rules.toml`` holds the curated
rule set.
"""

from lawtrace.environments import spec as s

from .entities import ENTITIES, SESSION
from .initial_state import populate
from .tools import TOOLS

ENVIRONMENT = s.Environment(
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
    clock=s.Clock(s.starts_at(SESSION, "today")),
    version="2",
)
