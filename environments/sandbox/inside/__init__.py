"""What runs inside the jail: a warm process that forks once for every program.

This folder is bound into the jail and started there as it is; it needs nothing but the standard library. The host
imports `wire` and nothing else of it.

    __main__.py   starts it
    fork_server.py     the warm parent: forks, watches, reports
    running.py    the whole life of one program
    tools.py      what a program finds: the object with the tools, its results and exceptions
    wire.py       the constants and the strict JSON that both sides share

Two processes, two kinds of trust:

- The *warm parent* holds the control socket to the host, never parses a byte that a program wrote, and reports how
  each program ended: the wait status from the kernel. Not dumpable, it can be neither traced nor read by a program,
  even one that runs under the same user; as process 1 of its namespace, it cannot be killed either.
- The *program* is a fork that closes every descriptor but its own socket and output pipe. Whatever it does to this
  folder's functions and objects, it does to its own copy; the host believes nothing that it says without checking.

Frames on a program's socket, both ways: four bytes of length (big-endian), then one JSON object in UTF-8.

    host -> parent    the tools that programs find from now on; empty if they are those of the program before  first
    host -> program   its source, its variables, its limits                                                    then
    program -> host   {"tool": str, "arguments": object}                                                  each call
    host -> program   {"returned": value} or {"raised": [name, message]}                                 its answer
    program -> host   {"end": str, "type": str|null, "message": str|null, "line": int|null}              once, last

The parent reads its frame before it forks, while the other end is the host's alone.
"""
