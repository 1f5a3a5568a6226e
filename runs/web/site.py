"""What every site has: pages in one frame, the style sheet, the script, and error pages."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from lawtrace.runs.report.run_kinds import outcome_labels
from lawtrace.runs.web.render import SCRIPT, make_environment, render, render_css
from lawtrace.schemas.errors import InputError, LawtraceError


class Site:
    """The pages of one server. ``templates``: more folders of templates, searched first."""

    folder = "pages"
    """The folder of its templates."""
    input_status = 404
    """The status of a page that cannot be shown because of what was asked for."""

    def __init__(self, *templates: Path) -> None:
        self.environment = make_environment(*templates)

    def routes(self) -> list[Route]:
        return [Route("/static/site.css", self._css), Route("/static/site.js", self._script)]

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401
        """Render a template of the folder, or one named with its folder."""
        path = template if "/" in template else f"{self.folder}/{template}"
        return html_response(render(self.environment, f"{path}.html.jinja", **values), status)

    def error_handlers(self) -> Mapping[Any, Callable[[Request, Any], Response]]:
        def lawtrace_error(request: Request, error: LawtraceError) -> Response:
            status = self.input_status if isinstance(error, InputError) else 500
            return self.page(request, "error", status=status, text=str(error))

        def http_error(request: Request, error: HTTPException) -> Response:
            text = f"{error.detail}: {request.url.path}"
            return self.page(request, "error", status=error.status_code, text=text)

        return {LawtraceError: lawtrace_error, HTTPException: http_error}

    def _css(self, request: Request) -> Response:
        return Response(render_css(self.environment, outcome_labels()), media_type="text/css")

    def _script(self, request: Request) -> Response:
        return FileResponse(SCRIPT, media_type="text/javascript")


def html_response(text: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)
