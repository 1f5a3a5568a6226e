"""The world of the data-protection desk: its states, its restatement and its rules."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.documents.law_parser import read_legal_text
from lawtrace.environments.domains import privacy_desk
from lawtrace.environments.domains.privacy_desk import ENVIRONMENT
from lawtrace.environments.domains.privacy_desk.entities import MATTER
from lawtrace.environments.regulations.regulation import load_regulation
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.types import DATE
from lawtrace.solver.rules import load_rules
from tests.support.published import DATA, published_text

FOLDER = Path(privacy_desk.__path__[0])


@settings(max_examples=50)
@given(st.integers(0, 2**32))
def test_each_case_is_found_alone(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    session = Session(ENVIRONMENT, state)
    cases = [row.values for row in state.rows("cases")]
    assert sorted(case["matter"] for case in cases) == sorted((*MATTER.options, "passing on"))
    for case in cases:
        asked = {"name": case["person_name"], "data": case["data"], "matter": case["matter"]}
        found = session.call("FindCase", asked).event.result
        assert isinstance(found, dict)
        shown = {"case_id": case["case_id"], "person_name": asked.pop("name"), **asked}
        assert found["cases"] == [shown | {"received": DATE.encode(case["received"])}]
    assert {incident.values["system"] for incident in state.rows("incidents")} != set()


LAW = "regulations/gdpr_2016-679_consolidated_2016-05-04_en.fmx4.xml"


@pytest.mark.shared
def test_the_restatement_cites_what_there_is() -> None:
    published_text(LAW)
    law = read_legal_text(DATA / LAW)
    cited = {provision.citation for provision in law.provisions()}
    for provision in load_regulation(FOLDER / "regulation.toml").provisions:
        assert any(f"{there}(".startswith(f"{provision.citation}(") for there in cited), provision.citation


def test_there_are_rules_of_many_kinds() -> None:
    kinds = Counter(rule.kind for rule in load_rules(FOLDER / "rules.toml"))
    assert None not in kinds
    assert len(kinds) >= 8
    assert min(kinds.values()) >= 2
