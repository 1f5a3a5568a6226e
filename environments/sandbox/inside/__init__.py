"""Code that runs inside the sandbox: a fork server, which forks once for every program.

This folder is mounted into the sandbox and started there as it is, so it imports only the standard library. The host
imports only `wire` from it.

    __main__.py          starts the fork server
    fork_server.py       forks, watches and reports on programs
    program_process.py   one program from the fork to its exit
    simulated_clock.py   the clock that a program sees
    tool_objects.py      the objects that a program finds: the object with the tools, its results and exceptions
    wire.py              the constants and the strict JSON that both sides share

Two processes with different trust:

- The *fork server* holds the control socket to the host, never parses what a program wrote, and reports the kernel's
  wait status of each program. It is not dumpable, so a program can neither trace nor read it, even under the same user.
  As process 1 of its namespace it cannot be killed either.
- The *program* is a fork that closes every descriptor but its own three pipes: calls, answers and output. It can
  change only its own copy of this folder's functions and objects, and the host checks everything that it sends.

Frames on the pipes of calls and answers: four bytes of length (big-endian), then one JSON object in UTF-8.

    host -> server    the tools of this and later programs; empty if they have not changed                      first
    host -> program   its source, its variables, its limits, the time                                          then
    program -> host   {"tool": str, "arguments": object}, and {"pause": int} if it paused before         each call
    host -> program   {"returned": value} or {"raised": [name, message]}, and {"now": int}               its answer
    program -> host   {"end": str, "type": str|null, "message": str|null, "line": int|null}              once, last

The fork server reads its frame before it forks, while only the host holds the other end. The channels of a program are
pipes, because a socket could carry descriptors, and the host would have to close what a program put into one: a
connection that lingers would block it.
"""
