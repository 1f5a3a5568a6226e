"""The permit office of an invented town.

A queue lists the open applications. Each has a deadline, and its check may take days.
"""

import datetime as dt
from random import Random

from lawtrace.environments import spec as s

APPLICATION_ID = s.Pattern("A-NNNN", r"A-\d{4}")
KIND = s.Choice(("market stall", "street festival", "building work"))
RISK = s.Choice(("small", "medium", "large"))
PAPERS = s.Choice(("complete", "missing"))
FINDING = s.Choice(("safe", "unsafe"))
GROUND = s.Choice(("papers missing", "not safe"))
DAY = 24 * 3600

APPLICATIONS = s.table(
    "applications",
    "application",
    application_id=APPLICATION_ID,
    applicant=s.TEXT,
    kind=KIND,
    received=s.DATE,
    papers=PAPERS,
    risk=RISK,
    finding=FINDING,
    status=s.Choice(("open", "granted", "refused")),
)
DECISIONS = s.table(
    "decisions", "decision", prefix="D-", decision_id=s.TEXT, application_id=APPLICATION_ID, ground=s.TEXT
)
OFFICE = s.table("office", "office", office_id=s.TEXT, today=s.DATE)
ENTITIES = s.tables_of(globals())

APPLICATION = s.key(APPLICATIONS, "The application.")
UNKNOWN = (s.Raises(s.INVALID_REQUEST, "The 'application_id' is not in its format."), s.unknown(APPLICATIONS))
CLOSED = s.Fails("The application is not open.", ~s.has(APPLICATIONS, status="open"))
DONE = s.success_result("Whether it was done.")


def _show(field: str, description: str) -> s.ValueResult:
    return s.show(APPLICATIONS, field, description, "")


def _check(name: str, summary: str, days: int) -> s.Tool:
    return s.Tool(
        name=name,
        summary=f"{summary}. Takes {days} {'day' if days == 1 else 'days'}.",
        parameters=(APPLICATION,),
        raises=UNKNOWN,
        results=(_show("finding", "Whether what is planned is 'safe' or 'unsafe'."),),
        duration=days * DAY,
        compliance=True,
        critical=True,
    )


LIST_APPLICATIONS = s.Tool(
    name="ListApplications",
    summary="Lists the open applications.",
    phrases=s.Phrases("List the open applications.", noun_phrase="the open applications"),
    results=(
        s.RowsResult(
            "applications",
            "The open applications.",
            APPLICATIONS,
            lambda a: a.status == "open",
            ("application_id", "applicant", "kind", "received"),
        ),
    ),
)
READ_APPLICATION = s.Tool(
    name="ReadApplication",
    summary="Shows an application.",
    parameters=(APPLICATION,),
    raises=UNKNOWN,
    results=(
        s.ValueResult("kind", "What is planned.", KIND, s.field_of(APPLICATIONS, "kind", "market stall")),
        s.ValueResult("received", "When it was received.", s.DATE, s.field_of(APPLICATIONS, "received", 0)),
        _show("papers", "Whether the papers are 'complete' or 'missing'."),
        _show("risk", "How risky it is: 'small', 'medium' or 'large'."),
    ),
    compliance=True,
)
CHECK_PLANS = _check("CheckPlans", "Has the plans of an application checked at the desk", 1)
VISIT_SITE = _check("VisitSite", "Visits the site of an application", 2)
ASK_EXPERT = _check("AskExpert", "Asks the town's expert about an application", 4)
GRANT = s.Tool(
    name="GrantPermit",
    summary="Grants the permit that is applied for.",
    phrases=s.Phrases("Grant {application_id}.", "{application_id} has been granted."),
    parameters=(APPLICATION,),
    raises=UNKNOWN,
    fails=(CLOSED,),
    effects=(s.change(APPLICATIONS, status="granted"),),
    results=(DONE,),
    critical=True,
)
REFUSE = s.Tool(
    name="RefusePermit",
    summary="Refuses the permit that is applied for, and tells the applicant why.",
    phrases=s.Phrases(
        "Refuse {application_id} on the ground '{ground}'.", "{application_id} has been refused: '{ground}'."
    ),
    parameters=(APPLICATION, s.option("ground", GROUND, "Why.")),
    raises=UNKNOWN,
    fails=(CLOSED,),
    effects=(s.change(APPLICATIONS, status="refused"), s.register(DECISIONS, "application_id", "ground")),
    results=(DONE,),
    critical=True,
)
TOOLS = s.tools_of(globals())

APPLICANTS = tuple(
    f"{first} {last}"
    for first in ("Ada", "Boris", "Carla", "Dunja", "Emil", "Fanny")
    for last in ("Holm", "Karim", "Rivas", "Vos")
)
AGES = {"market stall": (0, 6), "street festival": (0, 18), "building work": (0, 40)}
"""How many days ago applications were received."""
FIRST_DAY = dt.date(2026, 2, 2).toordinal()


def populate(random: Random) -> s.State:
    """An office with 20 open applications, as they came in."""
    today, rows = FIRST_DAY + random.randrange(200), list[s.Row]()
    for number, applicant in zip(random.sample(range(1000, 10_000), 20), APPLICANTS, strict=False):
        kind = random.choice(KIND.options)
        rows.append(
            s.Row(
                {
                    "application_id": f"A-{number}",
                    "applicant": applicant,
                    "kind": kind,
                    "received": today - random.randint(*AGES[kind]),
                    "papers": random.choice(("complete",) * 5 + ("missing",)),
                    "risk": random.choice(RISK.options),
                    "finding": random.choice(("safe", "safe", "unsafe")),
                    "status": "open",
                }
            )
        )
    rows.sort(key=lambda row: row.values["received"])
    office = s.Row({"office_id": "current", "today": today})
    return s.State({**dict.fromkeys(ENTITIES, ()), "applications": tuple(rows), "office": (office,)})


ENVIRONMENT = s.Environment(
    name="permit_office",
    title="Permits",
    object_name="PermitOffice",
    summary="The office of a town that grants and refuses permits.",
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    clock=s.Clock(s.starts_at(OFFICE, "today"), length=120 * DAY),
    facts=(
        s.Fact("papers of the application", APPLICATIONS, "papers", PAPERS.options),
        s.Fact("risk of what is planned", APPLICATIONS, "risk", RISK.options),
        s.Fact("finding of the check", APPLICATIONS, "finding", FINDING.options),
    ),
    declines="RefusePermit",
)
