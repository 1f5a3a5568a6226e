"""The disruption desk of a small, invented airline: nine tools over bookings, flights, payments and vouchers.

The example of docs/environments.md. ``tables.py`` holds the entities and the initial states, ``tools.py`` the tools,
``regulation.toml`` the airline's policy and ``rules.toml`` what it demands of the calls.
"""

from lawtrace.environments.spec import Clock, Environment, starts_at

from .tables import DESK, ENTITIES, populate
from .tools import TOOLS

__all__ = ["ENVIRONMENT"]

ENVIRONMENT = Environment(
    name="airline",
    title="Air travel",
    object_name="DisruptionDesk",
    summary=(
        "The desk that helps passengers of cancelled and delayed flights: find a booking, look up a flight, rebook, "
        "reimburse, pay compensation and hand out meal vouchers."
    ),
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=Clock(starts_at(DESK, "today")),
)
