"""Terms and parameters that several tools of the desk share."""

from lawtrace.environments.spec import (
    INVALID_REQUEST,
    Entity,
    Fails,
    FromLookup,
    Parameter,
    Raises,
    Term,
    Update,
    Value,
    ValueResult,
    argument,
    constant,
    exists,
    is_unknown,
    success_result,
    value_of,
)

from .entities import (
    CASE_ID,
    CASES,
    CONTACT_ID,
    CONTACTS,
    PARTNER_ID,
    PARTNERS,
    RECORDS,
)

NOT_FOUND = "NotFoundException"

case, partner, contact = argument("case_id"), argument("partner_id"), argument("contact_id")
SUCCESS = success_result("Whether it was done.")
MALFORMED = Raises(INVALID_REQUEST, "An argument is not in its format.")


def unknown(entity: Entity) -> Raises:
    return Raises(NOT_FOUND, f"There is no {entity.singular} with this '{entity.key}'.", is_unknown(entity, entity.key))


CASE = Parameter("case_id", CASE_ID, "The case.", FromLookup(CASES))
PARTNER = Parameter("partner_id", PARTNER_ID, "The partner.", FromLookup(PARTNERS))
CONTACT = Parameter("contact_id", CONTACT_ID, "The address to send it to.", FromLookup(CONTACTS))


def of_case(field: str, otherwise: Value) -> Term:
    return value_of(CASES, lambda c: c.case_id == case, field, otherwise)


def of_record(field: str, otherwise: Value) -> Term:
    """A field of the record that the case is about."""
    return value_of(RECORDS, lambda r: r.case_id == case, field, otherwise)


def shown(entity: Entity, field: str, key: str, description: str, otherwise: Value) -> ValueResult:
    """A result that shows a field of the row whose ``key`` field is the argument of that name."""
    term = value_of(entity, lambda row: getattr(row, key) == argument(key), field, otherwise)
    return ValueResult(field, description, entity.fields[field].type, term)


def is_open(*matters: str) -> Term:
    """The case is open and about one of these matters."""

    def is_named(matter: Term) -> Term:
        named = constant(value=False)
        for option in matters:
            named = named | (matter == option)
        return named

    return exists(CASES, lambda c: (c.case_id == case) & (c.status == "open") & is_named(c.matter))


def not_about(*matters: str) -> Fails:
    """The tool serves open cases of these matters only."""
    named = " or ".join(f"'{matter}'" for matter in matters)
    return Fails(f"The case is not open, or its matter is not {named}.", ~is_open(*matters))


def case_becomes(status: str) -> Update:
    return Update(CASES, lambda c: c.case_id == case, {"status": lambda c: constant(status)})


def record_becomes(status: str) -> Update:
    return Update(RECORDS, lambda r: r.case_id == case, {"status": lambda r: constant(status)})


IS_CLOSED_DOWN = Fails(
    "The partner is closed down.",
    value_of(PARTNERS, lambda p: p.partner_id == partner, "reach", "closed down") == "closed down",
)
