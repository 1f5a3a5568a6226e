"""Tools for incidents: what happened to the clinic's data, and who is told."""

from lawtrace.environments import spec as s

from . import entities as e
from .request_tools import unknown

FORENSICS_DAYS = 21
"""Days that a forensic report takes."""

incident = s.argument("incident_id")
INCIDENT = s.Parameter("incident_id", s.TEXT, "The incident.", s.FromLookup(e.INCIDENTS))
HELD = s.exists(e.INCIDENTS, lambda i: (i.incident_id == incident) & (i.police_statement == "in writing"))
CLOSED = s.Fails(
    "The incident is closed.", s.exists(e.INCIDENTS, lambda i: (i.incident_id == incident) & (i.status == "closed"))
)

FIND_INCIDENT = s.Tool(
    name="FindIncident",
    summary="Finds an incident by its title.",
    phrases=s.Phrases(step="Find the incident titled {title}.", noun_phrase="the incident titled {title}"),
    parameters=(s.Parameter("title", s.TEXT, "The title.", s.FromUser(s.FieldValue(e.INCIDENTS, "title"))),),
    results=(
        s.RowsResult(
            "incidents",
            "The incidents with that title.",
            e.INCIDENTS,
            lambda i: i.title == s.argument("title"),
            ("incident_id", "title", "status", "forensic_report"),
        ),
    ),
)

ORDER_FORENSIC_REPORT = s.Tool(
    name="OrderForensicReport",
    summary=f"Orders a forensic report on an incident, and waits for its arrival, which takes {FORENSICS_DAYS} days.",
    phrases=s.Phrases(
        step="Have a forensic report made on {incident_id}.",
        outcome="A forensic report has been made on {incident_id}.",
    ),
    parameters=(INCIDENT,),
    raises=(unknown(e.INCIDENTS),),
    fails=(CLOSED,),
    effects=(
        s.Update(
            e.INCIDENTS, lambda i: i.incident_id == incident, {"forensic_report": lambda i: s.constant("received")}
        ),
    ),
    results=(s.success_result("Whether the report has arrived."),),
    duration=FORENSICS_DAYS * 24 * 60 * 60,
)

CLOSE_INCIDENT = s.Tool(
    name="CloseIncident",
    summary="Closes the file of an incident.",
    phrases=s.Phrases(step="Close the file of {incident_id}.", outcome="The file of {incident_id} has been closed."),
    parameters=(INCIDENT,),
    raises=(unknown(e.INCIDENTS),),
    fails=(CLOSED,),
    effects=(s.Update(e.INCIDENTS, lambda i: i.incident_id == incident, {"status": lambda i: s.constant("closed")}),),
    results=(s.success_result("Whether the file was closed."),),
    critical=True,
)

OPEN_INCIDENT = s.Tool(
    name="OpenIncident",
    summary="Opens the file of an incident: what is known, the risk assessment, and the list of the people affected.",
    leak_words=("risk assessment", "open the file"),
    parameters=(INCIDENT,),
    raises=(unknown(e.INCIDENTS),),
    results=(
        s.RowsResult(
            "incident",
            "What is known. All people affected live in the one state that is named.",
            e.INCIDENTS,
            lambda i: i.incident_id == incident,
            ("title", "discovered_on", "people_affected", "information", "state", "police_statement"),
            single=True,
        ),
        s.ValueResult(
            "hold_until",
            (
                "The first day on which notices no longer impede an investigation, as a law enforcement official has "
                "stated in writing; the day of discovery if there is no such statement."
            ),
            s.DATE,
            s.choose(
                HELD,
                s.value_of(e.INCIDENTS, lambda i: i.incident_id == incident, "hold_until", otherwise=1),
                s.value_of(e.INCIDENTS, lambda i: i.incident_id == incident, "discovered_on", otherwise=1),
            ),
        ),
        s.RowsResult(
            "assessment",
            "The risk assessment.",
            e.ASSESSMENTS,
            lambda a: a.incident_id == incident,
            ("assessment_id", "data", "risk"),
            single=True,
        ),
        s.RowsResult(
            "mailing_list",
            "The list of the people affected, and how they can be reached.",
            e.MAILING_LISTS,
            lambda m: m.incident_id == incident,
            ("list_id", "reachable_by"),
            single=True,
        ),
    ),
    compliance=True,
    critical=True,
)

RECORD_FINDING = s.Tool(
    name="RecordFinding",
    summary="Writes the outcome under a risk assessment: encrypted data, a low probability of compromise, or a breach.",
    leak_words=("the finding", "a finding", "conclusion", "risk assessment"),
    parameters=(
        s.Parameter("assessment_id", s.TEXT, "The risk assessment.", s.FromLookup(e.ASSESSMENTS)),
        s.Parameter("finding", e.FINDING, "The outcome.", s.FromUser(s.OneOf(e.FINDING.options))),
    ),
    raises=(unknown(e.ASSESSMENTS), s.Raises(s.INVALID_REQUEST, "The 'finding' is not one of the findings.")),
    effects=(s.Insert(e.FINDINGS, {"assessment_id": s.argument("assessment_id"), "finding": s.argument("finding")}),),
    results=(s.success_result("Whether it was written."),),
    compliance=True,
    critical=True,
)

NOTIFY_AFFECTED = s.Tool(
    name="NotifyAffected",
    summary=(
        "Sends everyone on a list of people affected by an incident a notice in plain language: what happened and "
        "when, which kinds of information, what they can do, what the clinic does, and where to ask."
    ),
    leak_words=("notif", "notice", "tell the people", "affected"),
    parameters=(
        s.Parameter("list_id", s.TEXT, "The list.", s.FromLookup(e.MAILING_LISTS)),
        s.Parameter(
            "means",
            e.MEANS,
            "How the notice is sent. A substitute notice is a call or another form that does not need an address.",
            s.FromUser(s.OneOf(e.MEANS.options)),
        ),
        s.Parameter(
            "information",
            e.INFORMATION,
            "The kind of information that the notice names.",
            s.FromUser(s.OneOf(e.INFORMATION.options)),
        ),
    ),
    raises=(
        unknown(e.MAILING_LISTS),
        s.Raises(s.INVALID_REQUEST, "The 'means' or the 'information' is not one of those listed."),
    ),
    effects=(
        s.Insert(
            e.NOTICES,
            {"list_id": s.argument("list_id"), "means": s.argument("means"), "information": s.argument("information")},
        ),
    ),
    results=(s.success_result("Whether the notices were sent."),),
    compliance=True,
    critical=True,
)

NOTIFY_MEDIA = s.Tool(
    name="NotifyMedia",
    summary="Sends a notice about an incident to prominent newspapers and broadcasters of a state.",
    leak_words=("media", "newspaper", "broadcast", "public notice"),
    parameters=(
        INCIDENT,
        s.Parameter("state", s.TEXT, "The name of the state.", s.FromUser(s.FieldValue(e.INCIDENTS, "state"))),
    ),
    raises=(unknown(e.INCIDENTS),),
    effects=(s.Insert(e.PRESS_NOTICES, {"incident_id": incident, "state": s.argument("state")}),),
    results=(s.success_result("Whether the notice was sent."),),
    compliance=True,
    critical=True,
)

REPORT_TO_SECRETARY = s.Tool(
    name="ReportToSecretary",
    summary=(
        "Reports an incident to the Secretary of Health and Human Services: at once, or by an entry in the log that is "
        "sent in after the end of the year."
    ),
    leak_words=("the secretary", "government", "authorit", "report it to", "yearly"),
    parameters=(
        INCIDENT,
        s.Parameter("channel", e.CHANNEL, "When the report is sent.", s.FromUser(s.OneOf(e.CHANNEL.options))),
    ),
    raises=(unknown(e.INCIDENTS), s.Raises(s.INVALID_REQUEST, "The 'channel' is not one of the channels.")),
    effects=(s.Insert(e.REPORTS, {"incident_id": incident, "channel": s.argument("channel")}),),
    results=(s.success_result("Whether the report was sent or entered."),),
    compliance=True,
    critical=True,
)
