"""Mentions in a line: the call they come from and its arguments."""

from typing import Any, cast

import pytest

from lawtrace.agents.scripted.mentions import Mention, mentions_in, sources_of
from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.runtime.documentation import document


def tools_of(world: str) -> dict[str, Any]:
    tools = cast("dict[str, Any]", document(load_domain(world).environment))["tools"]
    return {tool["name"]: tool for tool in tools}


def shown(mention: Mention) -> str:
    inside = (
        f"{name}={shown(value) if isinstance(value, Mention) else value}" for name, value in mention.arguments.items()
    )
    return f"{mention.source.tool}({', '.join(inside)})"


@pytest.mark.parametrize(
    ("world", "line", "mentioned"),
    [
        ("banking", "Pay from the savings account.", ["GetAccountInformation(account_type=savings)"]),
        (
            "banking",
            'To the payee found by searching for "Harbour" "Taxes".',
            ["SearchPayee(keywords=['Harbour', 'Taxes'])"],
        ),
        (
            "banking",
            "From the savings account to the checking account.",
            ["GetAccountInformation(account_type=savings)", "GetAccountInformation(account_type=checking)"],
        ),
        ("telehealth", 'The doctor found with the keywords "Quist".', ["SearchDoctors(keywords=Quist)"]),
        (
            "telehealth",
            'Book the doctor found at the location "Larchfield" free on the date 2026-03-03 on 2026-03-04 at 10:00.',
            ["SearchDoctors(location=Larchfield, date=2026-03-03)"],
        ),
        (
            "telehealth",
            'Send it in the consultation with the doctor found with the keywords "Quist", reason "a cough".',
            ["ConsultDoctor(doctor_id=SearchDoctors(keywords=Quist), reason=a cough)"],
        ),
        (
            "telehealth",
            'See the appointment with the doctor found with the keywords "Quist" on 2026-03-03 at 09:00 to 2026-03-04.',
            ["ScheduleAppointment(doctor_id=SearchDoctors(keywords=Quist), date=2026-03-03, time=09:00)"],
        ),
        ("telehealth", "View the prescriptions of the doctor.", []),
        (
            "smart_home",
            'Delete the guest found by searching for "Oake" and the new guest "Tobin Ashdown".',
            ["SearchGuests(name_keyword=Oake)", "AddGuest(guest_name=Tobin Ashdown)"],
        ),
        (
            "smart_home",
            "Revoke the temporary access code for 2026-07-20 12:00 to 2026-07-27 03:00.",
            ["GenerateTemporaryAccessCode(start_time=2026-07-20 12:00, end_time=2026-07-27 03:00)"],
        ),
    ],
)
def test_mentions_of_a_line(world: str, line: str, mentioned: list[str]) -> None:
    tools = tools_of(world)
    assert [shown(mention) for mention in mentions_in(line, tools, sources_of(tools))] == mentioned
