"""Bridge to a fork server over two byte streams, where descriptors cannot be passed.

Only a container's standard input and output lead into it. So one bridge sits at each end of them, and on both sides
everything is as in a bubblewrap jail: a control socket, and three pipes per program.

    program run == control, tools, output == bridge -- two byte streams -- bridge == control, tools, output == jail

Frames on the streams: the channel (one byte), the length (four bytes, big-endian), the data. The bridge does not parse
what a program wrote. In the container this file is process 1 and starts the folder ``inside``; it needs only the
standard library.
"""

import os
import select
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from io import FileIO

HEADER = struct.Struct("!cI")
CONTROL, TOOLS, OUTPUT = b"c", b"t", b"o"
RUN, READY = b"+", b"r"  # as in inside/wire.py, which is not imported here: this file stands alone in the container
CHUNK = 2**16


class StdioBridge:
    """One end of the bridge. `run` returns when the other end or the control socket is closed."""

    def __init__(self, control: socket.socket, incoming: int, outgoing: int, *, inside: bool) -> None:
        self._control = control
        self._incoming = incoming
        self._outgoing = outgoing
        self._inside = inside
        self._from_tools: FileIO | None = None
        self._to_tools: FileIO | None = None
        self._output: int | None = None
        self._changed, self._change = socket.socketpair()

    def run(self) -> None:
        listener = threading.Thread(target=self._listen, daemon=True)
        listener.start()
        with suppress(OSError):
            self._forward()
        for descriptor in (self._incoming, self._outgoing):
            with suppress(OSError):
                os.close(descriptor)
        self._control.close()

    # --- from this end to the other

    def _forward(self) -> None:
        while True:
            watched = [self._control, self._changed, self._from_tools, self._output if self._inside else None]
            ready, _, _ = select.select([end for end in watched if end is not None], [], [])
            if self._changed in ready:
                self._changed.recv(CHUNK)
            # Output goes before calls, and both before the report of the end.
            while self._send_output() or self._send_tools():
                pass
            if self._control in ready and not self._send_control():
                return

    def _send_control(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, CHUNK, 3)
        if not message:
            return False
        if self._inside and message != READY:  # a report: forward everything that the program wrote first
            while self._send_output() or self._send_tools():
                pass
            self._drop_ends()
        if descriptors:
            calls, answers, self._output = descriptors
            os.set_blocking(answers, False)
            self._to_tools, self._from_tools = FileIO(calls, "w"), FileIO(answers)
        self._send(CONTROL, message)
        return True

    def _send_tools(self) -> bool:
        if (tools := self._from_tools) is None:
            return False
        try:
            data = tools.read(CHUNK)
        except (OSError, ValueError):  # the other thread has closed it
            data = b""
        if data:
            self._send(TOOLS, data)
        elif data is not None:  # the end; None: nothing yet
            self._from_tools = None
            tools.close()
        return bool(data)

    def _send_output(self) -> bool:
        if self._output is None or not self._inside:
            return False
        try:
            data = os.read(self._output, CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._send(OUTPUT, data)
        else:
            os.close(self._output)
            self._output = None
        return bool(data)

    def _send(self, kind: bytes, data: bytes) -> None:
        _write_all(self._outgoing, HEADER.pack(kind, len(data)) + data)

    # --- from the other end to this one

    def _listen(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                kind, length = HEADER.unpack(self._read(HEADER.size))
                self._receive(kind, self._read(length))
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def _receive(self, kind: bytes, data: bytes) -> None:
        if kind == TOOLS:
            if (tools := self._to_tools) is not None:
                with suppress(OSError, ValueError):  # the reader or the other thread has closed it
                    while data:
                        data = data[tools.write(data) :]
        elif kind == OUTPUT:
            if self._output is not None:
                with suppress(OSError):
                    _write_all(self._output, data)
        elif self._inside and data == RUN:
            self._open_ends()
        else:
            if not self._inside and data != READY:
                self._drop_ends()
            self._control.sendall(data)

    def _open_ends(self) -> None:
        """Make the pipes of a program: pass its ends to the fork server, and watch the others."""
        called, calls = os.pipe()
        answers, answered = os.pipe()
        output, printing = os.pipe()
        os.set_blocking(called, False)
        os.set_blocking(output, False)
        socket.send_fds(self._control, [RUN], [calls, answers, printing])
        for theirs in (calls, answers, printing):
            os.close(theirs)
        self._from_tools, self._to_tools, self._output = FileIO(called), FileIO(answered, "w"), output
        self._change.send(b"x")

    def _drop_ends(self) -> None:
        ends, output = (self._from_tools, self._to_tools), self._output
        self._from_tools = self._to_tools = self._output = None
        for end in ends:
            if end is not None:
                end.close()
        if output is not None:
            os.close(output)

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = os.read(self._incoming, count - len(data))
            if not part:
                raise EOFError
            data += part
        return data


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def main(arguments: list[str]) -> None:
    """In the container: start the command ``arguments`` with a control socket as its standard input, and bridge."""
    control, inner_end = socket.socketpair()
    with inner_end:
        subprocess.Popen(arguments, stdin=inner_end.fileno(), stdout=subprocess.DEVNULL)  # noqa: S603
    StdioBridge(control, 0, 1, inside=True).run()


if __name__ == "__main__":
    main(sys.argv[1:])
