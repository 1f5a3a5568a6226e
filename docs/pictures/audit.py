"""Draws the picture of docs/audit.md: the page of an audit at a finding, in a browser.

python docs/pictures/audit.py
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.audit import conversations, traces

PICTURE = Path(__file__).with_name("audit.png")
LAWTRACE = [sys.executable, "-c", "from lawtrace.runs.cli import main; main()"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "log.jsonl").open("w", encoding="utf-8") as log:
            log.writelines(json.dumps(one) + "\n" for one in conversations(traces("payments"), 60, seed=1))
        command = [*LAWTRACE, "audit", "log.jsonl", "--env", "payments", "--format", "html"]
        subprocess.run(command, cwd=folder, check=False)  # noqa: S603 (exit code 1: there are findings)
        _shoot((Path(folder) / "audit.html").as_uri())


def _shoot(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme="light")
        page.goto(address)
        page.locator("#rule-revoke-when-all-agree tbody a").first.click()
        page.locator(":target").evaluate("event => event.scrollIntoView({block: 'start', behavior: 'instant'})")
        page.locator("main").focus()
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
