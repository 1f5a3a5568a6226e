"""How a command finds the function that carries it out."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module

Signature = Callable[..., None]


def implemented_by(target: str) -> Callable[[Signature], Signature]:
    """The signature of a command that ``target`` (``module:function``) carries out, with arguments of the same names.

    The module is imported when the command runs, so that ``--help`` and a mistyped option wait for none of its imports
    (AutoGen, Z3, scipy, matplotlib).
    """

    def decorate(signature: Signature) -> Signature:
        @wraps(signature)
        def run(*flags: object, **given: object) -> None:
            module, function = target.split(":")
            getattr(import_module(module), function)(*flags, **given)

        run.__dict__["implementation"] = signature, target
        return run

    return decorate
