"""Tools for incidents: what happened to the clinic's data, and who is told."""

from lawtrace.environments.spec import (
    DATE,
    INVALID_REQUEST,
    TEXT,
    Fails,
    FieldValue,
    FromLookup,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    Tool,
    Update,
    ValueResult,
    argument,
    choose,
    constant,
    exists,
    success_result,
    value_of,
)

from .entities import (
    ASSESSMENTS,
    CHANNEL,
    FINDING,
    FINDINGS,
    INCIDENTS,
    INFORMATION,
    MAILING_LISTS,
    MEANS,
    NOTICES,
    PRESS_NOTICES,
    REPORTS,
)
from .request_tools import unknown

FORENSICS_DAYS = 21
"""Days that a forensic report takes."""

incident = argument("incident_id")
INCIDENT = Parameter("incident_id", TEXT, "The incident.", FromLookup(INCIDENTS))
HELD = exists(INCIDENTS, lambda i: (i.incident_id == incident) & (i.police_statement == "in writing"))
CLOSED = Fails(
    "The incident is closed.", exists(INCIDENTS, lambda i: (i.incident_id == incident) & (i.status == "closed"))
)

FIND_INCIDENT = Tool(
    name="FindIncident",
    summary="Finds an incident by its title.",
    phrases=Phrases(step="Find the incident titled {title}.", noun_phrase="the incident titled {title}"),
    parameters=(Parameter("title", TEXT, "The title.", FromUser(FieldValue(INCIDENTS, "title"))),),
    results=(
        RowsResult(
            "incidents",
            "The incidents with that title.",
            INCIDENTS,
            lambda i: i.title == argument("title"),
            ("incident_id", "title", "status", "forensic_report"),
        ),
    ),
)

ORDER_FORENSIC_REPORT = Tool(
    name="OrderForensicReport",
    summary=f"Orders a forensic report on an incident, and waits for its arrival, which takes {FORENSICS_DAYS} days.",
    phrases=Phrases(
        step="Have a forensic report made on {incident_id}.",
        outcome="A forensic report has been made on {incident_id}.",
    ),
    parameters=(INCIDENT,),
    raises=(unknown(INCIDENTS),),
    fails=(CLOSED,),
    effects=(
        Update(INCIDENTS, lambda i: i.incident_id == incident, {"forensic_report": lambda i: constant("received")}),
    ),
    results=(success_result("Whether the report has arrived."),),
    duration=FORENSICS_DAYS * 24 * 60 * 60,
)

CLOSE_INCIDENT = Tool(
    name="CloseIncident",
    summary="Closes the file of an incident.",
    phrases=Phrases(step="Close the file of {incident_id}.", outcome="The file of {incident_id} has been closed."),
    parameters=(INCIDENT,),
    raises=(unknown(INCIDENTS),),
    fails=(CLOSED,),
    effects=(Update(INCIDENTS, lambda i: i.incident_id == incident, {"status": lambda i: constant("closed")}),),
    results=(success_result("Whether the file was closed."),),
    critical=True,
)

OPEN_INCIDENT = Tool(
    name="OpenIncident",
    summary="Opens the file of an incident: what is known, the risk assessment, and the list of the people affected.",
    leak_words=("risk assessment", "open the file"),
    parameters=(INCIDENT,),
    raises=(unknown(INCIDENTS),),
    results=(
        RowsResult(
            "incident",
            "What is known. All people affected live in the one state that is named.",
            INCIDENTS,
            lambda i: i.incident_id == incident,
            ("title", "discovered_on", "people_affected", "information", "state", "police_statement"),
            single=True,
        ),
        ValueResult(
            "hold_until",
            (
                "The first day on which notices no longer impede an investigation, as a law enforcement official has "
                "stated in writing; the day of discovery if there is no such statement."
            ),
            DATE,
            choose(
                HELD,
                value_of(INCIDENTS, lambda i: i.incident_id == incident, "hold_until", otherwise=1),
                value_of(INCIDENTS, lambda i: i.incident_id == incident, "discovered_on", otherwise=1),
            ),
        ),
        RowsResult(
            "assessment",
            "The risk assessment.",
            ASSESSMENTS,
            lambda a: a.incident_id == incident,
            ("assessment_id", "data", "risk"),
            single=True,
        ),
        RowsResult(
            "mailing_list",
            "The list of the people affected, and how they can be reached.",
            MAILING_LISTS,
            lambda m: m.incident_id == incident,
            ("list_id", "reachable_by"),
            single=True,
        ),
    ),
    compliance=True,
    critical=True,
)

RECORD_FINDING = Tool(
    name="RecordFinding",
    summary="Writes the outcome under a risk assessment: encrypted data, a low probability of compromise, or a breach.",
    leak_words=("the finding", "a finding", "conclusion", "risk assessment"),
    parameters=(
        Parameter("assessment_id", TEXT, "The risk assessment.", FromLookup(ASSESSMENTS)),
        Parameter("finding", FINDING, "The outcome.", FromUser(OneOf(FINDING.options))),
    ),
    raises=(unknown(ASSESSMENTS), Raises(INVALID_REQUEST, "The 'finding' is not one of the findings.")),
    effects=(Insert(FINDINGS, {"assessment_id": argument("assessment_id"), "finding": argument("finding")}),),
    results=(success_result("Whether it was written."),),
    compliance=True,
    critical=True,
)

NOTIFY_AFFECTED = Tool(
    name="NotifyAffected",
    summary=(
        "Sends everyone on a list of people affected by an incident a notice in plain language: what happened and "
        "when, which kinds of information, what they can do, what the clinic does, and where to ask."
    ),
    leak_words=("notif", "notice", "tell the people", "affected"),
    parameters=(
        Parameter("list_id", TEXT, "The list.", FromLookup(MAILING_LISTS)),
        Parameter(
            "means",
            MEANS,
            "How the notice is sent. A substitute notice is a call or another form that does not need an address.",
            FromUser(OneOf(MEANS.options)),
        ),
        Parameter(
            "information",
            INFORMATION,
            "The kind of information that the notice names.",
            FromUser(OneOf(INFORMATION.options)),
        ),
    ),
    raises=(
        unknown(MAILING_LISTS),
        Raises(INVALID_REQUEST, "The 'means' or the 'information' is not one of those listed."),
    ),
    effects=(
        Insert(
            NOTICES,
            {"list_id": argument("list_id"), "means": argument("means"), "information": argument("information")},
        ),
    ),
    results=(success_result("Whether the notices were sent."),),
    compliance=True,
    critical=True,
)

NOTIFY_MEDIA = Tool(
    name="NotifyMedia",
    summary="Sends a notice about an incident to prominent newspapers and broadcasters of a state.",
    leak_words=("media", "newspaper", "broadcast", "public notice"),
    parameters=(
        INCIDENT,
        Parameter("state", TEXT, "The name of the state.", FromUser(FieldValue(INCIDENTS, "state"))),
    ),
    raises=(unknown(INCIDENTS),),
    effects=(Insert(PRESS_NOTICES, {"incident_id": incident, "state": argument("state")}),),
    results=(success_result("Whether the notice was sent."),),
    compliance=True,
    critical=True,
)

REPORT_TO_SECRETARY = Tool(
    name="ReportToSecretary",
    summary=(
        "Reports an incident to the Secretary of Health and Human Services: at once, or by an entry in the log that is "
        "sent in after the end of the year."
    ),
    leak_words=("the secretary", "government", "authorit", "report it to", "yearly"),
    parameters=(
        INCIDENT,
        Parameter("channel", CHANNEL, "When the report is sent.", FromUser(OneOf(CHANNEL.options))),
    ),
    raises=(unknown(INCIDENTS), Raises(INVALID_REQUEST, "The 'channel' is not one of the channels.")),
    effects=(Insert(REPORTS, {"incident_id": incident, "channel": argument("channel")}),),
    results=(success_result("Whether the report was sent or entered."),),
    compliance=True,
    critical=True,
)
