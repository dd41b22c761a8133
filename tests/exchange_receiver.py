"""A store that takes exchanges from others and sends its own."""

from pathlib import Path

from recollect.service.exchange_export import export_exchange
from recollect.service.exchange_import import Mode, import_exchange
from recollect.wire.memory_exchange import ExchangeReceipt, MemoryExchange
from support import open_memory

ENDING = frozenset({"supersede", "retract", "invalidate", "expire", "delete", "tombstone"})


class ExchangeReceiver:
    """A store that exchanges with others."""

    def __init__(self, path: Path) -> None:
        self.rec = open_memory(path, words_only=True)

    def take(
        self, sent: MemoryExchange, *, trust: bool = True, mode: Mode = "preserve"
    ) -> ExchangeReceipt:
        principals = {"maria@elsewhere": "maria", "alice@source": "alice"}
        return import_exchange(
            self.rec._services, sent, trust=trust, principals=principals, mode=mode
        )

    def sent(self) -> MemoryExchange:
        return export_exchange(self.rec._services)

    def current_texts(self) -> list[str]:
        sent = self.sent()
        ended = {event.target for event in sent.events if event.kind in ENDING}
        texts = [entry.text for entry in sent.objects if entry.revision_id not in ended]
        return sorted(text for text in texts if text)

    def states(self) -> list[tuple[str, str, str]]:
        sent = self.sent()
        kinds = {event.target: event.kind.value for event in sent.events}
        return sorted(
            (entry.revision_id, entry.text or "", kinds.get(entry.revision_id, ""))
            for entry in sent.objects
        )


def statuses(receipt: ExchangeReceipt) -> dict[str, str]:
    return {entry.target: entry.status.value for entry in receipt.entries if entry.kind == "object"}
