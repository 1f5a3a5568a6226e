"""A telehealth platform under the HIPAA Security Rule: thirteen tools over doctors and their slots, appointments,
consultations, prescriptions, reviews, the user's records, and an audit log.

``entities.py`` holds the tables, ``tools/`` the tools by topic, ``vocabulary.py`` the texts that users state and
``initial_state.py`` the initial states. ``regulation.toml`` restates the provisions and ``rules.toml`` holds the
curated rule set.
"""

from lawtrace.environments.domains.telehealth.entities import ENTITIES
from lawtrace.environments.domains.telehealth.initial_state import populate
from lawtrace.environments.domains.telehealth.tools import TOOLS
from lawtrace.environments.spec import Environment

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
