"""What happens at the clinic's records office without a call."""

from lawtrace.environments import spec as s

from . import entities as e

_opinion = s.value_of(e.REQUESTS, lambda q: q.request_id == s.argument("request_id"), "clinician_answer", "objects")

AGENDA = (
    s.Happening(
        "A patient's written revocation of an authorization comes in.",
        e.REVOCATIONS,
        "arrives",
        (s.change(e.AUTHORIZATIONS, status="revoked"),),
    ),
    s.Happening(
        "A law enforcement official states in writing until when notices of an incident would impede an investigation.",
        e.STATEMENTS,
        "arrives",
        (s.change(e.HOLDS, by="incident_id", police_statement="in writing", until=s.argument("until")),),
    ),
    s.Happening(
        "The opinion of a clinician who was asked comes in.",
        e.OPINIONS_DUE,
        "arrives",
        (s.register(e.OPINIONS, "request_id", opinion=_opinion),),
    ),
    s.Happening(
        "The planned notices of an incident go out.",
        e.NOTICES_DUE,
        "planned",
        (s.register(e.NOTICES, "incident_id", "means", "information"), s.register(e.REPORTS, "incident_id", "channel")),
    ),
)
