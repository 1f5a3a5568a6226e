"""How a model call fails: a machine's fault with a reason, never a verdict on the model."""

from lawtrace.agents.ledger import FailureReason
from lawtrace.environments.errors import CannotCarryOut


class CallFailed(CannotCarryOut):
    """A model call brought no answer. The caller decides what that means; the ledger already knows."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason: FailureReason = reason
