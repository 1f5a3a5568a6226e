"""Checks of written questions by code: language, topic, one right option, no answer in the question.

They know no grammar, so they refuse more than they must: ten good questions are better than forty. The whole decision
is read, since an option may be right by another paragraph than the one that a question was written from.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.environments.legal.retrieval.tokenizer import tokenize

QUOTE_LENGTH = 12
"""Number of consecutive words of a finding that count as a quote."""

LEAST_KNOWN = 0.6
"""Share of the telling words of a question that the decision must contain."""

MOST_LENGTH = 2.0
"""Words of the right option over the mean of the others."""

MOST_LEAK = 0.5
"""Share of the words of the right option in the question, beyond that of any other option."""

_POINTS_AT_TEXT = re.compile(
    r"\b(?:the|this|these) (?:text|passage|paragraphs?|excerpt|document|notice|reprimand|section)\b"
    r"|\b(?:above|aforementioned|as stated|mentioned (?:earlier|before))\b",
    re.IGNORECASE,
)
_UNNAMED_PARTY = re.compile(
    r"\bthe (?:data )?(?P<noun>controller|processor|company|organi[sz]ation|firm|charity|council|party|respondent"
    r"|business|defendant|entity)\b"
)
_UNNAMED_LAW = re.compile(
    r"\bthe (?:relevant |applicable )?(?:regulation|provision|article|law|rule|act|legislation)s?\b(?! \d| of\b)"
)
_CLAUSE = re.compile(
    r"\b(?:found|held|true|false|correct|right|decided|concluded|considered|so|said) that (?P<rest>.*)$", re.I
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|do|does|did|has|have|had|can|could|should|would|must|may|might|will|cannot|failed|kept"
    r"|sent|took|made|lost|left|told|knew|held|became|gave|put|let|set|met|wrote|ran|began|found|brought|chose|fell)\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"(?P<before>[\w’']+)\s+(?P<verb>[a-z]{2,}ed)\b")
_DETERMINER = re.compile(
    r"^(?:a|an|the|its|their|his|her|no|any|such|this|that|of|in|with|by|for)$|[’']s?$", re.IGNORECASE
)
_UNFINISHED = re.compile(
    r"\b(?:a|an|and|as|at|because|but|by|for|from|in|its|of|on|or|that|the|their|to|under|when|whether|which|with)$",
    re.I,
)
_FIRST_PERSON = re.compile(
    r"(?<![(\w])(?:I|i|we|We|my|My|our|Our|me|us)(?![)\w.’'-])|(?<!\w)[Ii](?:’|')(?:m|ve|d|ll)\b|(?<!\w)i\b(?!\))"
)
_NUMBER = r"\d+[A-Z]?(?: ?\(\w+\))*"
_PROVISIONS = re.compile(
    rf"\b(?P<kind>article|section|regulation|recital)s? (?P<numbers>{_NUMBER}(?:(?:,? and |,? or |, | to ){_NUMBER})*)",
    re.IGNORECASE,
)
_INFRINGED = re.compile(r"\b(?:infring|contraven|breach|violat|not compl|failed to comply)\w*", re.IGNORECASE)
_FOUND = re.compile(
    r"\b(?:infring|contraven|breach|violat)\w*(?: of)?|\bfail(?:ed|ure)s? to comply with|\bnot compl\w+ with",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:a|any|the) (?:person|controller|processor|undertaking)\b|\bshall\b|\badherence\b", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:not|no|neither|nor|whether|if|may|might|alleged\w*|denie\w+|without)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.;?!])\s+(?=[A-Z(])")
_COMMON = frozenset(
    word
    for line in (
        "which what when where whose that this these those with from into under over about there their they have been",
        "were does because would could should must being also than then such other another find found finding findings",
        "following question true false correct decide decided conclude concluded commissioner infringe infringed",
        "infringement contravene contravened breach breached article articles section regulation regulations",
    )
    for word in line.split()
)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as the checks read it."""

    text: str
    options: Mapping[str, str]
    answer: str


class DecisionText:
    """The words, names, provisions and findings of a decision, to check questions against."""

    def __init__(self, paragraphs: Sequence[str]) -> None:
        self.sentences = [sentence for text in paragraphs for sentence in _SENTENCE.split(text)]
        self._stems = {stem for text in paragraphs for stem in _stems(text)}
        self.provisions = {name for text in paragraphs for name in provisions_in(text)}
        self.infringed = {
            name
            for sentence in self.sentences
            if (found := _FOUND.search(sentence)) and not (_NEGATED.search(sentence) or _GENERAL.search(sentence))
            for name in provisions_in(sentence[found.end() :])
        }

    def known(self, stems: Sequence[str]) -> float:
        return sum(stem in self._stems for stem in stems) / len(stems) if stems else 1.0

    def support(self, words: set[str], question: set[str]) -> float:
        """The most words of a question that a sentence has which holds all words of an option."""
        found = [
            len(question & said) / len(question)
            for sentence in self.sentences
            if not _NEGATED.search(sentence) and words <= (said := set(_stems(sentence)))
        ]
        return max(found, default=0.0) if question else 0.0


def find_question_fault(asked: AskedQuestion, decision: DecisionText) -> str | None:
    """Why a question is not asked; None if no check objects to it."""
    return (
        _find_pointer(asked.text)
        or _find_language_fault(asked.text.strip())
        or _find_giveaway(asked)
        or _find_topic_fault(asked, decision)
        or _find_second_answer(asked, decision)
    )


def _find_language_fault(text: str) -> str | None:
    if not text.endswith("?"):
        return "it does not end in a question mark"
    last = _SENTENCE.split(text)[-1].rstrip("? ")
    if _UNFINISHED.search(last):
        return "it breaks off"
    clause = _CLAUSE.search(last)
    if clause and not _has_verb(clause["rest"]):
        return f"it has no verb after {clause[0].removesuffix(clause['rest']).strip()!r}"
    person = _FIRST_PERSON.search(text)
    if person:
        return f"it speaks in the first person: {person[0]!r}"
    return None


def _has_verb(clause: str) -> bool:
    if _VERB.search(clause):
        return True
    return any(not _DETERMINER.search(found["before"]) for found in _PAST.finditer(clause))


def _find_pointer(text: str) -> str | None:
    pointer = _POINTS_AT_TEXT.search(text)
    if pointer:
        return f"it cannot be understood alone: {pointer[0]!r}"
    nameless = _UNNAMED_PARTY.search(text)
    if nameless and not re.search(rf"\b[Aa]n? (?:[\w-]+ ){{0,3}}{nameless['noun']}\b", text[: nameless.start()]):
        return f"it says {nameless[0]!r} in place of a name"
    lawless = _UNNAMED_LAW.search(text)
    if lawless:
        return f"it says {lawless[0]!r} in place of a name"
    return None


def _find_topic_fault(asked: AskedQuestion, decision: DecisionText) -> str | None:
    stems = _stems(asked.text)
    if decision.known(stems) < LEAST_KNOWN:
        return "the decision does not speak of it"
    unknown = [name for name in provisions_in(asked.text) if not _mentioned(name, decision.provisions)]
    if unknown:
        return f"the decision does not mention {unknown[0]}"
    return None


def _find_giveaway(asked: AskedQuestion) -> str | None:
    said = f" {' '.join(tokenize(asked.text))} "
    if len(asked.options) == len({"yes", "no"}):
        return None
    named = [key for key, option in asked.options.items() if f" {' '.join(tokenize(option))} " in said]
    if named == [asked.answer]:
        return "the right option occurs in the question, and no other option does"
    words = set(_stems(asked.text))
    shares = {key: _share(set(_stems(option)), words) for key, option in asked.options.items()}
    if shares[asked.answer] - max(share for key, share in shares.items() if key != asked.answer) >= MOST_LEAK:
        return "the words of the right option are in the question, those of the others are not"
    lengths = {key: len(tokenize(option)) for key, option in asked.options.items()}
    others = fmean(length for key, length in lengths.items() if key != asked.answer)
    if lengths[asked.answer] > MOST_LENGTH * others + 1:
        return "the right option is much longer than the others"
    return None


def _share(words: set[str], of: set[str]) -> float:
    return len(words & of) / len(words) if words else 0.0


def _find_second_answer(asked: AskedQuestion, decision: DecisionText) -> str | None:
    """Another option that the decision supports as it supports the right one."""
    if len(asked.options) == len({"yes", "no"}):
        return None
    wrong = {key: option for key, option in asked.options.items() if key != asked.answer}
    if _INFRINGED.search(asked.text):
        for key, option in wrong.items():
            names = provisions_in(option)
            if names and all(_mentioned(name, decision.infringed) for name in names):
                return f"option {key} is right, too: the decision finds that {names[0]} was infringed"
    question = set(_stems(asked.text))
    right = decision.support(set(_stems(asked.options[asked.answer])), question)
    for key, option in wrong.items():
        words = set(_stems(option))
        if (
            words
            and not provisions_in(option)
            and right <= (found := decision.support(words, question))
            and found >= 0.5
        ):
            return f"option {key} may be right, too: a sentence of the decision has its words and those of the question"
    return None


def provisions_in(text: str) -> list[str]:
    """The provisions that a text names, each alone: *article 32(1)*, *article 33*."""
    found: list[str] = []
    for match in _PROVISIONS.finditer(text):
        kind = match["kind"].casefold()
        found += [f"{kind} {number.replace(' ', '')}".casefold() for number in re.findall(_NUMBER, match["numbers"])]
    return found


def named_provisions(text: str) -> list[str]:
    """The provisions that a text names, as it writes them, each alone: *Article 32(1)*, *Regulation 22*."""
    return [
        f"{match['kind'].capitalize().removesuffix('s')} {number.replace(' ', '')}"
        for match in _PROVISIONS.finditer(text)
        for number in re.findall(_NUMBER, match["numbers"])
    ]


def _mentioned(name: str, provisions: set[str]) -> bool:
    """Whether a provision, a part of it, or what it is a part of is among these."""
    return any(name == other or name.startswith(f"{other}(") or other.startswith(f"{name}(") for other in provisions)


def _stems(text: str) -> list[str]:
    """The beginnings of the telling words."""
    return [word[:6] for word in tokenize(text) if len(word) > 3 and word not in _COMMON and not word.isdigit()]


def find_quote(texts: Iterator[str], finding: str) -> str | None:
    """The first words of a quote of the finding in one of the texts."""
    said = f" {' '.join(tokenize(finding))} "
    for text in texts:
        words = tokenize(text)
        for start in range(len(words) - QUOTE_LENGTH + 1):
            if f" {' '.join(words[start : start + QUOTE_LENGTH])} " in said:
                return " ".join(words[start : start + 6])
    return None
