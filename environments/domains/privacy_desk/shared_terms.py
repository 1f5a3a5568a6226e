"""Terms and parameters that several tools of the desk share."""

from lawtrace.environments import spec as s

from . import entities as e

NOT_FOUND = "NotFoundException"

case, partner, contact = s.argument("case_id"), s.argument("partner_id"), s.argument("contact_id")
SUCCESS = s.success_result("Whether it was done.")
MALFORMED = s.Raises(s.INVALID_REQUEST, "An argument is not in its format.")


def unknown(entity: s.Entity) -> s.Raises:
    return s.Raises(
        NOT_FOUND, f"There is no {entity.singular} with this '{entity.key}'.", s.is_unknown(entity, entity.key)
    )


CASE = s.Parameter("case_id", e.CASE_ID, "The case.", s.FromLookup(e.CASES))
PARTNER = s.Parameter("partner_id", e.PARTNER_ID, "The partner.", s.FromLookup(e.PARTNERS))
CONTACT = s.Parameter("contact_id", e.CONTACT_ID, "The address to send it to.", s.FromLookup(e.CONTACTS))


def of_case(field: str, otherwise: s.Value) -> s.Term:
    return s.value_of(e.CASES, lambda c: c.case_id == case, field, otherwise)


def of_record(field: str, otherwise: s.Value) -> s.Term:
    """A field of the record that the case is about."""
    return s.value_of(e.RECORDS, lambda r: r.case_id == case, field, otherwise)


def shown(entity: s.Entity, field: str, key: str, description: str, otherwise: s.Value) -> s.ValueResult:
    """A result that shows a field of the row whose ``key`` field is the argument of that name."""
    term = s.value_of(entity, lambda row: getattr(row, key) == s.argument(key), field, otherwise)
    return s.ValueResult(field, description, entity.fields[field].type, term)


def is_open(*matters: str) -> s.Term:
    """The case is open and about one of these matters."""

    def is_named(matter: s.Term) -> s.Term:
        named = s.constant(value=False)
        for option in matters:
            named = named | (matter == option)
        return named

    return s.exists(e.CASES, lambda c: (c.case_id == case) & (c.status == "open") & is_named(c.matter))


def not_about(*matters: str) -> s.Fails:
    """The tool serves open cases of these matters only."""
    named = " or ".join(f"'{matter}'" for matter in matters)
    return s.Fails(f"The case is not open, or its matter is not {named}.", ~is_open(*matters))


def case_becomes(status: str) -> s.Update:
    return s.Update(e.CASES, lambda c: c.case_id == case, {"status": lambda c: s.constant(status)})


def record_becomes(status: str) -> s.Update:
    return s.Update(e.RECORDS, lambda r: r.case_id == case, {"status": lambda r: s.constant(status)})


IS_CLOSED_DOWN = s.Fails(
    "The partner is closed down.",
    s.value_of(e.PARTNERS, lambda p: p.partner_id == partner, "reach", "closed down") == "closed down",
)
