"""Settings for the whole suite.

Hypothesis draws 40 examples unless a test asks for another number: other ones at every run, so rare cases are found
over time. Deadlines are off, because machines are busy.

The garbage collector does not scan what collection imported.
Thousands of classes and test items live as long as the process. Scanning them again and again took an eighth of the
suite's time.

Clients speak to loopback without TLS. They find no certificates, because to read those of the machine takes each new
client 60 ms.

A console keeps the size that it reads when it is made. Those of the command line are made here without one, so that it
follows COLUMNS, which workers of xdist set to 80.
"""

import gc
import importlib
import os
from pathlib import Path

import pytest
from hypothesis import settings

for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

importlib.import_module("lawtrace.runs.cli.output")

settings.register_profile("suite", max_examples=40, deadline=None)
settings.load_profile("suite")
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)
