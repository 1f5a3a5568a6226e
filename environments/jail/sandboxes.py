"""The walls by name."""

from lawtrace.environments.errors import InputError
from lawtrace.environments.jail.bubblewrap import Bubblewrap
from lawtrace.environments.jail.docker import DEFAULT_IMAGE, Docker
from lawtrace.environments.jail.unprotected import Unprotected
from lawtrace.environments.jail.walls import Walls

UNPROTECTED = Unprotected.sandbox


def choose_walls(sandbox: str) -> Walls:
    """The walls of that name: ``bwrap``, ``docker``, ``docker:IMAGE`` or ``unprotected``. Raises InputError."""
    name, _, image = sandbox.partition(":")
    match name:
        case "bwrap" if not image:
            return Bubblewrap()
        case "docker":
            return Docker(image or DEFAULT_IMAGE)
        case "unprotected" if not image:
            return Unprotected()
        case _:
            raise InputError(
                f"there is no sandbox {sandbox!r}; there are bwrap, docker, docker:IMAGE and {UNPROTECTED}"
            )
