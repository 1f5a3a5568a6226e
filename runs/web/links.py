"""Targets of links: other pages of the viewer, or anchors of the same report file.

A method returns None where there is no such page; templates then show the text without a link.
"""

import shlex
from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode

from lawtrace.runs.report.tables import Target
from lawtrace.runs.report.text import slug


class ReportLinks:
    """Links of a report file."""

    def __init__(
        self,
        rule_anchors: Mapping[tuple[str, str], str] | None = None,
        identity: Mapping[str, str] | None = None,
        tables: str = "tables",
    ) -> None:
        self._rule_anchors = rule_anchors or {}
        self._identity = identity or {}
        self._tables = tables

    def target(self, target: Target) -> str | None:
        """What a cell of a table names."""
        method: Callable[..., str | None] = getattr(self, target.page)
        return method(**target.arguments)

    def anchor(self, name: str) -> str:
        """An element of the same page."""
        return f"#{name}"

    def rule(self, scenario: str, rule: str) -> str | None:
        """The row of the rule table."""
        anchor = self._rule_anchors.get((scenario, rule))
        return f"#{anchor}" if anchor else None

    def attempts(self, **filters: str | None) -> str | None:
        """The list of attempts with this outcome, model, style, rule ..."""
        return None

    def variant_report(self, number: int) -> str:
        return f"variants/{number:02d}/report.html"

    def table(self, name: str, kind: str) -> str | None:
        """The file of a table or figure: ``csv``, ``tex`` or ``svg``."""
        return f"{self._tables}/{name}.{kind}"

    def messages_command(self, **options: str | None) -> str | None:
        """The command that prints messages, where no page shows them; options as of `lawtrace messages`."""
        if "run" not in self._identity:
            return None
        variant = self._identity.get("variant", "").partition(": ")[2] or None
        given = {"variant": variant, **options}
        words = [word for name, value in given.items() if value is not None for word in (f"--{name}", value)]
        return shlex.join(["lawtrace", "messages", self._identity["run"], *words])


class RunLinks(ReportLinks):
    """Links of the viewer's pages on one run."""

    def __init__(self, run: str) -> None:
        super().__init__()
        self._base = f"/runs/{path_segment(run)}"

    def page(self, name: str = "") -> str:
        return f"{self._base}/{name}"

    def rule(self, scenario: str, rule: str) -> str | None:
        return f"{self._base}/report.html#{slug(f'rule-{scenario}-{rule}')}"

    def attempt(self, number: int) -> str:
        return f"{self._base}/attempts/{number + 1}"

    def attempts(self, **filters: str | None) -> str | None:
        return f"{self._base}/attempts{query(**filters)}"

    def variant_report(self, number: int) -> str:
        return f"{self._base}/variants/{number}/report.html"

    def table(self, name: str, kind: str) -> str | None:
        return None

    def conversations(self, **filters: str | None) -> str:
        """The list of conversations with this role, task, style ..."""
        return f"{self._base}/conversations{query(**filters)}"

    def conversation(self, number: int, message: str | None = None) -> str:
        """The page of a conversation, at the message with this id."""
        at = f"?at={message}#m{message}" if message is not None else ""
        return f"{self._base}/conversations/{number}{at}"

    def message(self, id: str) -> str:  # noqa: A002
        return f"{self._base}/messages/{id}"

    def request_sent(self, id: str) -> str:  # noqa: A002
        """What the model was sent for the message."""
        return f"{self._base}/messages/{id}/request"


def path_segment(name: str) -> str:
    """A name as one segment of a URL path; a folder name may hold bytes that are not UTF-8."""
    return quote(name, safe="", errors="surrogateescape")


def query(**values: object) -> str:
    """The query part of a URL; None values are left out, a list gives its name several times."""
    given = {name: value for name, value in values.items() if value is not None}
    return f"?{urlencode(given, doseq=True)}" if given else ""
