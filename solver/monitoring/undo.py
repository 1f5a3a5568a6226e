"""Undo: monitors that can go back to an earlier event.

A monitor changes attributes and containers of the objects that it consists of. `UndoLog.undoable` makes a subclass of
such a class whose instances record each change, with the containers that they hold. To go back costs as much as the
changes since the mark, whatever the length of the trace. Without an undo log, monitors are made of the plain classes.
"""

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol, SupportsIndex, TypeVar, cast

T = TypeVar("T")


class Track(Protocol):
    """Says which class to make an object of: the class itself, or its undoable subclass."""

    def __call__(self, kind: type[T], /) -> type[T]: ...


def untracked(kind: type[T]) -> type[T]:
    """The class itself."""
    return kind


class UndoLog:
    """The changes of some objects since the first mark."""

    def __init__(self) -> None:
        self.records: Final[list[tuple[Callable[..., object], tuple[Any, ...]]]] = []
        self.marks = 0
        self._kinds: Final[dict[type, type]] = {}

    @contextmanager
    def attempt(self) -> Generator[None]:
        """What changes inside is undone at the end. Attempts can be nested."""
        mark = len(self.records)
        self.marks += 1
        try:
            yield
        except KeyboardInterrupt:
            while len(self.records) > mark:
                with suppress(LookupError, ValueError, AttributeError):  # a change that was interrupted is half made
                    self.back_to(mark)
            raise
        finally:
            self.back_to(mark)
            self.marks -= 1

    @property
    def mark(self) -> int:
        """The present state, inside an attempt; see `back_to`."""
        return len(self.records)

    def back_to(self, mark: int) -> None:
        """Undo the changes since the mark."""
        records = self.records
        while len(records) > mark:
            undo, arguments = records.pop()
            undo(*arguments)

    def undoable(self, kind: type[T]) -> type[T]:
        """A subclass whose instances record their changes here; always the same for one class.

        Attributes that the class lists in ``unlogged`` are left alone: what they hold matters during one event only.
        """
        if kind not in self._kinds:
            unlogged: frozenset[str] = getattr(kind, "unlogged", frozenset())
            log, record, put = self, self.records.append, object.__setattr__

            def set_attribute(self: object, name: str, value: object) -> None:
                if name not in unlogged:
                    if type(value) in _WRAPPED:
                        value = log.wrapped(value)
                    if log.marks:
                        record((put, (self, name, getattr(self, name, None))))
                put(self, name, value)

            contents = {"__slots__": (), "__setattr__": set_attribute, "track": staticmethod(self.undoable)}
            self._kinds[kind] = type(kind.__name__, (kind,), contents)
        return cast("type[T]", self._kinds[kind])

    def wrapped(self, value: Any) -> Any:  # noqa: ANN401
        """A container as one that records its changes; other values as they are."""
        kind = cast("type[object]", type(value))
        if kind is dict:
            return _Dict(self, value)
        if kind is list:
            return _List(self, value)
        if kind is deque:
            return _Deque(self, value)
        if kind is tuple and any(type(part) in _CONTAINERS for part in value):
            return tuple(map(self.wrapped, value))
        return value


_CONTAINERS: Final = frozenset({dict, list, deque})
_WRAPPED: Final = frozenset({*_CONTAINERS, tuple})


_DICT, _LIST, _DEQUE = dict[Any, Any], list[Any], deque[Any]


class _Dict(dict[Any, Any]):
    """A dictionary that records its changes. What is taken out and put back by `UndoLog.back_to` goes to the end."""

    __slots__ = ("_log",)

    def __init__(self, log: UndoLog, content: dict[Any, Any]) -> None:
        super().__init__({key: log.wrapped(value) for key, value in content.items()})
        self._log = log

    def __setitem__(self, key: Hashable, value: object) -> None:
        self._record(key)
        super().__setitem__(key, self._log.wrapped(value) if type(value) in _WRAPPED else value)

    def __delitem__(self, key: Hashable) -> None:
        self._record(key)
        super().__delitem__(key)

    def pop(self, key: Hashable, *default: Any) -> Any:  # noqa: ANN401
        if key in self:
            self._record(key)
        return super().pop(key, *default)

    def setdefault(self, key: Hashable, default: Any = None) -> Any:  # noqa: ANN401
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        if self._log.marks:
            self._log.records.append((_refill, (self, dict(self))))
        super().clear()

    def _record(self, key: Hashable) -> None:
        if self._log.marks:
            if key in self:
                self._log.records.append((_DICT.__setitem__, (self, key, self[key])))
            else:
                self._log.records.append((_DICT.__delitem__, (self, key)))


def _refill(content: dict[Any, Any], before: dict[Any, Any]) -> None:
    _DICT.clear(content)
    _DICT.update(content, before)


class _List(list[Any]):
    """A list that records its changes."""

    __slots__ = ("_log",)

    def __init__(self, log: UndoLog, content: Iterable[Any]) -> None:
        super().__init__(map(log.wrapped, content))
        self._log = log

    def append(self, value: object, /) -> None:
        if self._log.marks:
            self._log.records.append((_LIST.pop, (self,)))
        super().append(self._log.wrapped(value))

    def extend(self, values: Iterable[Any], /) -> None:
        for value in values:
            self.append(value)

    def insert(self, place: SupportsIndex, value: object, /) -> None:
        if self._log.marks:
            self._log.records.append((_LIST.pop, (self, place)))
        super().insert(place, self._log.wrapped(value))

    def __delitem__(self, place: SupportsIndex | slice) -> None:
        self._keep()
        super().__delitem__(place)

    def remove(self, value: object, /) -> None:
        self._keep()
        super().remove(value)

    def clear(self) -> None:
        self._keep()
        super().clear()

    def __setitem__(self, place: SupportsIndex | slice, value: Any) -> None:  # noqa: ANN401
        if isinstance(place, slice):
            self._keep()
            super().__setitem__(place, map(self._log.wrapped, value))
            return
        if self._log.marks:
            self._log.records.append((_LIST.__setitem__, (self, place, self[place])))
        super().__setitem__(place, self._log.wrapped(value))

    def _keep(self) -> None:
        if self._log.marks:
            self._log.records.append((_LIST.__setitem__, (self, slice(None), list(self))))


class _Deque(deque[Any]):
    """A queue that records its changes."""

    __slots__ = ("_log",)

    def __init__(self, log: UndoLog, content: Iterable[Any]) -> None:
        super().__init__(content)
        self._log = log

    def append(self, value: object, /) -> None:
        if self._log.marks:
            self._log.records.append((_DEQUE.pop, (self,)))
        super().append(value)

    def popleft(self) -> Any:  # noqa: ANN401
        value = super().popleft()
        if self._log.marks:
            self._log.records.append((_DEQUE.appendleft, (self, value)))
        return value

    def clear(self) -> None:
        if self._log.marks:
            self._log.records.append((_DEQUE.extend, (self, list(self))))
        super().clear()

    def __setitem__(self, place: SupportsIndex, value: object, /) -> None:
        if self._log.marks:
            self._log.records.append((_DEQUE.__setitem__, (self, place, self[place])))
        super().__setitem__(place, value)
