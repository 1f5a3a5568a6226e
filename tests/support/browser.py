"""A real browser for tests: the system's chromium, driven by Playwright. Tests are skipped without it."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, sync_playwright

_EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = pytest.mark.skipif(_EXECUTABLE is None, reason="there is no chromium on this machine")
"""Skips a test if no browser is installed; used with the mark ``browser``."""


@contextmanager
def open_page(url: str, *, width: int = 1280, height: int = 900) -> Generator[Page]:
    """The page in a fresh browser. Logged errors and failed requests fail the test."""
    troubles: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_EXECUTABLE, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(url)
        yield page
        browser.close()
    assert troubles == []
