"""Sentences of duty: which event must come before, after or never, with the words that say so.

    After every transfer of funds the assistant must record an audit event within 72 hours.
    after    first: "every transfer of funds"    second: "record an audit event"    window: "within 72 hours", <= 72h

A sentence has one modal (*must*, *may not*, *may ... only*), at most one connective (*before*, *unless*, *after*), and
events. The table `_RELATIONS` says what modal and connective mean together; what it does not list is not understood. A
baseline by design: English legal prose in plain sentences, and nothing is guessed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lawtrace.agents.scripted.stated_limits import WINDOW, Window, limits_in, window_of
from lawtrace.agents.scripted.stemming import listed

DutyKind = Literal["before", "after", "never", "never after"]
"""*before*: no second event without an earlier first. *after*: the second follows each first. *never*: no first event.
*never after*: no second event once the first has happened."""

Modality = Literal["must", "must not", "only"]
_Clause = Literal["before", "after", "once", "unless", "if", "until", "none"]

ACTORS: Final = frozenset(
    listed(
        "assistant agent provider bank clinic company organisation organization institution entity staff employee "
        "operator controller system desk office service it they he she we you one"
    )
)
"""Nouns for the party that calls the tools."""
SERVED: Final = frozenset(
    listed("user customer client patient payer payee consumer guest visitor passenger member person people holder")
)
"""Nouns for the parties that the tools are used for."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a punctuation mark, with its place in the sentence."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.lower()


Tokens = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Duty:
    """A sentence of duty.

    Attributes:
        first, second: the words of the events; *never* has no second.
        order: the words that say what comes when.
        state: whether ``first`` may describe what a result shows (*unless the session is authorized*).
        state_first: whether it does so rather than naming a call, since the verb is in the present.
        condition: a condition on the duty in a clause of its own (*if the amount exceeds 100 euro*).
        allowed: whether the condition says what is allowed rather than what is forbidden.
        one_suffices: whether of several first events joined by *or* one is clearly enough; *not before A or B* is open.
    """

    sentence: str
    kind: DutyKind
    first: Tokens
    second: Tokens
    order: str
    window: Window | None = None
    state: bool = False
    state_first: bool = False
    condition: Tokens = ()
    allowed: bool = False
    one_suffices: bool = True


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A sentence that contains a duty but is not understood, and which part of it is to blame."""

    sentence: str
    because: str


class _Unclear(Exception):
    """Not understood; the message is the reason."""


_MODAL: Final = re.compile(
    r"\b(?P<only>may|can|must|shall|should) (?=only\b|(?:[\w-]+ ){1,6}?only (?:if|after|when|where|once|with)\b)"
    r"|\b(?P<never>(?:must|shall|may|can|should)(?::? not| never)\b|cannot\b|mustn't\b"
    r"|(?:is|are) (?:strictly )?(?:forbidden|prohibited|not (?:allowed|permitted))(?: to\b|(?=[ .]|$)))"
    r"|\b(?P<must>must|shall|should|(?:is|are) (?:required|obliged) to|ha(?:s|ve) to)\b"
    r"|\b(?P<may>may|can)\b",
    re.IGNORECASE,
)
_OBLIGES: Final = re.compile(
    r"\b(?:shall|must|may (?:only|not)|(?:is|are) (?:required|obliged|forbidden|prohibited|not (?:allowed|permitted))|"
    r"ha(?:s|ve) to|(?:no|only|unless|until|without)\b.*\bmay)\b|\bmay\b.*\b(?:only|unless|until|without)\b",
    re.IGNORECASE,
)
_FRAME: Final = re.compile(
    r"^[^.:;]*?\b(?:make[s]? sure|ensure[s]?|see[s]? to it) that:?\s+(?=.*\b(?:must|shall|may)\b)", re.IGNORECASE
)
_LABEL: Final = re.compile(r"^\(?(?:\d+(?:\.\d+)*|[a-z]|[ivx]+)[.)]\s+")
_LIMITING: Final = re.compile(
    r"\b(?:(?:do|does|shall|may|will) not apply|except|exempt\w*|exception\w*|notwithstanding|need not|"
    r"derogation\w*)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])|;\s+")
_TOKEN: Final = re.compile(r"[€$£]?\d[\d,.]*\d|[€$£]?\d|[^\W\d_]+(?:[-'’][^\W\d_]+)*|[^\w\s]")

_CONNECTIVES: Final[Mapping[str, _Clause]] = {
    "prior to": "before", "before": "before", "in advance of": "before",
    "after": "after", "following": "after", "upon": "after",
    "as soon as": "once", "once": "once",
    "unless": "unless", "except after": "unless", "without first": "unless", "without": "unless",
    "until": "until",
    "if": "if", "where": "if", "when": "if", "in case": "if", "provided that": "if",
}  # fmt: skip
_VAGUE: Final = re.compile(
    r"\bwithout (?:any )?(?:undue |unreasonable )?delay\b|\b(?:immediately|promptly|at once|as soon as possible)\b"
    r"|\b(?:whenever|every time|each time|while|during|as long as|in accordance with|subject to)\b",
    re.IGNORECASE,
)

_Relation = tuple[DutyKind, bool]
"""What the relation is, and whether the event of the clause is the first of the two."""
_RELATIONS: Final[Mapping[tuple[Modality, _Clause], _Relation]] = {
    ("must", "before"): ("before", False),
    ("must not", "before"): ("before", True),
    ("must not", "until"): ("before", True),
    ("must not", "unless"): ("before", True),
    ("only", "after"): ("before", True),
    ("only", "once"): ("before", True),
    ("only", "if"): ("before", True),
    ("must", "after"): ("after", True),
    ("must", "once"): ("after", True),
    ("must", "if"): ("after", True),
    ("must not", "after"): ("never after", True),
    ("must not", "once"): ("never after", True),
    ("must not", "if"): ("never after", True),
}
_HAPPENS: Final = frozenset(listed("come comes happen take occur precede follow"))
_BE: Final = frozenset(listed("be is are was were been being"))
_SIDEWORDS: Final = frozenset(listed("first always also"))
_THEN: Final = frozenset(listed("afterwards subsequently then thereafter"))


def obliges(text: str) -> bool:
    """Whether the text contains a duty or a prohibition."""
    return _OBLIGES.search(text) is not None


def sentences_of(text: str) -> list[str]:
    """The sentences of a provision."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


def duties_of(text: str) -> Iterator[Duty | NotUnderstood]:
    """What each sentence of a provision demands; sentences that oblige to nothing are left out."""
    sentences = sentences_of(text)
    for sentence in sentences:
        if not obliges(sentence):
            continue
        limit = next((other for other in sentences if _LIMITING.search(other)), None)
        yield (
            read_duty(sentence)
            if limit is None
            else NotUnderstood(
                sentence, f"the provision has an exception ({_shorten(limit)!r}), which is in no pattern known offline"
            )
        )


def read_duty(sentence: str) -> Duty | NotUnderstood:
    """What the sentence demands."""
    try:
        return _Sentence(sentence).duty()
    except _Unclear as unclear:
        return NotUnderstood(sentence, str(unclear))


def text_of(tokens: Sequence[Token]) -> str:
    """The words of a phrase; left-out words are shown by dots."""
    parts: list[str] = []
    for before, token in zip((None, *tokens), tokens, strict=False):
        gap = before is not None and token.start - before.end > 1
        parts += [" ... " if gap else " " if before is not None and token.start > before.end else "", token.text]
    return "".join(parts)


class _Sentence:
    """A sentence being read: the modal divides it into what is before and what is after."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        body = sentence.rstrip(" .;")
        frame = _FRAME.match(body) or _LABEL.match(body)
        self.offset = frame.end() if frame else 0
        self.body = body[self.offset :]

    def duty(self) -> Duty:
        if vague := _VAGUE.search(self.body):
            raise _Unclear(f"{vague[0]!r} says neither a period nor which comes first")
        window, then = self._window()
        modal, modality = self._modal()
        left, right = self._tokens(0, modal.start(), window), self._tokens(modal.end(), len(self.body), window)
        if right[:1] and right[0].text == ":":
            right = right[1:]
        if any(token.text in {":", "(", ")", '"', "“", "”"} for token in (*left, *right)):
            raise _Unclear("brackets, quotations and lists are in no pattern known offline")
        if modality == "must" and left and left[0].low == "no":
            raise _Unclear("'no ... must' is in no pattern known offline")
        return self._followed(left, right, modality, window) or self._related(
            left, right, modality, modal[0].strip(), window, then
        )

    def _window(self) -> tuple[re.Match[str] | None, str]:
        found = list(WINDOW.finditer(self.body))
        if len(found) > 1:
            raise _Unclear("it states two periods")
        return (found[0], (found[0]["then"] or "").lower()) if found else (None, "")

    def _modal(self) -> tuple[re.Match[str], Modality]:
        found = list(_MODAL.finditer(self.body))
        if len(found) != 1:
            raise _Unclear("it has no word such as 'must'" if not found else "it says two duties in one sentence")
        modal = found[0]
        before = self.body[: modal.start()].lower().split()
        if modal["only"] or (before[:1] == ["only"] and modal["never"] is None):
            return modal, "only"
        if modal["never"] or (modal["may"] and before[:1] in (["no"], ["never"])):
            return modal, "must not"
        if modal["must"]:
            return modal, "must"
        raise _Unclear("'may' without 'only' or 'not' obliges to nothing")

    def _tokens(self, start: int, end: int, window: re.Match[str] | None) -> Tokens:
        """The tokens between two places, without those of the window; a connective after the window stays."""
        left_out = range(0)
        if window is not None:
            left_out = range(window.start(), window.start("then") if window["then"] else window.end())
        return tuple(
            Token(match[0], match.start() + self.offset, match.end() + self.offset)
            for match in _TOKEN.finditer(self.body, start, end)
            if match.start() not in left_out
        )

    def _followed(self, left: Tokens, right: Tokens, modality: Modality, window: re.Match[str] | None) -> Duty | None:
        """*X must be followed by Y*, *X must precede Y*, *every X must afterwards be Y*."""
        words = [token.low for token in right]
        if modality != "must" or not words:
            return None
        passive = words[:1] == ["be"] and "by" in words
        if passive and words[1] in {"followed", "preceded"}:
            place = words.index("by")
            if place != 2:
                raise _Unclear(f"the words between {words[1]!r} and 'by' are in no pattern known offline")
            return self._made("after" if words[1] == "followed" else "before", left, right[3:], window, right[1].text,
                              swapped=words[1] == "preceded")  # fmt: skip
        if words[0] == "precede":
            return self._made("before", left, right[1:], window, "precede")
        if words[0] == "follow":
            raise _Unclear("'must follow' can forbid the one before the other, or demand it after the other")
        if words[0] in _THEN or (len(words) > 1 and words[0] == "be" and words[1] in _THEN):
            if not left or left[0].low not in {"every", "each", "any", "all", "a", "an"} or _clause_at(left, 0):
                return None
            place = 0 if words[0] in _THEN else 1
            return self._made("after", left, right[:place] + right[place + 1 :], window, right[place].text)
        return None

    def _made(
        self, kind: DutyKind, first: Tokens, second: Tokens, window: re.Match[str] | None, order: str,
        *, swapped: bool = False,
    ) -> Duty:  # fmt: skip
        for tokens in (first, second):
            if any(_clause_at(tokens, place) for place in range(len(tokens))):
                raise _Unclear("it relates more than two events")
        bound = _bound(window, kind)
        first, second = (second, first) if swapped else (first, second)
        return Duty(self.sentence, kind, first, second, f"must ... {order}", bound)

    def _related(
        self, left: Tokens, right: Tokens, modality: Modality, modal: str, window: re.Match[str] | None, then: str
    ) -> Duty:
        """A main clause, and perhaps a clause with a connective before or after it."""
        right = tuple(token for token in right if token.low not in _SIDEWORDS)
        if modality != "only" and any(token.low == "only" for token in (*left, *right)):
            raise _Unclear("'only' stands in no pattern known offline")
        if left and left[0].low == "only":
            left = left[1:]
        if left and left[0].low in {"no", "never"}:
            left = left[1:]
        front = _clause_at(left, 0, then)
        clause: Tokens = ()
        kind: _Clause = "none"
        word = ""
        if front:
            (kind, length), word = front, text_of(left[: front[1]])
            clause, left = _divide(left[length:], inverted=modality == "only" and right[:1] != ())
        places = [place for place in range(len(right)) if _clause_at(right, place, then)]
        places = _without_repeated(right, places)
        if len(places) + bool(front) > 1:
            raise _Unclear("it relates more than two events")
        if any(_clause_at(left, place, then) for place in range(len(left))):
            raise _Unclear("a clause within the subject is in no pattern known offline")
        if places:
            kind, length = _clause_at(right, places[0], then) or ("none", 0)
            word = text_of(right[places[0] : places[0] + length])
            clause, right = _without_connectives(right[places[0] + length :], then), right[: places[0]]
        right = tuple(token for token in right if token.low != "only")
        if modality == "must" and kind in {"after", "once", "if"}:
            right = tuple(token for token in right if token.low not in _THEN)
        main = self._main(left, right, modality, kind)
        order = f"{modal} ... {word}" if word else modal
        if kind == "none":
            if modality != "must not" or window is not None:
                raise _Unclear(
                    "the period starts from nothing that is named" if window else "it does not say before or after what"
                )
            return Duty(self.sentence, "never", main, (), order)
        return self._of_clause(main, clause, modality, kind, order, window)

    def _of_clause(
        self, main: Tokens, clause: Tokens, modality: Modality, kind: _Clause, order: str,
        window: re.Match[str] | None,
    ) -> Duty:  # fmt: skip
        if not clause:
            raise _Unclear("a connective without a clause is in no pattern known offline")
        if kind in {"if", "unless"} and limits_in(text_of(clause)):
            if window is not None or (modality, kind) not in {
                ("must not", "if"), ("only", "if"), ("must not", "unless"),
            }:  # fmt: skip
                raise _Unclear("a duty under a condition on an amount must be 'must not ... if' or 'only if'")
            allowed = modality == "only" or kind == "unless"
            return Duty(self.sentence, "never", main, (), order, condition=clause, allowed=allowed)
        relation = _RELATIONS.get((modality, kind))
        if relation is None:
            raise _Unclear(f"{order!r} is in no pattern known offline")
        if window is not None and (modality, kind) == ("must not", "before"):
            raise _Unclear(f"{order!r} with a period is in no pattern known offline")
        words = [token.low for token in clause]
        finite = [word for word in words if word in {"is", "are"}]
        perfect = bool({"has", "have", "was", "were", "had"} & set(words))
        if kind == "if" and modality != "only" and not perfect:
            raise _Unclear(f"{order!r} does not say which of the two comes first")
        duty_kind, clause_first = relation
        if _acts(clause):
            raise _Unclear(f"{text_of(clause)!r} is what another party does")
        first, second = (clause, main) if clause_first else (main, clause)
        return Duty(
            self.sentence,
            duty_kind,
            first,
            second,
            order,
            _bound(window, duty_kind),
            state=clause_first
            and duty_kind == "before"
            and kind in {"unless", "if", "until", "before", "once", "after"},
            state_first=kind in {"unless", "if"} and bool(finite) and not perfect,
            one_suffices=(modality, kind) != ("must not", "before"),
        )

    def _main(self, left: Tokens, right: Tokens, modality: Modality, kind: _Clause) -> Tokens:
        """The words of the main clause's event; the party that acts is left out."""
        if not right and not left:
            raise _Unclear("the main clause is empty")
        verb = right[0].low if right else ""
        if verb in _HAPPENS:
            if modality == "must" and kind in {"after", "once"}:
                raise _Unclear(f"'must {verb} after' can forbid the one before the other, or demand it after the other")
            return (*left, *right[1:])
        if verb in {"be", "have"} or not right:
            if modality == "must" and kind in {"after", "once"} and _only_light(right):
                raise _Unclear("'must be made after' can forbid the one before the other, or demand it after the other")
            return (*left, *right)
        if modality == "only" and right and len(right) > 1 and not left:
            # only after ... may funds be transferred
            return _without_actor(right)
        names = [token for token in left if token.low not in {"the", "a", "an", "every", "each", "any", "all"}]
        if not names or not is_actor(names):
            who = text_of(left) or "its subject"
            raise _Unclear(f"it binds {who!r}, and the tools are used by the assistant")
        return right


def is_actor(names: Sequence[Token]) -> bool:
    """Whether the words name the party that calls the tools: a known noun, or one name such as *Northfjord*."""
    *_, last = names
    singular = last.low.removesuffix("s") if last.low.removesuffix("s") in ACTORS else last.low
    if len(names) <= 3 and singular in ACTORS:
        return not any(name.low.removesuffix("s") in SERVED for name in names)
    proper = len(names) == 1 and last.text[:1].isupper() and not last.low.endswith(("s", "one", "body", "ever"))
    return proper and last.low.removesuffix("s") not in SERVED


def _acts(clause: Tokens) -> bool:
    """Whether the clause says what a served party does itself."""
    words = [token.low for token in clause]
    while words and words[0] in {"the", "a", "an", "every", "each", "any"}:
        words = words[1:]
    if len(words) < 2 or words[0].removesuffix("s") not in SERVED:
        return False
    return words[1] not in _BE and not (words[1] in {"has", "have", "had"} and words[2:3] == ["been"])


def _without_actor(tokens: Tokens) -> Tokens:
    for length in (1, 2):
        names = [token for token in tokens[:length] if token.low not in {"the", "a", "an"}]
        if names and len(tokens) > length and names[-1].low in ACTORS:
            return tokens[length:]
    return tokens


def _only_light(right: Tokens) -> bool:
    return {token.low for token in right} <= {"be", "have", "been", "made", "done", "carried", "out", "performed"}


def _clause_at(tokens: Sequence[Token], place: int, then: str = "") -> tuple[_Clause, int] | None:
    """The connective at that place, and its length in words. After a period, *of* and *from* mean *after*."""
    for words, clause in sorted(_CONNECTIVES.items(), key=lambda item: -len(item[0])):
        parts = words.split()
        if [token.low for token in tokens[place : place + len(parts)]] == parts:
            return clause, len(parts)
    word = tokens[place].low if place < len(tokens) else ""
    follows_period = place == 0 or tokens[place].start - tokens[place - 1].end > 3
    if then in {"of", "from"} and word == then and follows_period:
        return "after", 1
    if word == "on" and place == 0:
        return "after", 1
    return None


def _without_repeated(tokens: Tokens, places: list[int]) -> list[int]:
    """The places of connectives without those that repeat the first one in a list: *before A, before B or before C*."""
    if len(places) < 2:
        return places
    first = _clause_at(tokens, places[0])
    repeated = all(
        _clause_at(tokens, place) == first and tokens[place - 1].low in {",", "or", "and"} for place in places[1:]
    )
    return places[:1] if repeated else places


def _without_connectives(tokens: Tokens, then: str) -> Tokens:
    """A clause without connectives that repeat its own."""
    return tuple(token for place, token in enumerate(tokens) if not _clause_at(tokens, place, then) or place == 0)


def _divide(left: Tokens, *, inverted: bool) -> tuple[Tokens, Tokens]:
    """A clause in front, and the subject after it: at the last comma, or before a party that acts."""
    commas = [place for place, token in enumerate(left) if token.text == ","]
    if commas:
        return left[: commas[-1]], left[commas[-1] + 1 :]
    if inverted:
        return left, ()
    for length in (2, 1):
        names = [token for token in left[-length:] if token.low not in {"the", "a", "an"}]
        if len(left) > length and len(names) == 1 and names[0].low in ACTORS:
            return left[:-length], left[-length:]
    raise _Unclear("no comma says where the clause before the duty ends")


def _shorten(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} ..."


def _bound(window: re.Match[str] | None, kind: DutyKind) -> Window | None:
    if window is None:
        return None
    bound = window_of(window, before=kind == "before")
    if bound is None:
        raise _Unclear(f"{window[0]!r} does not fit the order of the two events")
    return bound
