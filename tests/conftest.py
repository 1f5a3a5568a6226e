"""Garbage collection for the whole suite: the imported packages are never garbage, so they are never scanned.

Thousands of classes and test items live as long as the process. Scanning them again and again took an eighth of the
suite's time.
"""

import gc

import pytest

gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)
