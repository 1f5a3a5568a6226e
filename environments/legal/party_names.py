"""The name that a case is about, and the same case under another name."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lawtrace.environments.legal.case import Case, Chunk, Question

_COMMON = frozenset(
    re.findall(
        r"\w+",
        "Article Articles Regulation Regulations Section Commissioner Information The In It On This That These A An If "
        "For From During Further Following However As At By He She They Data Protection Act UK GDPR DPA PECR January "
        "February March April May June July August September October November December Did Does Was Is Were Which What "
        "According Given When Who How Has Have Can Should Could Under Regarding ICO Yes No Controller Processor "
        "Personal Subject Supervisory Authority Special Category Filing System Text",
    )
)
_NAME = re.compile(r"\b[A-Z][\w’-]*(?: [A-Z][\w’-]*)*")
_INVENTED = (
    "Alder Grove",
    "Brindle Mere",
    "Cawdor Quay",
    "Dunmarsh",
    "Eskhaven",
    "Fennick Vale",
    "Garrowby",
    "Hollin Reach",
)


@dataclass(frozen=True, slots=True)
class Renaming:
    """Names that give way to a new one: the main name of a case, and its first words where the case uses them alone."""

    old: tuple[str, ...]
    new: str


def choose_renaming(case: Case, seed: int) -> Renaming | None:
    """The main name of the case's questions under another name; None if it has no name."""
    questions = [question.text for question in case.questions]
    texts = questions + [chunk.text for chunk in case.chunks]
    name = main_name(questions)
    if name is None:
        return None
    words = name.split()
    shorter = (" ".join(words[:count]) for count in range(len(words) - 1, 0, -1))
    return Renaming((name, *(short for short in shorter if _is_name(short, texts))), invent_name(texts, seed))


def _is_name(words: str, texts: Iterable[str]) -> bool:
    """Whether the words are a name by themselves: they occur with no further name behind them, and a word that is also
    written small is none (*First* of *First Direct*)."""
    alone, small = re.compile(_standalone_pattern(words)), re.compile(rf"(?<!\w){re.escape(words.lower())}(?!\w)")
    texts = [*texts]
    return any(map(alone.search, texts)) and not any(map(small.search, texts))


def main_name(texts: Iterable[str]) -> str | None:
    """The name that occurs most; of equals the longer one, then the first by letter. None if there is no name."""
    found = Counter[str]()
    for text in texts:
        for match in _NAME.finditer(text):
            words = [re.sub(r"[’']s$", "", word) for word in match[0].split()]
            while words and words[0] in _COMMON:
                words.pop(0)
            while words and words[-1] in _COMMON:
                words.pop()
            name = " ".join(words)
            if len(name) > 2:
                found[name] += 1
    return max(sorted(found), key=lambda name: (found[name], len(name)), default=None)


def invent_name(texts: Sequence[str], seed: int) -> str:
    """A name that none of the texts holds; the same seed invents the same one."""
    free = [name for name in _INVENTED if not any(name in text for text in texts)]
    return random.Random(seed).choice(free or ["Zebulon Zee"])


def rename_question(question: Question, renaming: Renaming) -> Question:
    """The question about somebody of another name; its answer stays."""
    options = {choice: _rename(option, renaming) for choice, option in question.options.items()}
    return question.model_copy(update={"text": _rename(question.text, renaming), "options": options})


def rename_chunk(chunk: Chunk, renaming: Renaming) -> Chunk:
    return chunk.model_copy(update={"text": _rename(chunk.text, renaming)})


def _rename(text: str, renaming: Renaming) -> str:
    name, *shorter = renaming.old
    for pattern in (rf"(?<!\w){re.escape(name)}(?!\w)", *map(_standalone_pattern, shorter)):
        text = re.sub(pattern, lambda _: renaming.new, text)
    return text


def _standalone_pattern(words: str) -> str:
    return rf"(?<!\w){re.escape(words)}(?!\w)(?! [A-Z])"
