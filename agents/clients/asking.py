"""The layer in front of an endpoint: that a call leaves is on record, and on the disk, before it does."""

from dataclasses import dataclass

from autogen_core.models import CreateResult

from lawtrace.agents.clients.calls import Answerer, ModelCall
from lawtrace.agents.ledger import Ledger, ModelAsked


@dataclass(frozen=True, slots=True)
class Announced:
    """Marks a call that may cost money, and waits for the disk: after a crash the record says what was in flight."""

    beneath: Answerer
    ledger: Ledger

    async def ask(self, call: ModelCall) -> CreateResult:
        self.ledger.record(ModelAsked(context=call.context, request_hash=call.request_hash, occurrence=call.occurrence))
        await self.ledger.settle()
        return await self.beneath.ask(call)
