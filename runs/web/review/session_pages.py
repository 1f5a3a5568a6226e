"""The review of sessions: provisions and session side by side, and the form for an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from lawtrace.agents.conversations.formalized_group import GivenJudgment
from lawtrace.agents.roles.extraction_roles import misquoted, quoted_in
from lawtrace.runs.recipe_file import validate_options
from lawtrace.runs.web.forms import AskAgain, FormSite
from lawtrace.runs.web.review.session_items import SessionReview


class SessionPages(FormSite[GivenJudgment]):
    """The review of the sessions of one file."""

    list_template = "sessions"
    item_template = "session"

    def __init__(self, subject: SessionReview) -> None:
        super().__init__("Sessions", "session", [*subject.sessions], subject.log)
        self._subject = subject

    def pending_for(self, reviewer: str) -> Sequence[str]:
        return [item.id for item in self._subject.state.pending_for(reviewer)]

    def list_values(self) -> Mapping[str, Any]:
        state = self._subject.state
        return {"subject": self._subject, "summary": state.summary(), "statuses": state.groups()}

    def item_values(self, item: str, reviewer: str | None) -> Mapping[str, Any]:
        group, session = self._subject.sessions[item]
        said = {one.by: one for one in self._subject.answers(group, session)}
        answers = {one.by: one for one in (*session.judgments, *said.values())}
        given = said.get(reviewer or "")
        shown = {"item": item, "group": group, "session": session, "texts": self._subject.texts(group)}
        return {**shown, "given": given, "typed": given, "answers": answers if given else {}, "error": ""}

    def read_form(self, item: str, reviewer: str, form: Mapping[str, str]) -> GivenJudgment | AskAgain:
        """An answer. It is asked for again if it needs words of the law and code does not find them there."""
        group, session = self._subject.sessions[item]
        texts, words = self._subject.texts(group), form.get("words", "").strip()
        cited = (name for name in (form.get("citation", ""), *texts) if quoted_in(words, texts.get(name, "")))
        said = {"verdict": form.get("verdict"), "words": words, "because": form.get("because", "").strip()}
        about = {"session": session.id, "group": group.group, "by": reviewer, "citation": next(cited, "")}
        answer = validate_options(GivenJudgment, {**about, **said}, "the answer")
        objections = misquoted(answer, texts.values())
        return AskAgain({"error": objections, "typed": answer}) if objections else answer
