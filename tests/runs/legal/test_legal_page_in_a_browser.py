"""The page of a legal run in a real browser: no requests, and no horizontal scrolling on a phone."""

from pathlib import Path

import pytest

from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_report import load_legal_content, make_legal_report
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.export import export_report
from tests.support.browser import needs_browser, open_page
from tests.support.legal.small_runs import run_grid

pytestmark = [pytest.mark.browser, needs_browser]


@pytest.fixture
def page_of_a_run(tmp_path: Path) -> str:
    recipe = LegalRecipe(retrievers=("bm25", "released_bm25"), depths=(1, 2))
    folder = RunFolder(tmp_path / "run")
    run_grid(recipe, folder.path)
    export_report(make_legal_report(load_legal_content(folder.path)), folder.report)
    return folder.report.as_uri()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_the_window_and_every_figure_has_a_size(page_of_a_run: str, width: int) -> None:
    with open_page(page_of_a_run, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = [figure.bounding_box() for figure in page.locator("figure svg").all()]
        assert len(boxes) == 2 + 3
        assert all(box is not None and box["width"] > 100 and box["height"] > 60 for box in boxes)
        assert page.locator("#breakdown table").count() == 2
