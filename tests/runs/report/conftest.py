import pytest

from lawtrace.runs.report.content import ReportContent
from tests.support.report_content import make_content, make_empty_content


@pytest.fixture(scope="session")
def content() -> ReportContent:
    return make_content()


@pytest.fixture(scope="session")
def empty() -> ReportContent:
    return make_empty_content()
