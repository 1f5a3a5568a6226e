"""The processes of the sandboxes opened by a test."""

from pathlib import Path


def descendants(process: int) -> set[int]:
    """All processes below this one."""
    children = _children(process)
    return children.union(*(descendants(child) for child in children))


def warm_parents() -> set[int]:
    """The children of this process's bubblewrap processes: process 1 of each open sandbox, of any thread."""
    return {parent for child in _children("self") for parent in _children(child)}


def _children(process: int | str) -> set[int]:
    found: set[int] = set()
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            found.update(map(int, (task / "children").read_text().split()))
    except OSError:  # the process, or one of its threads, has just ended
        pass
    return found
