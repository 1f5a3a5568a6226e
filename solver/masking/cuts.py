"""Cuts: a text without the words that say one of its values, where what remains is still what a person writes.

*Bill Ash $17.49 for the copy* becomes *Bill Ash for the copy*, and *from the holiday pot* becomes *from one of the
accounts*. A cut depends on what stands before and after the value. Where no pattern fits, the value is not cut out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lawtrace.solver.masking.sayings import CENTS, CURRENCY, WEEKDAYS, Span


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a text to replace.

    Attributes:
        span: the part.
        remains: what stands there instead; it may be empty.
        words: what the part says, as an answer to a question.
    """

    span: Span
    remains: str
    words: str


def apply_cuts(text: str, cuts: Iterable[Cut]) -> str:
    """The text after all cuts, which must not overlap."""
    for cut in sorted(cuts, key=lambda cut: cut.span, reverse=True):
        start, end = cut.span
        text = text[:start] + cut.remains + text[end:]
    return text


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What stands before and after a value. The group ``cut`` of either goes with it, and with ``told`` its words."""

    before: str
    after: str = ""
    remains: str = ""
    told: bool = False

    def match(self, text: str, span: Span) -> Cut | None:
        before = re.search(rf"(?:{self.before})$", text[: span[0]])
        after = re.match(self.after, text[span[1] :])
        if before is None or after is None:
            return None
        start = before.start("cut") if "cut" in before.re.groupindex and before["cut"] is not None else span[0]
        end = span[1] + (after.end("cut") if "cut" in after.re.groupindex and after["cut"] is not None else 0)
        words = text[start:end] if self.told else text[slice(*span)]
        return Cut((start, end), _in_case(text, start, self.remains), words.strip(" ,:;"))


_STOP = r"(?=[,.;:!?)]|$)"
_AMOUNTS: Final = (
    _Pattern(r"(?P<cut> of )"),
    _Pattern(r"\b(?:[Cc]harged|[Bb]illed|(?:[Cc]harge|[Bb]ill) (?:her|him|them|[A-Z]\w+ [A-Z]\w+))(?P<cut> )"),
    _Pattern(r"\b(?:[Cc]harge|[Bb]ill)(?P<cut> )", r"(?= (?:for|to|in)\b)"),
    _Pattern(r"\btapped(?P<cut> )", "(?= )"),
    _Pattern(r"(?P<cut> for )", rf"{_STOP}|(?= (?:for|to|in)\b)"),
    _Pattern(r"\b(?:my|our|that)(?P<cut> )", r"(?= (?!I\b|from|on|to|with|that|which|out)[a-z]+)"),
    _Pattern(r"(?<=:)(?P<cut> )", "(?P<cut>,)(?= )"),
    _Pattern(r"(?P<cut>, )", _STOP),
)
_SUM_FOLLOWS = (
    r"(?= (?:from|to|over|into|out|on|for|in|at|with|go|goes|should|will|a month|each|every|by|and)\b)|(?=[,.;!?]|$)"
)
_SUM_NEVER = re.compile(r"(?:\b(?:[Cc]harge|[Bb]ill|the|a|(?:comes?|came|amounts?|totals?|totalling) to)|[:(])\s$")
_MONTHLY = re.compile(r"\b(?:every|each|a|of the) month\b|\bmonthly\b|\bstanding order\b")
_NUMBERS: Final = (
    _Pattern(r"(?P<cut>,? (?:always )?on(?: the)? )", r"(?P<cut> of (?:every|each|the) month\b)", " every month", True),
    _Pattern(r"(?P<cut>(?<=, )on(?: the)? )", r"(?P<cut> of (?:every|each|the) month\b)", "every month", True),
    _Pattern(r"(?P<cut>\bevery )", r"(?P<cut> of the month\b)", "every month", True),
    _Pattern(r"\bmonth\b[^.!?]*?(?P<cut>,? (?:always )?on the )", _STOP, "", True),
    _Pattern(
        r"(?P<cut>,? (?:for|over|of|covering|from|going back) (?:(?:the|her|his) )?(?:(?:last|past) )?)",
        r"(?P<cut> days\b)(?! of\b)",
        "",
        True,
    ),
    _Pattern(r"(?P<cut>, (?:(?:the )?(?:last|past) )?)", rf"(?P<cut> days\b(?: of it)?(?: will do)?){_STOP}", "", True),
)
_DAY = "|".join(WEEKDAYS)
_DATES: Final = (
    _Pattern(
        rf"(?P<cut>,? (?:on|by|from|until|till|for|at|dated) (?:(?:{_DAY}),? )?(?:the )?)",
        rf"{_STOP}|(?= (?:at|and|for|please|in|with)\b)",
        "",
        True,
    ),
)
_WORDINGS: Final = (
    _Pattern(
        r"(?P<cut>(?:[,:;]| and| so that)? (?:it|they|which|that) (?:is to|are to|ought to|should|must|has to) "
        r"(?:say|read|be) (?:she |he |they )?[\"']?)",
        rf"(?P<cut>[\"']?){_STOP}",
    ),
    _Pattern(r"(?P<cut> to (?:say |read |be )?[\"']?)", rf"(?P<cut>[\"']?){_STOP}"),
    _Pattern(r"(?P<cut>: [\"']?)", r"(?P<cut>[\"']?)(?=[,.;!?]|$)"),
)


def cut_amount(text: str, span: Span) -> Cut | None:
    """Without an amount of money: *a bill*, *some money from my account*."""
    span = _with_currency(text, span)
    for pattern in _AMOUNTS:
        if cut := pattern.match(text, span):
            return cut
    if _SUM_NEVER.search(text[: span[0]]):
        return None
    if duty := _Pattern("", r"(?= to (?:charge|bill|be charged|be billed)\b)", "something").match(text, span):
        return duty
    amount = "a certain amount" if _MONTHLY.search(_sentence_around(text, span)) else "some money"
    return _Pattern("", _SUM_FOLLOWS, amount).match(text, span)


def cut_number(text: str, span: Span) -> Cut | None:
    """Without a number of days or a day of the month."""
    return _first(_NUMBERS, text, span)


def cut_date(text: str, span: Span) -> Cut | None:
    """Without a date or a time of day."""
    return _first(_DATES, text, span)


def cut_wording(text: str, span: Span) -> Cut | None:
    """Without words that something is to say: *should be corrected*."""
    return _first(_WORDINGS, text, span)


_THINGS = (
    "incident|transfer|payment|debit|charge|purchase|order|card|account|one|thing|system|matter|contract|request|case|"
    "statement"
)
_DETERMINERS = "the|that|my|our|his|her|their|your"
_ADJECTIVE = r"(?:(?!(?:of|on|in|for|to|and|with|from|by)\b)[a-z-]+ )?"
_NAMED = r"(?:called|marked|named|titled|labelled|with|about|over|of|for|to|from)"
_TITLE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Sister)\.?\s$|\b(?:[Ii]t's|at|by|an?|my|our|their|her|his|your|old|poor|dear)\s$"
)
_LOOKS_UP = re.compile(r"\b(?:find|up|locate|out|for|fetch|open)\s$", re.IGNORECASE)
_VERB = r"has|is|was|would|wants|should|could|can|must|needs|ought|gets|asks|does|minds|bought|paid"
_PLURAL = r" (?:have|are|were|need|want|ask|wish|like|do|and I|and me|both|twice|comes)\b"


def cut_party(text: str, span: Span, noun: str) -> Cut | None:
    """Without the name of a person or an organisation: *someone's request*, *a patient*."""
    start, end = span
    if text[start:end].endswith(("'s", "s'")):
        end -= 2
    before, after = text[:start], text[end:]
    words = text[start:end]
    if re.search(r"\b[Ss]omeone\b", text) and noun == "someone" and not re.search(r" (?:called|named)\s$", before):
        return None
    if called := re.search(r" (?:called|named)\s$", before):
        return Cut((called.start(), end), "", words)
    if re.search(r"\b[Aa] [a-z]+,\s$", before) and after.startswith(","):
        return Cut((start - 2, end + 1), "", words)
    if not re.match(r"'s| (?:in|among|on|with|from)\b", after) and (
        _LOOKS_UP.search(before)
        or (re.search(r"\b(?:and|for)\s$", before) and re.match(r"[,.;] ?(?:and|then)?", after))
    ):
        return None
    follows = re.match(r"('s )?([A-Za-z']+)?", after.lstrip(" "))
    following = follows[2] if follows and after.startswith((" ", "'s")) else None
    if _TITLE.search(before) or re.match(_PLURAL, after) or re.match(r":|, which\b", after):
        return None
    if not after.startswith("'s") and following and re.fullmatch(rf"(?:{_THINGS}|flyer|file)s?", following):
        return None
    if the := re.search(r"\b[Tt]he\s$", before):
        if not after.startswith("'s") and (following is None or not re.fullmatch(_VERB, following)):
            return None
        start = the.start()
    return Cut((start, end), _in_case(text, start, noun), words)


def cut_thing(text: str, span: Span, noun: str) -> Cut | None:
    """Without what a thing is called: *one of my accounts*. ``noun``: one of its kind, ``account``."""
    start, end = span
    name, kinds = text[start:end], rf"({noun}|{_THINGS})"
    if head := re.match(rf" {kinds}\b", text[end:]):
        end += head.end()
    named = re.search(rf"\b(?:{_DETERMINERS}) {_ADJECTIVE}$", text[:start], re.IGNORECASE)
    start = named.start() if named else start
    inside = text[start:end].split()[0].lower()
    determiner = inside if re.fullmatch(_DETERMINERS, inside) and inside != "that" else "the"
    if around := re.search(rf"\b(?:{_DETERMINERS}) {_ADJECTIVE}{kinds} {_NAMED} $", text[:start], re.IGNORECASE):
        start, named, head = around.start(), around, around
    is_bare = named is None and determiner == "the" and name[:1].isupper() and text[span[0] : end] == name
    if (
        text[end:].startswith("'")
        or name.endswith("'s")
        or (is_bare and not re.search(r"\b(?:for|have|refund|cancel|close)\s$|(?:^|[.!?\n]\s*)$", text[:start]))
        or re.search(rf"\bthat {kinds}\b", text[end:])
        or re.match(r",? (?:that was|stolen|taken)\b", text[end:])
        or re.search(r"\bthere's\s$", text[:start])
    ):
        return None
    kind = head[1].lower() if head and head[1].lower() not in {"one", "thing", "matter", "system"} else noun
    if re.search(rf"\b{kind}s\b", text[:start] + text[end:], re.IGNORECASE):
        return None  # one of the orders among the orders
    return Cut((start, end), _in_case(text, start, f"one of {determiner} {kind}s"), text[start:end])


def _first(patterns: Iterable[_Pattern], text: str, span: Span) -> Cut | None:
    return next((cut for pattern in patterns if (cut := pattern.match(text, span))), None)


def _in_case(text: str, start: int, words: str) -> str:
    """The words, with a capital letter if they begin a sentence."""
    begins = re.search(r"(?:^|[.!?]\s+|\n\s*)$", text[:start]) and not text[start : start + 1].islower()
    return words[:1].upper() + words[1:] if begins else words


def _with_currency(text: str, span: Span) -> Span:
    before = re.search(r"(?:[€$£]\s?|\b(?:EUR|USD) )$", text[: span[0]])
    after = re.match(rf"\s?(?:{CURRENCY}|{CENTS})(?!\w)", text[span[1] :], re.IGNORECASE)
    return (before.start() if before else span[0], span[1] + (after.end() if after else 0))


def _sentence_around(text: str, span: Span) -> str:
    ends = re.search(r"[.!?](?:\s|$)", text[span[1] :])
    starts = list(re.finditer(r"[.!?]\s+|\n", text[: span[0]]))
    return text[starts[-1].end() if starts else 0 : span[1] + ends.start() if ends else len(text)]
