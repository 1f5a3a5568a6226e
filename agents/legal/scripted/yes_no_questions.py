"""The question writer without a model: what the findings say, sentence by sentence, turned into questions by pattern.

A finding is a clause behind *the Commissioner finds that*, or a sentence that says something outright. Half of the
questions turn its polarity where that is safe, so that the answers are not all Yes.
`lawtrace.agents.legal.scripted.option_questions` adds four-option questions.
"""

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from lawtrace.agents.legal.scripted.option_questions import four_options
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.legal.party_names import main_name
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

_MOST_WORDS = 16
_LEAST_WORDS = 4
_QUOTE = 12
"""So many words of the finding in a row would be a quote."""

_SENTENCE = re.compile(r"(?<=[.;])\s*(?=[A-Z])")
_LEAD = re.compile(
    r"^(?:(?:accordingly|furthermore|further|however|again|overall|firstly|secondly|therefore|specifically|in addition"
    r"|in this (?:instance|sense)|in (?:all )?the circumstances|for (?:the|these) (?:above )?reasons?|for this reason"
    r"|from the evidence[^,]*|after [^,]+|whilst [^,]+), )+(?:that )?",
    re.IGNORECASE,
)
_SAYS_THAT = re.compile(
    r"\b(?:Commissioner|Office|Authority|he|she) (?:(?:also|further|therefore|accordingly) )?(?:does (?P<not>not) )?"
    r"(?:finds?|(?:is|was) (?:(?:also|further|therefore) )?(?:satisfied|assured)|considers?|concludes?)"
    r"(?: from [\w ]+?)? that (?P<clause>.+)",
)
_PLAIN_THAT = re.compile(
    r"\b(?:it is (?:therefore )?(?:clear|considered|reasonable to suppose|likely(?: therefore)?)|it is the case) that "
    r"(?P<clause>.+)",
    re.IGNORECASE,
)
_NO_EVIDENCE = re.compile(r"\bthere (?:is|was) no evidence that (?P<clause>.+)", re.IGNORECASE)
_ONLY_AFTER = re.compile(r"^only after (?P<event>[\w ]+?) did (?P<clause>.+)", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    r"^(?:it|he|she|they|there|this (?!case|incident)|these|those|that|such|some|the (?:commissioner|latter|above)|in"
    r"|on|at|by|if|as|when|while|whilst|after|before|for|given|having|only|taking|reasonable|ico)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(r"\b(?:consider|observe|likely|appear|suppose|concern|would|possib|no evidence)", re.IGNORECASE)
_BREAK = re.compile(
    r"[,;:.–](?!\d)|\((?!\w\))| (?:which|who|where|as|when|because|given (?:that|the)|since|having|due to|so that"
    r"|further|furthermore|not least|in order|and|nor|that (?:would|has|have|is|was|were))\b"
)
_PREPOSITIONS = frozenset(re.findall(r"\w+", "in at for by under within from with of regarding prior"))
_UNFINISHED = frozenset(
    re.findall(
        r"\w+",
        "a an and any at be been by for from had has have her his in inherent is it its known no of on or our prior "
        "reasonably that the their this to upon was were with",
    )
)
_NEEDS_MORE = frozenset({"aware", "kind", "lack", "number", "requirements", "sum", "use"})
_POINTS = re.compile(
    r"\b(?:above|below|these|those|this(?! (?:kind|area))|such|they|he|she|you|paragraph|notice)\b", re.IGNORECASE
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|had|have|did|can|cannot|could|should|would|knew|met|sent|held|made|took|gave|set|appeared"
    r"|\w{3,}ed)\b"
)
_POSITIVE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\b(?:has |had )?failed to ", "did "),
        (r"\bdid not ", "did "),
        (r"\bcannot\b", "can"),
        (r"\bcould not\b", "could"),
        (r"\bis unable to\b", "is able to"),
        (r"\b(was|were|is|are|has|had|would|should) not\b", r"\1"),
    )
)
"""The first negation of a clause, and what the clause says without it."""

_NEGATED = re.compile(r"\b(is|are|was|were|can|should) (?!not\b|able\b)(?=\w)")
_DIRECT = re.compile(r"(?P<who>.+?) (?:contravened|infringed|breached) (?P<what>.+)")


def write_questions(messages: Sequence[LLMMessage]) -> str:
    paragraphs: list[dict[str, str]] = labelled_json(messages, "paragraphs")
    party = _party([paragraph["text"] for paragraph in paragraphs])
    questions: list[Mapping[str, Any]] = []
    for paragraph in paragraphs:
        sentences = _SENTENCE.split(paragraph["text"])
        for sentence in sentences if party else ():
            questions += _yes_or_no(paragraph["paragraph"], sentence, party)
            questions += four_options(paragraph["paragraph"], sentence, party, paragraphs)
    return json.dumps({"questions": questions}, ensure_ascii=False)


def _party(texts: Sequence[str]) -> str:
    """Whom the findings are about, as they call it: *Tempcover*, *the Council*."""
    name = main_name(texts) or ""
    together = " ".join(texts)
    return f"the {name}" if name and f"the {name}" in together else name


def _yes_or_no(ref: str, sentence: str, party: str) -> Iterator[Mapping[str, Any]]:
    for form, clause, holds in _clauses(sentence.strip(), party):
        question, answer = _asked(form, clause, holds, sentence, party)
        if question:
            yield {
                "paragraphs": [ref],
                "whether_contains_decision": not _OPINION.search(sentence),
                "question": question,
                "options": {"Yes": "Yes", "No": "No"},
                "correct_answer": "Yes" if answer else "No",
            }


def _asked(form: str, clause: str, holds: bool, sentence: str, party: str) -> tuple[str, bool]:
    """The question and whether Yes answers it: the longest form that is no quote; an empty one if there is none."""
    turn = zlib.crc32(sentence.encode()) % 2 == 1
    for said in _beginnings(clause):
        if _POINTS.search(said) or (form == _FOUND and not _VERB.search(said)):
            continue
        turned = _turned(said) if turn and form == _FOUND else None
        direct = _DIRECT.fullmatch(said)
        if direct and direct["who"] == party:
            question = f"Did {party} infringe {direct['what']}?"
        else:
            question = form.format(turned or said)
        if not _quotes(question, sentence):
            return question, holds if turned is None else not holds
    return "", holds


_FOUND = "Was it found that {}?"


def _clauses(sentence: str, party: str) -> Iterator[tuple[str, str, bool]]:
    """How to ask for what a sentence finds, the clause, and whether it is found to be so."""
    plain = _LEAD.sub("", sentence)
    found = _SAYS_THAT.search(plain)
    if found:
        yield _FOUND, _named(found["clause"], party), found["not"] is None
        return
    without = _NO_EVIDENCE.search(plain)
    if without:
        yield "Was evidence found that {}?", _named(without["clause"], party), False
        return
    late = _ONLY_AFTER.search(plain)
    if late:
        event = _named(late["event"], party)
        yield f"Did {{}} before {event}?", _named(late["clause"], party), False
        return
    behind = _PLAIN_THAT.search(plain)
    if behind:
        yield _FOUND, _named(behind["clause"], party), True
    elif not _NO_SUBJECT.match(plain):
        yield _FOUND, _named(_uncapitalised(plain, party), party), True


def _uncapitalised(text: str, party: str) -> str:
    return text if text.startswith(party) else text[:1].lower() + text[1:]


def _named(clause: str, party: str) -> str:
    """The clause with the party in place of *it* where the clause begins, and with what points elsewhere left out."""
    clause = re.sub(r"[“”‘]|’(?!s\b)", "", re.sub(r"^whilst [^,]+, ", "", clause, flags=re.IGNORECASE))
    clause = re.sub(r" (?:identified (?:above|below)|concerned|therefore|in this instance)(?= |[.,])", "", clause)
    clause = re.sub(r"\bthis (?=incident|breach|contravention|case)", "the ", clause)
    clause = re.sub(r"^the contravention (?=was |is )", f"the contravention by {party} ", clause)
    return re.sub(r"^it (?=[a-z])", f"{party} ", clause)


def _turned(clause: str) -> str | None:
    """The clause without its first negation, or with one where it has none; None where neither is safe."""
    found = [(match.start(), pattern, instead) for pattern, instead in _POSITIVE if (match := pattern.search(clause))]
    if found:
        _, pattern, instead = min(found, key=lambda candidate: candidate[0])
        return pattern.sub(instead, clause, count=1)
    verbs = _NEGATED.findall(clause)
    return _NEGATED.sub(r"\1 not ", clause) if len(verbs) == 1 and " that " not in clause else None


def _quotes(question: str, sentence: str) -> bool:
    said, words = f" {' '.join(tokenize(sentence))} ", tokenize(question)
    return any(f" {' '.join(words[start : start + _QUOTE])} " in said for start in range(len(words) - _QUOTE + 1))


def _beginnings(text: str) -> Iterator[str]:
    """The clause up to its first natural end, and shorter, up to each preposition; longest first."""
    words = _BREAK.split(text, maxsplit=1)[0].split()
    cuts = (place for place in range(len(words) - 1, 0, -1) if words[place] in _PREPOSITIONS)
    ends = [len(words), *(cut for cut in cuts if words[cut - 1] not in _NEEDS_MORE)]
    for end in ends:
        kept = words[:end]
        while kept and kept[-1].lower() in _UNFINISHED:
            kept.pop()
        if _LEAST_WORDS <= len(kept) <= _MOST_WORDS:
            yield " ".join(kept).strip(" .’'”\"")
