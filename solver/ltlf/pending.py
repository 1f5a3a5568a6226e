"""Truth values that the future decides, and their negations, conjunctions and disjunctions."""

from collections.abc import Callable, Sequence


class Pending:
    """A truth value that the future decides."""

    __slots__ = ("listeners", "value")

    def __init__(self) -> None:
        self.value: bool | None = None
        self.listeners: list[Callable[[bool], None]] = []

    def resolve(self, value: bool) -> None:
        if self.value is None:
            self.value = value
            listeners, self.listeners = self.listeners, []
            for listener in listeners:
                listener(value)

    def at_end(self, end: int | None) -> bool | None:
        """The value if the trace ends now.

        `end`: duties whose deadline is not before this time are undecided (None); None decides everything.
        """
        raise NotImplementedError


Status = bool | Pending


class _Negation(Pending):
    __slots__ = ("operand",)

    def __init__(self, operand: Pending) -> None:
        super().__init__()
        self.operand = operand
        operand.listeners.append(lambda value: self.resolve(not value))

    def at_end(self, end: int | None) -> bool | None:
        if self.value is not None:
            return self.value
        value = self.operand.at_end(end)
        return None if value is None else not value


class _Junction(Pending):
    """A conjunction (`absorbing` is False) or a disjunction (True) of pending values."""

    __slots__ = ("absorbing", "parts", "waiting")

    def __init__(self, absorbing: bool, parts: Sequence[Pending]) -> None:
        super().__init__()
        self.absorbing = absorbing
        self.parts = parts
        self.waiting = len(parts)
        for part in parts:
            part.listeners.append(self._hear)

    def _hear(self, value: bool) -> None:
        self.waiting -= 1
        if value == self.absorbing:
            self.resolve(value)
        elif not self.waiting:
            self.resolve(not self.absorbing)

    def at_end(self, end: int | None) -> bool | None:
        if self.value is not None:
            return self.value
        return junction_at_end(self.absorbing, self.parts, end)


def junction_at_end(absorbing: bool, parts: Sequence[Pending], end: int | None) -> bool | None:
    """The value of the junction of pending values if the trace ends now, see `Pending.at_end`."""
    values = [part.at_end(end) for part in parts]
    return absorbing if absorbing in values else None if None in values else not absorbing


def junction(absorbing: bool, parts: Sequence[Status]) -> Status:
    """The disjunction (`absorbing` True) or conjunction (False) of statuses."""
    pending: list[Pending] = []
    for part in parts:
        status = part.value if isinstance(part, Pending) and part.value is not None else part
        if isinstance(status, Pending):
            pending.append(status)
        elif status is absorbing:
            return absorbing
    if not pending:
        return not absorbing
    return pending[0] if len(pending) == 1 else _Junction(absorbing, pending)


def negation(status: Status) -> Status:
    """The negation of a status."""
    if not isinstance(status, Pending):
        return not status
    return _Negation(status) if status.value is None else not status.value
