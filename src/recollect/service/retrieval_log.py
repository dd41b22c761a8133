"""List logged retrievals. A retrieval is logged by `service/read.py`."""

from recollect.domain.retrieval import Retrieval
from recollect.service.place_lookup import RequestPlace, find_viewer
from recollect.service.services import Services
from recollect.wire.requests.retrievals import ListRetrievalsRequest

FLUSH_S = 0.5  # how long to wait until the latest retrievals are in the log


def list_retrievals(services: Services, request: ListRetrievalsRequest) -> list[Retrieval]:
    """Return logged retrievals, newest first."""
    services.store.flush_log(timeout_s=FLUSH_S)
    with services.store.read() as tables:
        agent_id = None
        if request.agent is not None:
            place = RequestPlace.of(agent=request.agent)
            agent_id = find_viewer(tables, place).agent_id
        return tables.retrievals.latest(
            agent_id=agent_id,
            memory_id=request.memory,
            limit=request.limit,
            offset=request.offset,
        )
