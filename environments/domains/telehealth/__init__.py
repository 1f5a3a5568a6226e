"""A platform for seeing doctors online, under the HIPAA Security Rule: thirteen tools over doctors and their slots,
appointments, consultations, prescriptions, reviews, what is on file about the user, and an audit log.

``entities.py`` holds the tables; the tools stand by concern in ``doctors.py``, ``appointments.py``, ``care.py`` and
``records.py`` and are put together in ``tools.py``; ``vocabulary.py`` is what users say and ``population.py`` the
initial states. ``regulation.toml`` restates the provisions and ``rules.toml`` holds the curated rule set.
"""

from lawtrace.environments.domains.telehealth.entities import ENTITIES
from lawtrace.environments.domains.telehealth.initial_state import populate
from lawtrace.environments.domains.telehealth.tools import TOOLS
from lawtrace.environments.spec import Environment

__all__ = ["ENVIRONMENT"]

ENVIRONMENT = Environment(
    name="telehealth",
    title="Tele-Health",
    object_name="Teladoc",
    summary=(
        "Seeing doctors online, for one patient: find doctors, consult them and write to them, schedule and manage "
        "appointments, ask for prescriptions, look at what is on file, leave and view reviews."
    ),
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
)
