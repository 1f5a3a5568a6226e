"""``python -m lawtrace``: the command line."""

from lawtrace.runs.cli import main

main()
