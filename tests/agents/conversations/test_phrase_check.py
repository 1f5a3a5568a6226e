"""Phrases that the offline reader misreads are reported; those that it cannot read are not."""

from dataclasses import replace
from pathlib import Path

import pytest

from lawtrace.agents.conversations.phrase_check import check_phrases
from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Phrases
from lawtrace.solver.rules import load_rules

AIRLINE = load_domain(str(Path(__file__).parents[3] / "docs" / "environments" / "airline"))
RULES = load_rules(AIRLINE.rules_file)


def rephrased(tool: str, phrases: Phrases) -> Environment:
    world = AIRLINE.environment
    return replace(world, tools={**world.tools, tool: replace(world.tools[tool], phrases=phrases)})


@pytest.mark.parametrize("name", ["banking", "airline"])
def test_shipped_phrases_are_understood(name: str) -> None:
    domain = AIRLINE if name == "airline" else load_domain(name)
    assert [*check_phrases(domain.environment, load_rules(domain.rules_file))] == []


def test_phrase_of_another_tool_is_reported() -> None:
    phrases = Phrases(
        step="Issue a meal voucher of {amount} for {booking_code}.",
        outcome="{booking_code} is {amount} of ticket richer.",
    )
    (flaw,) = check_phrases(rephrased("ReimburseTicket", phrases), RULES)
    assert flaw.place == "tool 'ReimburseTicket', phrase 'step'"
    assert flaw.what.startswith("without a model it is read as IssueMealVoucher: Issue a meal voucher of ")


def test_words_that_the_offline_reader_does_not_know_are_not_reported() -> None:
    find = Phrases(step="Find the booking in the name of {keywords}.", noun_phrase="the traveller {keywords}")
    assert [*check_phrases(rephrased("FindBooking", find), RULES)] == []
