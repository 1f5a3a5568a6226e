"""The name that a case is about, and the same case under another name."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from environments.casebook.case import Chunk, Question

__all__ = ["invent_name", "main_name", "rename_chunk", "rename_question"]

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


def rename_question(question: Question, old: str, new: str) -> Question:
    """The question about somebody of another name; its answer stays."""
    options = {choice: _rename(option, old, new) for choice, option in question.options.items()}
    return question.model_copy(update={"text": _rename(question.text, old, new), "options": options})


def rename_chunk(chunk: Chunk, old: str, new: str) -> Chunk:
    return chunk.model_copy(update={"text": _rename(chunk.text, old, new)})


def _rename(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)
