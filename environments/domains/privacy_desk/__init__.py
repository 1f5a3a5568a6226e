"""The data-protection desk of a chain of fitness clubs under the GDPR: requests of people about their data, wishes of
colleagues to use or pass on data, and incidents.

``entities.py`` holds the tables, ``case_tools.py`` and ``incident_tools.py`` what the desk is asked to do,
``file_tools.py`` and ``letter_tools.py`` what it looks up, prepares and writes, ``shared_terms.py`` what they share,
``agenda.py`` what happens without a call, and ``initial_state.py`` the initial states. ``regulation.toml`` restates
the provisions, ``manual.toml`` says what the company demands beyond them, and ``rules.toml`` holds the curated rule
set.
"""

from lawtrace.environments import spec as s

from . import case_tools, file_tools, incident_tools, letter_tools
from .agenda import AGENDA
from .entities import CONSENTS, DESK, ENTITIES, HOLDINGS, INCIDENTS, MESSAGES, PARTNERS, RECORDS, USES
from .initial_state import populate, populate_docket

TOOLS = (
    *s.tools_of(vars(case_tools)),
    *s.tools_of(vars(file_tools)),
    *s.tools_of(vars(letter_tools)),
    *s.tools_of(vars(incident_tools)),
)

FACTS = (
    s.Fact("doubt about who wrote", MESSAGES, "sender", ("on file", "not on file")),
    s.Fact("proof of who wrote", MESSAGES, "proof", ("sufficient", "insufficient")),
    s.Fact(
        "what proof can be compared with", MESSAGES, "comparable", ("date of birth", "membership number", "home club")
    ),
    s.Fact("character of the request", MESSAGES, "character", ("ordinary", "further copy", "repetitive")),
    s.Fact("obligation to keep data", RECORDS, "kept_for", ("nothing else", "legal obligation")),
    s.Fact("effort of an answer", HOLDINGS, "effort", ("little", "complex", "many requests")),
    s.Fact("other people in the data", RECORDS, "others", ("in confidence", "in passing")),
    s.Fact("accuracy", RECORDS, "accuracy", ("correct", "incorrect")),
    s.Fact("restriction", USES, "status", ("in use", "restricted")),
    s.Fact("consent", CONSENTS, "consent", ("given", "expressly given", "withdrawn")),
    s.Fact("who gave the consent", CONSENTS, "consent_by", ("the person", "a parent")),
    s.Fact("use by the partner", RECORDS, "use", ("same purpose", "compatible purpose", "incompatible purpose")),
    s.Fact("necessity of passing on", RECORDS, "necessity", ("necessary", "not necessary")),
    s.Fact("consent to a transfer", RECORDS, "abroad", ("not asked", "agreed after warning")),
    s.Fact("objection to direct marketing", RECORDS, "objection", ("none", "to direct marketing")),
    s.Fact("weight of the company's grounds", RECORDS, "grounds", ("compelling", "not compelling")),
    s.Fact("safeguards at the partner", PARTNERS, "standing", ("standard clauses", "nothing")),
    s.Fact("contract with the processor", PARTNERS, "contract", ("signed", "not signed")),
    s.Fact("role of the recipient", PARTNERS, "role", ("controller", "processor")),
    s.Fact("existence of the recipient", PARTNERS, "reach", ("active", "closed down")),
    s.Fact("risk of the breach", INCIDENTS, "risk", ("unlikely", "likely", "high")),
    s.Fact("people in other states", INCIDENTS, "spread", ("one member state", "several member states")),
    s.Fact("effort to tell each person", INCIDENTS, "reach", ("each person", "public notice")),
)

ENVIRONMENT = s.Environment(
    name="privacy_desk",
    version="3",
    title="Data protection",
    object_name="PrivacyDesk",
    summary=(
        "The data-protection desk of a company that runs fitness clubs in several member states of the Union, from its "
        "main establishment in Denmark: meet or decline what people and colleagues ask for about personal data, and "
        "handle incidents."
    ),
    entities=ENTITIES,
    tools={tool.name: tool for tool in TOOLS},
    populate=populate,
    populate_docket=populate_docket,
    clock=s.Clock(s.starts_at(DESK, "now"), length=120 * 24 * 3600),
    agenda=AGENDA,
    facts=FACTS,
    declines="Decline",
)
