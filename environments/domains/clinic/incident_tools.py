"""Tools for incidents: what happened to the clinic's data, and who is told."""

from lawtrace.environments import spec as s

from . import entities as e
from .request_tools import unknown

FORENSICS_DAYS = 21
"""Days that a forensic report takes."""

incident = s.argument("incident_id")
INCIDENT = s.key(e.INCIDENTS, "The incident.")
HELD = s.has(e.HOLDS, by="incident_id", police_statement="in writing")
CLOSED = s.Fails("The incident is closed.", s.has(e.INCIDENTS, status="closed"))

FIND_INCIDENT = s.Tool(
    name="FindIncident",
    summary="Finds an incident by its title.",
    phrases=s.Phrases(step="Find the incident titled {title}.", noun_phrase="the incident titled {title}"),
    parameters=(s.stated(e.INCIDENTS, "title", "The title."),),
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

LIST_INCIDENTS = s.queue(
    "ListIncidents",
    e.INCIDENTS,
    "title",
    where=lambda i: i.status == "open",
    summary="Lists the incidents of which the file is open, in the order in which they were reported to the office.",
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
    effects=(s.change(e.INCIDENTS, forensic_report="received"),),
    results=(s.success_result("Whether the report has arrived."),),
    duration=FORENSICS_DAYS * 24 * 60 * 60,
)

CLOSE_INCIDENT = s.Tool(
    name="CloseIncident",
    summary="Closes the file of an incident. A closed file is not taken up again.",
    phrases=s.Phrases(step="Close the file of {incident_id}.", outcome="The file of {incident_id} has been closed."),
    parameters=(INCIDENT,),
    raises=(unknown(e.INCIDENTS),),
    fails=(CLOSED,),
    effects=(s.change(e.INCIDENTS, status="closed"),),
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
        s.show_row(
            "incident",
            "What is known. All people affected live in the one state that is named.",
            e.INCIDENTS,
            "title",
            "discovered_on",
            "people_affected",
            "information",
            "state",
        ),
        s.show_row(
            "hold",
            "Whether a law enforcement official has stated in writing that notices would impede an investigation.",
            e.HOLDS,
            "police_statement",
            by="incident_id",
        ),
        s.ValueResult(
            "hold_until",
            (
                "The first day on which notices no longer impede an investigation, as a law enforcement official has "
                "stated in writing; the day of discovery if there is no such statement."
            ),
            s.DATE,
            s.choose(
                HELD, s.field_of(e.HOLDS, "until", 1, by="incident_id"), s.field_of(e.INCIDENTS, "discovered_on", 1)
            ),
        ),
        s.show_row(
            "assessment",
            "The risk assessment: how the data were kept, and how probable a compromise is. 'encrypted': by a method "
            "that the Secretary has specified, with keys that were not lost. 'not shown to be low' also stands where "
            "no risk has been assessed.",
            e.ASSESSMENTS,
            "data",
            "risk",
            by="incident_id",
        ),
        s.show_row(
            "mailing_list",
            "How all the people affected can be reached. 'e-mail as agreed': they have agreed to electronic notice, "
            "and their postal addresses are known, too.",
            e.MAILING_LISTS,
            "reachable_by",
            by="incident_id",
        ),
    ),
    compliance=True,
    critical=True,
)

RECORD_FINDING = s.Tool(
    name="RecordFinding",
    summary=(
        "Writes the outcome under the risk assessment of an incident: encrypted data, a low probability of compromise, "
        "or a breach."
    ),
    leak_words=("the finding", "a finding", "conclusion", "risk assessment"),
    parameters=(INCIDENT, s.option("finding", e.FINDING, "The outcome.")),
    raises=(unknown(e.INCIDENTS), s.Raises(s.INVALID_REQUEST, "The 'finding' is not one of the findings.")),
    effects=(s.register(e.FINDINGS, "incident_id", "finding"),),
    results=(s.success_result("Whether it was written."),),
    compliance=True,
    critical=True,
)

NOTIFY_AFFECTED = s.Tool(
    name="NotifyAffected",
    summary=(
        "Sends everyone affected by an incident a notice in plain language: what happened and when, when it was "
        "discovered, which kinds of information, what they can do, what the clinic does, and where to ask."
    ),
    leak_words=("notif", "notice", "tell the people", "affected"),
    parameters=(
        INCIDENT,
        s.option(
            "means",
            e.MEANS,
            "How the notice is given. A posting on the home page stands there for 90 days, and gives a toll-free "
            "number.",
        ),
        s.option("information", e.INFORMATION, "The kind of information that the notice names."),
    ),
    raises=(
        unknown(e.INCIDENTS),
        s.Raises(s.INVALID_REQUEST, "The 'means' or the 'information' is not one of those listed."),
    ),
    effects=(s.register(e.NOTICES, "incident_id", "means", "information"),),
    results=(s.success_result("Whether the notices were sent."),),
    compliance=True,
    critical=True,
)

NOTIFY_MEDIA = s.Tool(
    name="NotifyMedia",
    summary=(
        "Sends a notice about an incident, which says the same as that to the people affected, to prominent newspapers "
        "and broadcasters of a state."
    ),
    leak_words=("media", "newspaper", "broadcast", "public notice"),
    parameters=(INCIDENT, s.stated(e.INCIDENTS, "state", "The name of the state.")),
    raises=(unknown(e.INCIDENTS),),
    effects=(s.register(e.PRESS_NOTICES, "incident_id", "state"),),
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
    parameters=(INCIDENT, s.option("channel", e.CHANNEL, "When the report is sent.")),
    raises=(unknown(e.INCIDENTS), s.Raises(s.INVALID_REQUEST, "The 'channel' is not one of the channels.")),
    effects=(s.register(e.REPORTS, "incident_id", "channel"),),
    results=(s.success_result("Whether the report was sent or entered."),),
    compliance=True,
    critical=True,
)

SCHEDULE_NOTICES = s.Tool(
    name="ScheduleNotices",
    summary=(
        "Plans the notices of an incident for a day, on which they go out at 08:00 without anything further: the "
        "notice to everyone affected, the report to the Secretary, and, if so chosen, the notice to prominent "
        "newspapers and broadcasters of the state in which the people live."
    ),
    leak_words=("plan the notices", "schedule", "on the day"),
    parameters=(
        INCIDENT,
        s.option("means", e.MEANS, "How the notice is given to the people, as of NotifyAffected."),
        s.option("information", e.INFORMATION, "The kind of information that the notice names."),
        s.option("media", e.MEDIA, "Whether the media are told."),
        s.option("channel", e.CHANNEL, "When the report to the Secretary is sent, as of ReportToSecretary."),
        s.Parameter("day", s.DATE, "The day, after today.", s.FromUser(s.DayAfter(e.SESSION, "today", 1, 60))),
    ),
    raises=(
        unknown(e.INCIDENTS),
        s.Raises(s.INVALID_REQUEST, "An argument is not one of its options, or not a date."),
        s.Raises(s.INVALID_REQUEST, "The 'day' is not after today.", s.argument("day") <= s.TODAY),
    ),
    effects=(
        s.register(
            e.NOTICES_DUE,
            "incident_id",
            "means",
            "information",
            "channel",
            "media",
            planned=s.argument("day") * s.MINUTES_PER_DAY + 8 * 60,
        ),
    ),
    results=(s.success_result("Whether the notices were planned."),),
    compliance=True,
    critical=True,
)
