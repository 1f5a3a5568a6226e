"""Tables of the past: for which values S and Y are true."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Protocol

from lawtrace.solver.logic.syntax import Formula, Not, Since, Top, Yesterday, free_variables
from lawtrace.solver.logic.violations import triggers
from lawtrace.solver.monitoring.pending import Status
from lawtrace.solver.monitoring.step_context import Compiler, Generator, Key


class Observer(Protocol):
    """What follows the entries of a table."""

    def inserted(self, key: Key) -> None: ...

    def discarded(self, key: Key) -> None: ...

    def cleared(self) -> None: ...


class SinceTable:
    """The times at which the right operand of S (or the operand of Y) was true, for each combination of values.

    `f S[w] g` keeps an entry while f stays true. Only the times that a window can still ask for are kept: the latest
    without a lower bound, the earliest without an upper one.
    """

    def __init__(self, compiler: Compiler, formula: Since | Yesterday) -> None:
        self.context = compiler.context
        self.window = formula.window
        self._unlimited = formula.window.unlimited
        self.variables = tuple(sorted(free_variables(formula)))
        operand = formula.right if isinstance(formula, Since) else formula.operand
        self._generate = compiler.compile_generator(operand, frozenset())
        self._read = self.context.reader(self.variables)
        self._write = self.context.writer(self.variables)
        self.observers: list[Observer] = []
        self._entries: dict[Key, deque[int]] = {}
        self._oldest: deque[tuple[int, Key]] = deque()
        self._indexes: dict[tuple[int, ...], dict[Key, dict[Key, None]]] = {}
        self._yesterday = isinstance(formula, Yesterday)
        self._forgot: int | None = None
        self._next: list[tuple[Key, int]] = []
        self._keeps: Callable[[], None] | None = None
        tools = triggers(operand)
        if isinstance(formula, Since) and not isinstance(formula.left, Top):
            stays = self._compile_left(compiler, formula.left)
            tools = None if tools is None or stays is None else tools | stays
        self.tools = None if self._yesterday else tools

    def _compile_left(self, compiler: Compiler, left: Formula) -> frozenset[str] | None:
        """Prepares the removal of entries for which the left operand is false; returns the tools that matter."""
        generate = compiler.compile_finder(left.operand) if isinstance(left, Not) else None
        if generate is not None and isinstance(left, Not):
            names = tuple(name for name in self.variables if name in free_variables(left))
            read = self.context.reader(names)
            places = tuple(self.variables.index(name) for name in names)
            whole = names == self.variables
            if not whole:
                self._indexes.setdefault(places, {})

            def remove() -> None:
                for _ in generate():
                    key = read()
                    if whole:
                        self._discard(key)
                    else:
                        for entry in list(self._indexes[places].get(key, ())):
                            self._discard(entry)

            self._keeps = remove
            return triggers(left.operand)
        check = compiler.compile_check(left, frozenset(self.variables))

        def scan() -> None:
            for key in list(self._entries):
                self._write(key)
                if check() is not True:
                    self._discard(key)

        self._keeps = scan
        return None

    def clear(self) -> None:
        """Forget all entries."""
        self._entries.clear()
        self._oldest.clear()
        for index in self._indexes.values():
            index.clear()
        self._forgot = None
        self._next = []
        for observer in self.observers:
            observer.cleared()

    def update(self) -> None:
        context = self.context
        if self._yesterday:
            self._entries.clear()
            for index in self._indexes.values():
                index.clear()
            for key, time in self._next:
                self._insert(key, time)
            self._next = [(self._read(), context.time) for _ in self._generate()]
            return
        if self._keeps is not None and self._entries:
            self._keeps()
        for _ in self._generate():
            self._insert(self._read(), context.time)
        self.forget_old()

    def forget_old(self) -> None:
        """Drop the entries that the window has passed."""
        window, now = self.window, self.context.time
        if now == self._forgot:
            return
        self._forgot = now
        while self._oldest and window.closed(self._oldest[0][0], now):
            _, key = self._oldest.popleft()
            times = self._entries.get(key)
            if times is not None:
                while times and window.closed(times[0], now):
                    times.popleft()
                if not times:
                    self._discard(key)

    def _insert(self, key: Key, time: int) -> None:
        times = self._entries.get(key)
        if times is None:
            self._entries[key] = deque((time,))
            for places, index in self._indexes.items():
                index.setdefault(tuple(key[place] for place in places), {})[key] = None
            for observer in self.observers:
                observer.inserted(key)
        elif self.window.lower is None:
            times[-1] = time
        elif self.window.upper is None:
            return
        elif times[-1] != time:
            times.append(time)
        if self.window.upper is not None:
            self._oldest.append((time, key))

    def _discard(self, key: Key) -> None:
        if self._entries.pop(key, None) is None:
            return
        for observer in self.observers:
            observer.discarded(key)
        for places, index in self._indexes.items():
            part = tuple(key[place] for place in places)
            index[part].pop(key, None)
            if not index[part]:
                del index[part]

    def _true_of(self, key: Key) -> bool:
        times = self._entries.get(key)
        if times is None:
            return False
        window, now = self.window, self.context.time
        if self._unlimited:
            return True
        if window.lower is None:
            return not window.closed(times[-1], now)
        if window.upper is None:
            return window.opened(times[0], now)
        return window.newest(times, now) is not None

    def check(self) -> bool:
        return self._true_of(self._read())

    def fingerprint(self) -> Hashable:
        """Equal for tables of one formula with the same entries."""
        if self._unlimited and not self._yesterday:
            return frozenset(self._entries)
        return frozenset((key, tuple(times)) for key, times in self._entries.items()), tuple(self._next)

    def times(self) -> set[int]:
        """The times of the entries, if windows ask for them."""
        return set[int]() if self._unlimited else {time for times in self._entries.values() for time in times}

    def generator(self, bound: frozenset[str]) -> Generator:
        """The entries that agree with the bound variables."""
        known = tuple(name for name in self.variables if name in bound)
        places = tuple(self.variables.index(name) for name in known)
        if known:
            self._indexes.setdefault(places, {})
        read = self.context.reader(known)
        every = not self._yesterday and self.window.lower is None
        """Whether each entry that is not old is true."""

        def generate() -> Iterator[Status]:
            self.forget_old()
            keys = self._indexes[places].get(read(), ()) if known else self._entries
            for key in list(keys):
                if every or self._true_of(key):
                    self._write(key)
                    yield True

        return generate

    def projected(self, names: tuple[str, ...], bound: frozenset[str]) -> Generator | None:
        """The different values of some variables in the entries; None if that needs a look at each entry."""
        known = bound.intersection(names)
        if self._yesterday or self.window.lower is not None or (known and len(known) < len(names)):
            return None
        places = tuple(self.variables.index(name) for name in names)
        self._indexes.setdefault(places, {})
        read, write = self.context.reader(names), self.context.writer(names)

        def present() -> Iterator[Status]:
            self.forget_old()
            if read() in self._indexes[places]:
                yield True

        def generate() -> Iterator[Status]:
            self.forget_old()
            for part in list(self._indexes[places]):
                write(part)
                yield True

        return present if known or not names else generate
