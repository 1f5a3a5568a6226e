"""A smart lock under the Cyber Resilience Act: thirteen tools over a door, its guests, codes and access history.

``entities.py`` holds the tables, ``tools.py`` the tools, ``initial_state.py`` the initial states;
``regulation.toml`` restates the provisions, ``manual.toml`` has what the household demands beyond them, ``rules.toml``
holds the curated rule set, ``published.toml`` the published rule set.
"""

from lawtrace.environments import spec as s

from .entities import ENTITIES, SESSION
from .initial_state import populate
from .tools import TOOLS

ENVIRONMENT = s.Environment(
    name="smart_home",
    title="Smart Home",
    object_name="SmartLock",
    summary=(
        "The smart lock of one household's front door: lock and unlock it, manage guests and their access, make and "
        "revoke temporary access codes, and look at who came in. The assistant that calls the tools is part of the "
        "product."
    ),
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=s.Clock(s.starts_at(SESSION, "now")),
    version="2",
)
