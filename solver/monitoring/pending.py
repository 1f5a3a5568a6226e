"""Truth values that the future decides, and their negations, conjunctions and disjunctions.

A pending value tells its listeners when it is decided, when its value at the end of the trace changes, and when another
pending value takes its place because both will always be equal. So what is known about many open values costs nothing
at a step that does not concern them, and equal ones are kept once.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar, Protocol

from lawtrace.solver.monitoring.undo import Track, untracked


class Listener(Protocol):
    """What depends on a pending value."""

    def resolved(self, part: "Pending", value: bool) -> None: ...

    def ending_changed(self, part: "Pending") -> None: ...

    def replaced(self, part: "Pending", other: "Pending") -> None: ...


class Pending:
    """A truth value that the future decides.

    Attributes:
        value: None until it is decided.
        ending: the value if the trace ends now, and everything is decided then.
        successor: the pending value that has taken its place.
        inverse: its negation, if there is one.
        junctions: the junctions of which it is the first part.
    """

    __slots__ = ("ending", "inverse", "junctions", "listeners", "successor", "value")
    track: ClassVar[Track] = staticmethod(untracked)

    def __init__(self, ending: bool = False) -> None:
        self.value: bool | None = None
        self.ending = ending
        self.listeners: dict[Listener, None] = {}
        self.successor: Pending | None = None
        self.inverse: _Negation | None = None
        self.junctions: dict[tuple[bool, tuple[Pending, ...]], _Junction] | None = None

    def resolve(self, value: bool) -> None:
        if self.value is None:
            self.end_with(value)
            self.value = value
            listeners, self.listeners = self.listeners, {}
            for listener in listeners:
                listener.resolved(self, value)

    def end_with(self, ending: bool) -> None:
        """Change the value at the end of the trace."""
        if ending is not self.ending and self.value is None:
            self.ending = ending
            for listener in list(self.listeners):
                listener.ending_changed(self)

    def forward(self, other: "Pending") -> None:
        """Let another pending value take its place. The two must be equal from now on."""
        self.successor = other
        listeners, self.listeners = self.listeners, {}
        for listener in listeners:
            listener.replaced(self, other)

    def at_end(self, end: int | None) -> bool | None:
        """The value if the trace ends now.

        `end`: duties whose deadline is not before this time are undecided (None); None decides everything.
        """
        raise NotImplementedError

    def fingerprint(self) -> Hashable:
        """Equal for pending values of one rule that the same continuations decide in the same way."""
        raise NotImplementedError


Status = bool | Pending


class _Negation(Pending):
    __slots__ = ("operand",)

    def __init__(self, operand: Pending) -> None:
        super().__init__(not operand.ending)
        self.operand = operand
        operand.listeners[self] = None

    def resolved(self, part: Pending, value: bool) -> None:
        self.resolve(not value)

    def ending_changed(self, part: Pending) -> None:
        self.end_with(not part.ending)

    def replaced(self, part: Pending, other: Pending) -> None:
        if other.inverse is None:
            other.inverse = self
            self.operand = other
            other.listeners[self] = None
            self.end_with(not other.ending)
        else:
            self.forward(other.inverse)

    def at_end(self, end: int | None) -> bool | None:
        if self.value is not None:
            return self.value
        value = self.operand.at_end(end)
        return None if value is None else not value

    def fingerprint(self) -> Hashable:
        return "!", self.operand.fingerprint()


class _Junction(Pending):
    """A conjunction (`absorbing` is False) or a disjunction (True) of pending values."""

    __slots__ = ("absorbing", "first", "parts")

    def __init__(self, absorbing: bool, parts: tuple[Pending, ...]) -> None:
        self.absorbing = absorbing
        self.parts = dict.fromkeys(parts)
        super().__init__(self._ending())
        for part in parts:
            part.listeners[self] = None
        self.first: tuple[Pending, tuple[Pending, ...]] | None = (parts[0], parts)
        """Where `junction` finds it."""

    def _ending(self) -> bool:
        absorbing = self.absorbing
        return absorbing if any(part.ending is absorbing for part in self.parts) else not absorbing

    def resolved(self, part: Pending, value: bool) -> None:
        self._change()
        self.parts.pop(part, None)
        if value == self.absorbing:
            for other in self.parts:
                other.listeners.pop(self, None)
            self.resolve(value)
        else:
            self._reduce()

    def ending_changed(self, part: Pending) -> None:
        self.end_with(self._ending())

    def replaced(self, part: Pending, other: Pending) -> None:
        self._change()
        self.parts.pop(part, None)
        self.parts[other] = None
        other.listeners[self] = None
        self._reduce()

    def _change(self) -> None:
        """Its parts are no longer those that it was made of."""
        if self.first is not None:
            part, parts = self.first
            self.first = None
            if part.junctions is not None:
                part.junctions.pop((self.absorbing, parts), None)

    def _reduce(self) -> None:
        """Let the last part that is open take the place of the whole."""
        if self.value is not None:
            return
        if not self.parts:
            self.resolve(not self.absorbing)
            return
        self.end_with(self._ending())
        if len(self.parts) == 1:
            (last,) = self.parts
            last.listeners.pop(self, None)
            self.forward(last)

    def at_end(self, end: int | None) -> bool | None:
        if self.value is not None:
            return self.value
        return junction_at_end(self.absorbing, list(self.parts), end)

    def fingerprint(self) -> Hashable:
        return self.absorbing, fingerprints(self.parts)


def junction_at_end(absorbing: bool, parts: Sequence[Pending], end: int | None) -> bool | None:
    """The value of the junction of pending values if the trace ends now, see `Pending.at_end`."""
    open_or_not = map(current, parts)
    values = [part.at_end(end) if isinstance(part, Pending) else part for part in open_or_not]
    return absorbing if absorbing in values else None if None in values else not absorbing


def junction(absorbing: bool, parts: Sequence[Status]) -> Status:
    """The disjunction (`absorbing` True) or conjunction (False) of statuses."""
    pending: dict[Pending, None] = {}
    for part in parts:
        status = current(part)
        if isinstance(status, Pending):
            pending[status] = None
        elif status is absorbing:
            return absorbing
    if not pending:
        return not absorbing
    first = next(iter(pending))
    if len(pending) == 1:
        return first
    if first.junctions is None:
        first.junctions = {}
    key = (absorbing, tuple(pending))
    if key not in first.junctions:
        first.junctions[key] = first.track(_Junction)(*key)
    return first.junctions[key]


def fingerprints(parts: Iterable[Status]) -> Hashable:
    """The fingerprints of statuses, in any order."""
    statuses = map(current, parts)
    return frozenset(part.fingerprint() if isinstance(part, Pending) else part for part in statuses)


def negation(status: Status) -> Status:
    """The negation of a status."""
    status = current(status)
    if not isinstance(status, Pending):
        return not status
    if status.inverse is None:
        status.inverse = status.track(_Negation)(status)
    return status.inverse


def current(status: Status) -> Status:
    """The value if it is decided, else the pending value that stands for it."""
    while isinstance(status, Pending):
        if status.value is not None:
            return status.value
        if status.successor is None:
            return status
        status = status.successor
    return status
