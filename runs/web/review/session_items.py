"""Sessions under review, which tell rule sets apart: what people answer is a file for ``rules formalize --answers``."""

import shlex
from collections.abc import Sequence

from lawtrace.agents.conversations.formalized_group import AskedSession, FormalizedGroup, GivenJudgment
from lawtrace.agents.roles.extraction_roles import regulation_title
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.runs.web.append_log import AppendLog
from lawtrace.runs.web.review.decisions import OpinionRow, ReviewItem, ReviewState


class SessionReview:
    """The sessions of groups of provisions under review.

    Attributes:
        sessions: by a name, first those that tell classes apart.
        command: the command line that continues with the answers; None for the groups of a run.
    """

    def __init__(
        self, groups: Sequence[FormalizedGroup], law: Regulation, log: AppendLog[GivenJudgment], needed: int
    ) -> None:
        asked = [(group, session) for group in groups for session in group.sessions]
        asked.sort(key=lambda one: len({*one[1].outcomes.values()}) == 1)
        self.sessions = {f"{group.group}/{session.id}": (group, session) for group, session in asked}
        self.log, self.needed, self._law = log, needed, law
        option, ran = f"--answers {shlex.quote(str(log.path))}", groups[0].command
        self.command = ran if ran is None or option in ran else f"{ran} {option}"

    @property
    def state(self) -> ReviewState:
        items = [ReviewItem(name, name, session.told) for name, (_, session) in self.sessions.items()]
        rows = [
            OpinionRow(reviewer=one.by, item=item.id, digest=item.digest, decision=one.verdict)
            for item in items
            for one in self.answers(*self.sessions[item.id])
        ]
        return ReviewState(items, rows, self.needed)

    def answers(self, group: FormalizedGroup, session: AskedSession) -> list[GivenJudgment]:
        """What people said here of a session."""
        return [one for one in self.log.rows if one.session == session.id and one.group in {"", group.group}]

    def texts(self, group: FormalizedGroup) -> dict[str, str]:
        """Provision -> words: of the group, then of the others of its regulation if that is at hand."""
        known = self._law.provisions if group.regulation == regulation_title(self._law) else ()
        return {**group.provisions, **{one.citation: one.words() for one in known}}
