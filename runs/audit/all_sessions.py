"""All conversations of an audit as one record, in order of time, for rules across sessions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from lawtrace.runs.audit.sources.mapped_lines import LogMapping
from lawtrace.runs.audit.sources.reading import read_transcripts
from lawtrace.runs.audit.transcripts import RecordedMessage, Transcript
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Actor
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class AllSessions:
    """The conversations of some files, unread. What the rules are about is kept in memory when they are read.

    Attributes:
        files: that are read again.
        tools: that the rules are about; None if each call counts.
        mapping: how the files are read; None if they are of known forms.
    """

    files: tuple[Path, ...]
    tools: frozenset[str] | None
    mapping: LogMapping | None
    id: ClassVar = "all sessions"

    @classmethod
    def of(cls, files: Iterable[Path], rules: Iterable[Rule], mapping: LogMapping | None) -> Self:
        """What is needed to judge by some rules."""
        rules = tuple(rules)
        counted = any(rule.counts_steps for rule in rules)
        tools = None if counted else frozenset[str]().union(*(rule.tools for rule in rules))
        return cls(tuple(files), tools, mapping)

    def read(self) -> Transcript:
        """The calls and messages in order of time; of one time, in the order of the files."""
        place = str(self.files[0]) if len(self.files) == 1 else f"{self.files[0]} and {len(self.files) - 1} more"
        found: list[tuple[int, RecordedMessage]] = []
        notes: list[str] = []
        for path in self.files:
            try:
                for one in read_transcripts(path, self.mapping):
                    if one.trouble is not None:
                        notes.append(f"conversation {one.id} is left out: {one.trouble}")
                    found += self._chosen(one)
            except InputError as error:
                notes.append(f"a file is left out: {error}")
        found.sort(key=lambda timed: timed[0])
        if found and found[0][0] < 0:
            return Transcript(
                place, self.id, (), f"message {found[0][1].place} has no time, so its place among others is unknown"
            )
        return Transcript(place, self.id, [message for _, message in found], notes=(*notes,))

    def _chosen(self, one: Transcript) -> Iterable[tuple[int, RecordedMessage]]:
        """What the rules are about, with the time; -1 if there is none."""
        time = -1
        for number, message in enumerate(one.messages, 1):
            time = time if message.time is None else message.time
            calls = [call for call in message.calls if self.tools is None or call.tool in self.tools]
            said = message.speaker if self.tools is None or message.speaker in self.tools else None
            if calls or said is not None:
                by = replace(message.by or one.by or Actor(), session=one.id)
                place = f"{number} of conversation {one.id}"
                yield time, replace(message, speaker=said, calls=calls, time=max(time, 0), by=by, place=place)
