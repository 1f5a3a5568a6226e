"""Event search: continuations of representative events, followed by undoable monitors."""
