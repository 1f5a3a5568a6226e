"""Draws the outcome figure of README.md: the default run's report, in a browser.

python docs/pictures/outcomes.py
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("outcomes.png")
LAWTRACE = [sys.executable, "-c", "from lawtrace.runs.cli import main; main()"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*LAWTRACE, "run", "--out", "quickstart"], cwd=folder, check=True)  # noqa: S603
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1230, "height": 900}, color_scheme="light")
            page.goto((Path(folder) / "quickstart" / "report.html").as_uri())
            page.locator("#outcomes").screenshot(path=PICTURE)
            browser.close()


if __name__ == "__main__":
    main()
