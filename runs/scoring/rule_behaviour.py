"""Comparison of a rule set with a gold set by what both say of sessions (`lawtrace.runs.scoring.session_bank`). How the
rules are written, and how many there are, never counts.

A set *breaks* a session if one of its rules is broken at the session's end; a duty that is due only later breaks
nothing. Where a set has open questions, one reading of each is taken, group of questions by group: that with the most
equal verdicts. Rules of a manual do not count.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from lawtrace.environments.regulations.regulation import article_of, is_part_of
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.session_bank import BankSession, SessionKind
from lawtrace.schemas.models import StrictModel
from lawtrace.solver.interpretations import is_active, question_groups
from lawtrace.solver.monitoring.rule_status import OUTCOMES
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule
from lawtrace.solver.trace_notation import tell_session

MOST_TOLD: Final = 20
"""How many sessions that two sets judge differently are told."""


class Share(StrictModel):
    """So many of some sessions."""

    count: int
    of: int

    @property
    def rate(self) -> float | None:
        return self.count / self.of if self.of else None


class ToldSession(StrictModel):
    """A session in sentences. ``breaks``: the rules that it breaks, of the set that does not keep it."""

    kind: SessionKind
    about: str
    breaks: tuple[str, ...]
    told: str


class GroupBehaviour(StrictModel):
    """Provisions of one article or section.

    Attributes:
        gold: how many gold rules cite it.
        references: how many the rules keep that cite it.
        caught: of the sessions that these gold rules break, how many the whole set breaks.
    """

    group: str
    gold: int
    references: Share
    caught: Share


class GoldRuleBehaviour(StrictModel):
    """A gold rule.

    Attributes:
        caught: of the sessions that break it, how many the set breaks.
        missed: the shortest that the set keeps.
    """

    rule: str
    provisions: tuple[str, ...]
    caught: Share
    missed: ToldSession | None


class BehaviourScore(StrictModel):
    """A rule set beside a gold set.

    Attributes:
        rules, gold: how many rules there are, of the law and about the provisions compared.
        readings, gold_readings: those that were taken of open questions.
        references: how many the set keeps, of those that gold keeps.
        mutants, breaches: how many the set breaks, of those that gold breaks.
        false_alarms: how many the set breaks, of the mutants that gold keeps.
        random_kept, random_broken: how many the set judges alike, of the random sessions that gold keeps, and breaks.
        groups: by what the citations of gold rules have in common.
        too_strict: sessions that gold keeps and the set breaks, references first, then the shortest.
        different: how many sessions of the bank are judged differently.
    """

    rules: int
    gold: int
    readings: dict[str, str]
    gold_readings: dict[str, str]
    references: Share
    mutants: Share
    breaches: Share
    false_alarms: Share
    random_kept: Share
    random_broken: Share
    groups: tuple[GroupBehaviour, ...]
    by_rule: tuple[GoldRuleBehaviour, ...]
    too_strict: tuple[ToldSession, ...]
    different: Share

    @property
    def unlawful(self) -> Share:
        """How many the set breaks, of all sessions that gold breaks."""
        parts = (self.mutants, self.breaches, self.random_broken)
        return Share(count=sum(one.count for one in parts), of=sum(one.of for one in parts))

    @property
    def alike(self) -> Share:
        """How many sessions of the bank are judged alike."""
        return Share(count=self.different.of - self.different.count, of=self.different.of)


def is_about(rule: Rule, provisions: Collection[str]) -> bool:
    """Whether what a rule demands stands in these provisions: the first that it cites is one of them, or a part."""
    return is_part_of(rule.provisions[0], provisions) if rule.provisions else False


def cites(rule: Rule, provisions: Collection[str]) -> bool:
    """Whether a rule cites one of these provisions, or a part of it."""
    return any(is_part_of(citation, provisions) for citation in rule.provisions)


class JudgedSet:
    """The rules of the law in a set, with the sessions of a bank that each breaks, as the bits of a number."""

    def __init__(
        self, rules: Sequence[Rule], sessions: Sequence[BankSession], progress: Callable[[], None] = lambda: None
    ) -> None:
        self.rules: Final = [rule for rule in rules if rule.source == "law"]
        self.groups: Final = question_groups(self.rules)
        self.broken: Final = {rule.id: 0 for rule in self.rules}
        self.readings: dict[str, str] = {}
        for group in self.groups:
            self.take(group.questions, group.combinations[0])
        for place, session in enumerate(sessions):
            for name, status in monitor_of(self.rules).run(session.events).statuses(session.end).items():
                if status.unknown is None and OUTCOMES[status.ending] == "broken":
                    self.broken[name] |= 1 << place
            progress()

    def take(self, questions: Sequence[str], readings: Sequence[str]) -> None:
        """Take a reading of each of some questions."""
        self.readings |= zip(questions, readings, strict=True)

    @property
    def active(self) -> list[Rule]:
        """The rules that hold under the readings taken."""
        return [rule for rule in self.rules if is_active(rule, self.readings)]

    def breaks(self, provisions: Collection[str] | None = None) -> int:
        """The sessions that the set breaks, or only its rules that cite some provisions."""
        found = 0
        for rule in self.active:
            found |= self.broken[rule.id] if provisions is None or cites(rule, provisions) else 0
        return found


def score_behaviour(
    environment: Environment, scored: JudgedSet, gold: JudgedSet, sessions: Sequence[BankSession]
) -> BehaviourScore:
    """Compare two rule sets on the sessions by which both were judged. Their readings are chosen here."""
    for judged in (scored, gold):
        for group in judged.groups:
            counts: list[int] = []
            for readings in group.combinations:
                judged.take(group.questions, readings)
                counts.append((scored.breaks() ^ gold.breaks()).bit_count())
            judged.take(group.questions, group.combinations[counts.index(min(counts))])
    return _Comparison(environment, scored, gold, sessions).score()


class _Comparison:
    def __init__(
        self, environment: Environment, scored: JudgedSet, gold: JudgedSet, sessions: Sequence[BankSession]
    ) -> None:
        self._environment: Final = environment
        self._scored: Final = scored
        self._gold: Final = gold
        self._sessions: Final = sessions
        kinds: dict[SessionKind, int] = {}
        for place, session in enumerate(sessions):
            kinds[session.kind] = kinds.get(session.kind, 0) | 1 << place
        self._kinds: Final[Mapping[SessionKind, int]] = kinds
        self._every: Final = (1 << len(sessions)) - 1

    def score(self) -> BehaviourScore:
        ours, theirs = self._scored.breaks(), self._gold.breaks()
        kept, alike = self._every & ~theirs, self._every & ~(ours ^ theirs)
        references, mutants, breaches, drawn = (
            self._kinds.get(kind, 0) for kind in ("reference", "mutant", "breach", "random")
        )
        active = self._gold.active
        groups = dict.fromkeys(article_of(citation) for rule in active for citation in rule.provisions)
        return BehaviourScore(
            rules=len(self._scored.active),
            gold=len(active),
            readings=self._scored.readings,
            gold_readings=self._gold.readings,
            references=_share(alike, references & kept),
            mutants=_share(alike, mutants & theirs),
            breaches=_share(alike, breaches & theirs),
            false_alarms=_share(ours, mutants & kept),
            random_kept=_share(alike, drawn & kept),
            random_broken=_share(alike, drawn & theirs),
            groups=tuple(
                GroupBehaviour(
                    group=group,
                    gold=sum(cites(rule, [group]) for rule in active),
                    references=_share(~self._scored.breaks([group]), references & kept),
                    caught=_share(ours, self._gold.breaks([group])),
                )
                for group in groups
            ),
            by_rule=tuple(self._rule(rule, ours) for rule in active),
            too_strict=tuple(self._told(ours & kept, self._scored)),
            different=_share(ours ^ theirs, self._every),
        )

    def _rule(self, rule: Rule, ours: int) -> GoldRuleBehaviour:
        broken = self._gold.broken[rule.id]
        missed = next(iter(self._told(broken & ~ours, self._gold, 1)), None)
        return GoldRuleBehaviour(rule=rule.id, provisions=rule.provisions, caught=_share(ours, broken), missed=missed)

    def _told(self, which: int, judged: JudgedSet, most: int = MOST_TOLD) -> list[ToldSession]:
        """Some of the sessions, references first, then the shortest."""
        places = [place for place in range(len(self._sessions)) if which >> place & 1]

        def order(place: int) -> tuple[bool, int]:
            return self._sessions[place].kind != "reference", len(self._sessions[place].events)

        return [
            ToldSession(
                kind=one.kind,
                about=one.about,
                breaks=tuple(rule.id for rule in judged.active if judged.broken[rule.id] >> place & 1),
                told=tell_session(one.events, one.end, self._environment),
            )
            for place in sorted(places, key=order)[:most]
            for one in [self._sessions[place]]
        ]


def _share(which: int, of: int) -> Share:
    return Share(count=(which & of).bit_count(), of=of.bit_count())
