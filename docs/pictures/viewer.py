"""Draws the viewer picture of docs/why-did-it-fail.md: a run, in a browser.

python docs/pictures/viewer.py
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("viewer.png")
LAWTRACE = [sys.executable, "-c", "from lawtrace.runs.cli import main; main()"]
RECIPE = """
name = "quickstart"

[tasks]
count = 4
spare = 4

[rules]
extract = false

[attempts]
mode = "tools"
models = ["baseline:literal", "baseline:reference"]
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "recipe.toml").write_text(RECIPE, encoding="utf-8")
        subprocess.run([*LAWTRACE, "run", "recipe.toml", "--out", "logs/quickstart"], cwd=folder, check=True)  # noqa: S603
        command = [*LAWTRACE, "view", "logs", "--port", "0", "--json"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
            assert server.stdout
            try:
                _shoot(json.loads(server.stdout.readline())["address"])
            finally:
                server.terminate()


def _shoot(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme="light")
        page.goto(f"{address}runs/quickstart/attempts?outcome=unsafe_success&style=goal")
        page.get_by_role("link", name="unsafe success").first.click()
        page.get_by_role("link", name="Message that broke it").first.click()
        # A browser goes to the message a moment after the page is there, and says nothing when it has.
        page.locator(":target").evaluate("message => message.scrollIntoView({block: 'center', behavior: 'instant'})")
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
