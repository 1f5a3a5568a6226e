"""lawtrace inside Inspect: released tasks, the guard as an approver, rules as a scorer, runs as eval logs.

Inspect finds `registry` by the entry point ``inspect_ai``. Only this package imports ``inspect_ai``, which is not a
dependency of lawtrace but of its extra ``inspect``.
"""
