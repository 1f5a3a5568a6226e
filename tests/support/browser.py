"""A real browser for tests: the system's chromium, driven by Playwright. Tests are skipped without it."""

import json
import shutil
import subprocess
import sys
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


@contextmanager
def serve_command(*words: object) -> Generator[str]:
    """The address of the pages that a command serves, in a process of its own."""
    command = [sys.executable, "-c", "from lawtrace.runs.cli import main; main()", *map(str, words)]
    command += ["--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout
        try:
            yield json.loads(server.stdout.readline())["address"]
        finally:
            server.terminate()
