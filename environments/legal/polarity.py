"""Whether a yes/no question is another one with its polarity turned: the same words, one negation more or less.

Code accepts only forms in which nobody can doubt that the answer flips. What asks is the last sentence; the facts that
are told before it stay as they are. *AUX S R* stands for a question that begins with an auxiliary (*Did Bottle Works
infringe Article 32?*), and its other polarity is one of

    Is it false that S AUX R?           the negation stands outside of everything
    Is it the case that S AUX not R?    only where no word of R or S could take the negation for itself
    AUX S fail to R?                    likewise, with *do*

or the other way round. A bare *Did Bottle Works not infringe ...?* is no such form: people answer it either way.
"""

import re
from collections.abc import Iterator, Sequence

AUXILIARIES = frozenset(
    re.findall(r"\w+", "do does did is are was were has have had can could will would should must may might")
)
_DO = frozenset({"do", "does", "did"})
_MODALS = frozenset({"should", "must", "may", "might", "could", "would", "can", "will"})
"""With *not*, these say something else than their own negation: *must not* is no *need not*."""

_FALSE = frozenset({"false", "untrue", "incorrect", "wrong"})
_TRUE = frozenset({"true", "correct", "right", "so"})
_SCOPE = frozenset(
    re.findall(
        r"\w+",
        "and or nor all any every each both either neither only even also always never not no none nothing without "
        "because due since unless until while although despite still yet before after",
    )
)
"""Words that could take a negation for themselves, or that a negation could reach or not."""

_CLAUSE = frozenset(re.findall(r"\w+", "to by that which who whom whose when where if of for with from"))
_LONGEST_SUBJECT = 8
_SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)]))\s+(?=[A-Z“\"(])")
_TOKEN = re.compile(r"[^\W_]+|[,;:]")
_MARKS = frozenset(",;:")
_ENDINGS = ("ied", "ies", "ed", "es", "d", "s")

_Tokens = tuple[str, ...]


def split_question(question: str) -> tuple[str, str]:
    """What a question tells first, and the sentence that asks; the first may be empty."""
    *told, asks = _SENTENCE.split(question.strip())
    return " ".join(told), asks


def check_negation(question: str, restated: str) -> str | None:
    """Why ``restated`` is not ``question`` with its polarity turned; None if it is, so that the answer flips."""
    told, asks = split_question(question)
    told_again, asks_again = split_question(restated)
    if not restated.strip().endswith("?"):
        return "it does not end in a question mark"
    if _words(_tokens(told)) != _words(_tokens(told_again)):
        return "what is told before the question has changed"
    one, other = _tokens(asks), _tokens(asks_again)
    if _words(one) == _words(other):
        return "it is the same question"
    if _is_negation_of(one, other) or _is_negation_of(other, one):
        return None
    return (
        "it is not the same words with exactly one negation turned; ask 'Is it false that ...?' and change nothing else"
    )


def _is_negation_of(plain: _Tokens, turned: _Tokens) -> bool:
    """Whether ``turned`` is ``plain`` with one negation more."""
    framed = _frame(turned)
    if framed is None:
        return _is_fail_form(plain, turned)
    false, statement = framed
    again = _frame(plain)
    if again is not None:
        return false and not again[0] and _words(statement) == _words(again[1])
    said = _words(statement)
    for place in _asking(plain):
        auxiliary, rest = plain[place], _words(plain[:place] + plain[place + 1 :])
        lead = len(_words(plain[:place]))
        for at in range(lead + 1, len(said)):
            if said[at] != auxiliary:
                continue
            if false and said[:at] + said[at + 1 :] == rest:
                return True
            negated = said[at + 1 : at + 2] == ("not",) and said[:at] + said[at + 2 :] == rest
            if not false and negated and auxiliary not in _MODALS and not _SCOPE & set(rest):
                return True
        if false and auxiliary in _DO and _inflected(rest, said):
            return True
    return False


def _is_fail_form(plain: _Tokens, turned: _Tokens) -> bool:
    """*AUX S R* and *AUX S fail to R*, where S is a plain name or noun and nothing in R is joined."""
    for place in _asking(turned):
        behind = turned[place + 1 :]
        if turned[place] not in _DO or "fail" not in behind:
            continue
        at = behind.index("fail")
        subject, rest = behind[:at], behind[at + 2 :]
        simple = 0 < at <= _LONGEST_SUBJECT and not (_CLAUSE | _SCOPE | _MARKS) & set(subject)
        if behind[at + 1 : at + 2] != ("to",) or not simple or _SCOPE & set(rest):
            continue
        if _words(plain) == _words(turned[: place + 1] + subject + rest):
            return True
    return False


def _frame(tokens: _Tokens) -> tuple[bool, _Tokens] | None:
    """Whether the sentence asks if a statement is false, and the statement with what leads to it; None if it asks
    otherwise. The frame opens the sentence, or follows a comma."""
    for place in range(len(tokens) - 4):
        if place and tokens[place - 1] not in _MARKS:
            continue
        if tokens[place : place + 2] != ("is", "it"):
            continue
        behind = tokens[place + 2 :]
        if behind[0] in _FALSE | _TRUE and behind[1] == "that":
            return behind[0] in _FALSE, tokens[:place] + behind[2:]
        if behind[:3] == ("the", "case", "that"):
            return False, tokens[:place] + behind[3:]
    return None


def _asking(tokens: _Tokens) -> Iterator[int]:
    """Where the auxiliary that asks may stand: at the beginning, or behind a comma."""
    return (
        place
        for place, token in enumerate(tokens)
        if token in AUXILIARIES and (place == 0 or tokens[place - 1] in _MARKS)
    )


def _inflected(rest: Sequence[str], said: Sequence[str]) -> bool:
    """Whether both are the same but for one verb, which carries the ending that *did* or *does* took away."""
    if len(rest) != len(said):
        return False
    changed = [(before, after) for before, after in zip(rest, said, strict=True) if before != after]
    return len(changed) == 1 and _is_form_of(*changed[0])


def _is_form_of(verb: str, form: str) -> bool:
    for ending in _ENDINGS:
        stem = form.removesuffix(ending)
        if form.endswith(ending) and len(stem) > 1:
            doubled = stem[-1] == stem[-2] and verb == stem[:-1]
            if verb == stem or doubled or (ending in ("ied", "ies") and verb == f"{stem}y"):
                return True
    return False


def _words(tokens: Sequence[str]) -> _Tokens:
    return tuple(token for token in tokens if token not in _MARKS)


def _tokens(text: str) -> _Tokens:
    plain = re.sub(r"n[’']t\b", " not", text.lower())
    return tuple(_TOKEN.findall(plain))
