"""A review by keyboard alone, in a real browser, from the command line to the accepted rules."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules
from tests.support.browser import needs_browser, open_page, serve_command

pytestmark = [pytest.mark.browser, needs_browser]

RULES = load_rules(load_domain("banking").rules_file)[:3]
COMMAND = [sys.executable, "-c", "from lawtrace.runs.cli import main; main()", "rules", "review"]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    write_rows(tmp_path / "rules.jsonl", RULES)
    with serve_command("rules", "review", tmp_path / "rules.jsonl") as served:
        yield served


def test_accept_reject_and_edit_by_keyboard(address: str, tmp_path: Path) -> None:
    with open_page(address) as page:
        page.keyboard.type("Ada")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/items/{RULES[0].id}")
        expect(page.locator("#breaking li")).to_contain_text(["TransferFunds"], use_inner_text=True)
        page.keyboard.press("c")
        page.keyboard.type("as it should be")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        page.wait_for_url(f"**/items/{RULES[1].id}")
        page.keyboard.press("a")
        page.wait_for_url(f"**/items/{RULES[2].id}")
        page.go_back()
        page.wait_for_url(f"**/items/{RULES[1].id}")
        page.reload()
        expect(page.locator("#given")).to_contain_text("Your decision: accept")
        page.keyboard.press("r")
        page.wait_for_url(f"**/items/{RULES[2].id}")
        page.keyboard.press("e")
        expect(page.locator("#text")).to_be_focused()
        page.keyboard.press("Control+a")
        page.keyboard.type("G(!Nothing)")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text("unknown tool")
        page.wait_for_load_state("load")
        expect(page.locator("#text")).to_be_focused()
        page.keyboard.press("Control+a")
        page.keyboard.type("G(GetAccountStatement -> O CheckAuthorization)")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/items")
        expect(page.locator("#done")).to_be_visible()
        expect(page.locator("main")).to_contain_text("2 accepted, 1 rejected, 0 open")
    rows = [json.loads(line) for line in (tmp_path / "rules.opinions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["reviewer"], row["decision"]) for row in rows] == [
        ("Ada", "accept"),
        ("Ada", "accept"),
        ("Ada", "reject"),
        ("Ada", "edit"),
    ]
    assert rows[0]["comment"] == "as it should be"
    done = subprocess.run(
        [*COMMAND, str(tmp_path / "rules.jsonl"), "--status", "--json"], capture_output=True, text=True, check=True
    )
    status = json.loads(done.stdout.splitlines()[-1])
    assert (status["accepted"], status["written"], status["acceptance_rate"]) == (2, 2, pytest.approx(2 / 3))
    assert [rule.id for rule in load_rules(tmp_path / "rules.accepted.jsonl")] == [RULES[0].id, RULES[2].id]
