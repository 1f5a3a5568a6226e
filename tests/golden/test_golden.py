"""The outputs of the product are, byte for byte, the recorded ones. See the README of this folder."""

import os
from pathlib import Path

import pytest

from tests.golden.cases import CASES, Case
from tests.golden.record import DATA, differences, make_record, read_record

PARAMETERS = [pytest.param(case, id=name, marks=[pytest.mark.slow] * case.slow) for name, case in CASES.items()]


@pytest.mark.parametrize("case", PARAMETERS)
def test_outputs_are_the_recorded_ones(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("LAWTRACE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    found = list(differences(read_record(case.name), make_record(case, tmp_path / "golden")))
    assert not found, f"`python -m tests.golden.remake {case.name}` records them again:\n" + "\n".join(found)


def test_every_record_has_its_case() -> None:
    assert {path.stem for path in DATA.glob("*.json")} == {*CASES}
