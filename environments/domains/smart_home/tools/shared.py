"""Terms and parameters shared by the smart-home tools."""

from lawtrace.environments.domains.smart_home.entities import ACCESSES, GUEST_ID, GUESTS, SESSION
from lawtrace.environments.spec import (
    INVALID_REQUEST,
    MOMENT,
    FromLookup,
    FromUser,
    HoursFromNow,
    ListOf,
    Parameter,
    Term,
    any_item,
    argument,
    exists,
    is_empty,
    value_of,
)

NOT_FOUND = "NotFoundException"
CONFLICT = "ConflictException"

now = value_of(SESSION, lambda s: s.session_id == "current", "now", otherwise=0)
named = argument("guest_ids")

# The document does not define the result for an empty list of guests: the call does not succeed.
NO_GUEST_NAMED = is_empty(named)
UNKNOWN_GUEST = any_item(named, lambda guest: ~exists(GUESTS, lambda g: g.guest_id == guest))

START, END = HoursFromNow(SESSION, "now", 1, 40), HoursFromNow(SESSION, "now", 48, 200)


def is_named(guest_id: Term) -> Term:
    """The call names the guest."""
    return any_item(named, lambda guest: guest_id == guest)


def has_access(guest_id: Term) -> Term:
    """The guest has an access that has not expired."""
    return exists(ACCESSES, lambda a: (a.guest_id == guest_id) & (a.end_time > now))


def guest_ids(description: str) -> Parameter:
    return Parameter("guest_ids", ListOf(GUEST_ID), description, FromLookup(GUESTS), malformed=NOT_FOUND)


def moment(name: str, description: str, domain: HoursFromNow, *, when: Term | None = None) -> Parameter:
    """A minute stated by the user; optional if it is only stated ``when`` a condition holds."""
    source = FromUser(domain, when=when)
    return Parameter(name, MOMENT, description, source, required=when is None, malformed=INVALID_REQUEST)
