"""Terms and parameters that several tools of the desk share."""

from lawtrace.environments import spec as s

from . import entities as e

case, partner, contact = s.argument("case_id"), s.argument("partner_id"), s.argument("contact_id")
SUCCESS = s.success_result("Whether it was done.")
MALFORMED = s.Raises(s.INVALID_REQUEST, "An argument is not in its format.")


def unknown(entity: s.Entity) -> s.Raises:
    return s.Raises(
        s.NOT_FOUND, f"There is no {entity.singular} with this '{entity.key}'.", s.is_unknown(entity, entity.key)
    )


CASE = s.key(e.CASES, "The case.")
PARTNER = s.key(e.PARTNERS, "The partner.")
CONTACT = s.key(e.CONTACTS, "The address to send it to.")


def of_case(field: str, otherwise: s.Value, entity: s.Entity = e.CASES) -> s.Term:
    return s.field_of(entity, field, otherwise)


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
    return s.change(e.CASES, status=status)


def use_becomes(status: str) -> s.Update:
    return s.change(e.USES, status=status)


IS_CLOSED_DOWN = s.Fails("The partner is closed down.", s.field_of(e.PARTNERS, "reach", "closed down") == "closed down")
