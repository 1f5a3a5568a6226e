"""Sockets for the servers of the command line."""

import ipaddress
import socket

from lawtrace.schemas.errors import OperationalError


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free port. Raises OperationalError."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except OSError as error:
        raise OperationalError(
            f"cannot listen at {host}, port {port}: {error.strerror}; choose another --port"
        ) from error
    return listening
