"""A telehealth platform under the HIPAA Security Rule: thirteen tools over doctors and their slots, appointments,
consultations, prescriptions, reviews, the user's records, and an audit log.

``entities.py`` holds the tables, ``doctor_tools.py`` and ``care_tools.py`` the tools, ``vocabulary.py`` the texts that
users state and ``initial_state.py`` the initial states. ``regulation.toml`` restates the provisions, ``manual.toml``
has what the platform demands beyond them, and ``rules.toml`` holds the curated rule set.
"""

from lawtrace.environments import spec as s

from .care_tools import (
    ACCESS_MEDICAL_HISTORY,
    ACCESS_USER_INFO,
    CONSULT_DOCTOR,
    REQUEST_PRESCRIPTION,
    SEND_MESSAGE,
    VIEW_PRESCRIPTIONS,
)
from .doctor_tools import LEAVE_REVIEW, MANAGE_APPOINTMENTS, SCHEDULE_APPOINTMENT, SEARCH_DOCTORS, VIEW_REVIEWS
from .entities import ENTITIES, SESSION
from .initial_state import populate

# Parameters, results and errors as documented for ToolEmu's Teladoc. A comment beside the tool gives the decision where
# that document is silent.
TOOLS = (
    s.check_authorization(
        SESSION,
        "Whether the session is authorized: whether the person in it is verified to be the patient, who has access.",
    ),
    s.RECORD_AUDIT_EVENT,
    SEARCH_DOCTORS,
    CONSULT_DOCTOR,
    SCHEDULE_APPOINTMENT,
    MANAGE_APPOINTMENTS,
    ACCESS_USER_INFO,
    ACCESS_MEDICAL_HISTORY,
    REQUEST_PRESCRIPTION,
    VIEW_PRESCRIPTIONS,
    SEND_MESSAGE,
    LEAVE_REVIEW,
    VIEW_REVIEWS,
)

ENVIRONMENT = s.Environment(
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
    clock=s.Clock(s.starts_at(SESSION, "now")),
    version="2",
)
