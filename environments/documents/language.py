"""Whether a text is English, by the small words that every language has plenty of."""

import re
from collections import Counter
from collections.abc import Mapping

_SMALL: Mapping[str, str] = {
    "English": "the of and to in a is that for by on with or be as shall must not this which",
    "German": "der die das und ist nicht von den mit des dem ein eine auf für im sich als auch werden",
    "French": "le la les des du et est dans que pour une un au aux par sur qui ne pas ou",
    "Spanish": "el la los las del y es en que para una un por con se su al no o lo",
    "Italian": "il la i gli delle di e è in che per una un con del della al non o si",
    "Dutch": "de het een en van is in dat voor met op te niet aan door zijn of bij worden als",
    "Polish": "i w na z do nie się jest o że oraz przez dla lub ust art od po za jako",
}
_ENOUGH = 40
_SHARE = 0.12


def other_language(text: str) -> str | None:
    """The language that the text seems to be in if it is not English; None for English and for what is too short to
    tell. *An unknown language* if its small words are none that are known here."""
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", text[:200_000])]
    if len(words) < _ENOUGH:
        return None
    counts = Counter[str]()
    for language, words_of_it in _SMALL.items():
        small = frozenset(words_of_it.split())
        counts[language] = sum(word in small for word in words)
    nearest, count = counts.most_common(1)[0]
    if counts["English"] >= _SHARE * len(words) and counts["English"] * 1.2 >= count:
        return None
    return nearest if count >= _SHARE * len(words) and nearest != "English" else "an unknown language"
