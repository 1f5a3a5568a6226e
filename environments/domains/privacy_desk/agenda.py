"""What happens at the data-protection desk without a call."""

from lawtrace.environments import spec as s

from . import entities as e
from .shared_terms import use_becomes

AGENDA = (
    s.Happening(
        "A withdrawal of a person's consent comes in.",
        e.WITHDRAWALS,
        "arrives",
        (s.change(e.CONSENTS, consent="withdrawn"),),
    ),
    s.Happening(
        "A person whom a colleague has asked for it proves who they are.",
        e.PROOFS,
        "arrives",
        (s.change(e.MESSAGES, sender="confirmed"),),
    ),
    s.Happening(
        "The data of a case have been brought together.",
        e.COLLECTIONS,
        "complete",
        (s.change(e.HOLDINGS, effort="little"),),
    ),
    s.Happening(
        "Restricted data are taken into use again on a planned day.", e.LIFTINGS, "planned", (use_becomes("in use"),)
    ),
)
