"""Read and write a memory exchange as one JSON file."""

import zlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from recollect.errors import ImportRefused, TooLarge
from recollect.service.exchange_export import export_exchange
from recollect.service.exchange_import import Mode, import_exchange
from recollect.service.export_reader import open_unpacked
from recollect.service.services import Services
from recollect.service.transfer import write_file
from recollect.wire.material_files import MAX_BYTES, decode_text
from recollect.wire.memory_exchange import ExchangeReceipt, MemoryExchange


def write_exchange(services: Services, path: Path, *, plain: bool) -> int:
    """Write the store as an exchange, complete or not at all; return how many objects it has."""
    exchange = export_exchange(services)
    content = exchange.model_dump_json(indent=1, exclude_none=True).encode()
    write_file(services, path, lambda file: file.write(content), plain=plain)
    return len(exchange.objects)


def read_exchange(
    services: Services, path: Path, *, trust: bool, principals: Mapping[str, str], mode: Mode
) -> ExchangeReceipt:
    """Read an exchange from a file and import it."""
    try:
        exchange = MemoryExchange.model_validate_json(_read(services, path))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ImportRefused(
            f"{path} is not a memory exchange: {place}: {problem['msg']}; nothing was imported"
        ) from error
    return import_exchange(services, exchange, trust=trust, principals=principals, mode=mode)


def _read(services: Services, path: Path) -> str:
    """Return the text of a file, decrypted and decompressed if a store wrote it so."""
    file = services.store.file
    with open_unpacked(path, None if file is None else file.read_encrypted) as content:
        try:
            raw = content.read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ImportRefused(f"{path} cannot be read to its end: {error}") from error
    if len(raw) > MAX_BYTES:
        raise TooLarge(f"{path} is larger than {MAX_BYTES // 1_000_000} MB; nothing was imported")
    return decode_text(raw, path)
