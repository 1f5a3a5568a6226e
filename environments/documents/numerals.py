"""Roman numerals, as lists are numbered with them."""

_NUMERALS = (
    *((100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def roman_numeral(number: int) -> str:
    """In small letters; empty for what is less than 1."""
    text = ""
    for value, letters in _NUMERALS:
        while number >= value:
            text, number = text + letters, number - value
    return text
