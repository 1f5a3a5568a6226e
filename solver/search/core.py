"""Minimal cores: of some parts that exclude every trace together, or that a trace consists of, as few as do."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Part = TypeVar("Part")


def minimal_core(parts: Iterable[Part], excludes: Callable[[Part, Sequence[Part]], bool]) -> tuple[Part, ...]:
    """A minimal part that still excludes every trace, by deletion: a part is left out if the rest does without it.

    Args:
        parts: exclude every trace together, in the order in which they are tried.
        excludes: told a part and the rest, whether the rest excludes every trace, as far as that can be decided.
    """
    core = list(parts)
    for part in tuple(core):
        rest = [other for other in core if other is not part]
        if excludes(part, rest):
            core = rest
    return tuple(core)


def without_needless(items: Sequence[Part], suffice: Callable[[Sequence[Part]], bool]) -> tuple[Part, ...]:
    """Some items without those that are not needed, as far as is decided; the last ones are left out first."""
    places = minimal_core(
        reversed(range(len(items))), lambda _, rest: suffice([items[place] for place in reversed(rest)])
    )
    return tuple(items[place] for place in reversed(places))
