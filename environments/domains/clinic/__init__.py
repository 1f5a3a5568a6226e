"""The records office of a clinic under the HIPAA Privacy and Breach Notification Rules.

``entities.py`` holds the tables, ``request_tools.py``, ``file_tools.py`` and ``incident_tools.py`` the tools, and
``initial_state.py`` the initial states, ``agenda.py`` what happens without a call; ``facts.py`` says what the law
turns on. ``regulation.toml`` restates the provisions and ``rules.toml`` holds the curated rule set.
"""

from lawtrace.environments import spec as s

from . import file_tools, incident_tools, request_tools
from .agenda import AGENDA
from .entities import ENTITIES, SESSION
from .facts import FACTS
from .initial_state import populate, populate_docket

TOOLS = (
    request_tools.FIND_REQUEST,
    request_tools.LIST_REQUESTS,
    request_tools.FIND_RECORD,
    request_tools.FETCH_FROM_ARCHIVE,
    request_tools.RELEASE_RECORD,
    request_tools.GIVE_ACCESS,
    request_tools.SEND_ACCOUNTING,
    request_tools.CHARGE_FEE,
    request_tools.TELL_FAMILY,
    request_tools.TELL_ROOM,
    request_tools.MAIL_FLYER,
    request_tools.DECLINE_REQUEST,
    incident_tools.FIND_INCIDENT,
    incident_tools.LIST_INCIDENTS,
    incident_tools.ORDER_FORENSIC_REPORT,
    incident_tools.CLOSE_INCIDENT,
    file_tools.OPEN_REQUEST,
    file_tools.OPEN_PATIENT_FILE,
    file_tools.SET_ADDRESS,
    file_tools.SET_SCOPE,
    file_tools.VERIFY_REQUESTER,
    file_tools.FIND_AUTHORIZATION,
    file_tools.CITE_AUTHORIZATION,
    file_tools.ASK_PATIENT,
    file_tools.ASK_CLINICIAN,
    file_tools.RECORD_DISCLOSURE,
    file_tools.QUOTE_FEE,
    file_tools.SEND_LETTER,
    file_tools.WAIT,
    incident_tools.OPEN_INCIDENT,
    incident_tools.RECORD_FINDING,
    incident_tools.NOTIFY_AFFECTED,
    incident_tools.NOTIFY_MEDIA,
    incident_tools.REPORT_TO_SECRETARY,
    incident_tools.SCHEDULE_NOTICES,
)

ENVIRONMENT = s.Environment(
    name="clinic",
    version="3",
    title="Health records",
    object_name="RecordsOffice",
    summary=(
        "The records office of a clinic in the United States, which health privacy law covers: answer requests for "
        "records and for news of patients, charge fees, decline what cannot be done, and close the files of incidents."
    ),
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    populate_docket=populate_docket,
    clock=s.Clock(s.starts_at(SESSION, "today"), length=120 * 24 * 60 * 60),
    agenda=AGENDA,
    facts=FACTS,
    declines="DeclineRequest",
    declined_as={
        tool.name: "a fee for it" if tool is request_tools.CHARGE_FEE else "the request"
        for tool in TOOLS
        if tool.written_tables and not tool.compliance and tool is not request_tools.DECLINE_REQUEST
    },
)
