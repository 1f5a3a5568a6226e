"""Text that others wrote, as a reader can be shown it: in a terminal, on a page."""

import re

# Control characters, and those that make a browser show text in another order than it runs in.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with characters that a reader could not see written as escapes; a program shows what it runs."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text.replace("\r\n", "\n"))
