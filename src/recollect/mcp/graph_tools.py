"""
The nine tools of the official memory server, with its arguments and answers, over `graph.py`.

They differ from it in four ways: what an untrusted caller writes counts elsewhere only when the
user keeps it; deleting what the user has kept asks the user; a search that matches no text asks
for meaning too; what is too long to read at once is cut, with a note (`graph_page.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.app import Recollect
from recollect.domain.memory import Memory, Status
from recollect.errors import NotFound
from recollect.mcp import graph
from recollect.mcp.caller import Caller
from recollect.mcp.graph import Graph, Relation
from recollect.mcp.graph_page import page_of, pretty
from recollect.mcp.tool import (
    ADDS,
    READS,
    REMOVES,
    TEXT,
    YES_NO,
    Ask,
    Outcome,
    Schema,
    Told,
    Tool,
    list_of,
    object_of,
    told_about,
)

FOUND = 20  # of a search by meaning
QUERY = 2_048
Given = Mapping[str, Any]


def _object(**properties: Schema) -> Schema:
    return object_of(properties, tuple(properties))


_ENTITIES = list_of(_object(name=TEXT, entityType=TEXT, observations=list_of(TEXT)))
_RELATIONS = list_of(object_of({"from": TEXT, "to": TEXT, "relationType": TEXT},
                               ("from", "to", "relationType")))  # fmt: skip
_GRAPH = {"entities": _ENTITIES, "relations": _RELATIONS, "note": TEXT}
_DONE = {"success": YES_NO, "message": TEXT}


def create_entities(memory: Recollect, caller: Caller, given: Given) -> Told:
    """Keep entities whose names are new."""
    known = graph.read(memory, caller).entities
    new: dict[str, Given] = {}
    for one in given["entities"]:
        if one["name"] not in known:
            new.setdefault(one["name"], one)
    drafts = []
    for name, one in new.items():
        drafts.append(graph.entity(name, one["entityType"]))
        drafts += [graph.observation(name, said) for said in dict.fromkeys(one["observations"])]
    graph.write(memory, caller, drafts)
    return _listed("entities", list(new.values()))


def create_relations(memory: Recollect, caller: Caller, given: Given) -> Told:
    """Keep relations that are new, between entities that are known."""
    known = graph.read(memory, caller)
    wanted = dict.fromkeys(_relations(given))
    for one in wanted:
        _entity(known, one.start)
        _entity(known, one.end)
    new = [one for one in wanted if one not in known.relations]
    graph.write(memory, caller, [graph.relation(one) for one in new])
    return _listed("relations", [one.as_json() for one in new])


def add_observations(memory: Recollect, caller: Caller, given: Given) -> Told:
    """Keep observations that are new, about entities that are known."""
    known = graph.read(memory, caller)
    drafts, results = [], []
    seen = {(one.name, said) for one in known.entities.values() for said in one.observations}
    for asked in given["observations"]:
        name = asked["entityName"]
        _entity(known, name)
        new = [said for said in dict.fromkeys(asked["contents"]) if (name, said) not in seen]
        seen |= {(name, said) for said in new}
        drafts += [graph.observation(name, said) for said in new]
        results.append({"entityName": name, "addedObservations": new})
    graph.write(memory, caller, drafts)
    return _listed("results", results)


def delete_entities(memory: Recollect, caller: Caller, given: Given) -> Outcome:
    """Take entities out, with what is said of them and their relations."""
    known = graph.read(memory, caller)
    names = given["entityNames"]
    gone = [known.entities[name] for name in dict.fromkeys(names) if name in known.entities]
    parts = [part for one in gone for part in one.memories]
    parts += [part for one in gone for told in one.observations.values() for part in told]
    named = {one.name for one in gone}
    for one, told in known.relations.items():
        parts += told if {one.start, one.end} & named else []
    missing = [name for name in names if name not in known.entities]
    message = "Entities deleted successfully"
    if missing:
        deleted = len(names) - len(missing)
        message = f"Deleted {deleted} of {len(names)} entities. Not found: {', '.join(missing)}"
    return _removed(memory, caller, parts, message)


def delete_observations(memory: Recollect, caller: Caller, given: Given) -> Outcome:
    """Take observations out."""
    known = graph.read(memory, caller)
    parts: list[Memory] = []
    missing, asked, done = [], 0, 0
    for one in given["deletions"]:
        asked += len(one["observations"])
        entity = known.entities.get(one["entityName"])
        if entity is None:
            missing.append(one["entityName"])
        else:
            for said in dict.fromkeys(one["observations"]):
                told = entity.observations.get(said, [])
                parts += told
                done += bool(told)
    message = "Observations deleted successfully"
    if done != asked:
        message = f"Deleted {done} of {asked} observations."
        message += f" Entities not found: {', '.join(missing)}" if missing else ""
    return _removed(memory, caller, parts, message)


def delete_relations(memory: Recollect, caller: Caller, given: Given) -> Outcome:
    """Take relations out."""
    known = graph.read(memory, caller).relations
    asked = _relations(given)
    found = [known[one] for one in dict.fromkeys(asked) if one in known]
    message = "Relations deleted successfully"
    if len(found) != len(asked):
        message = f"Deleted {len(found)} of {len(asked)} relations. The rest matched nothing."
    return _removed(memory, caller, [part for told in found for part in told], message)


def read_graph(memory: Recollect, caller: Caller, given: Given) -> Told:
    """Return everything, or the newest of it."""
    found = graph.read(memory, caller)
    return _shown(page_of(found, names=found.newest(), count=memory.count_tokens))


def search_nodes(memory: Recollect, caller: Caller, given: Given) -> Told:
    """Return the entities whose texts hold the query; where none does, those that answer it."""
    known = graph.read(memory, caller)
    query = given["query"].lower()

    def holds(text: str) -> bool:
        return query in text.lower()

    found = known.around(lambda one: any(map(holds, (one.name, one.kind, *one.observations))))
    names = sorted(found.newest(), key=lambda name: not holds(name))
    wanted: Callable[[str], bool] = holds
    if not names:
        hits = memory.search(
            given["query"], **caller.place, tags=[graph.GRAPH], statuses=graph.READ, limit=FOUND
        )
        found, names = _named(known, [hit.memory.title for hit in hits])
        wanted = {hit.memory.content for hit in hits}.__contains__
    return _shown(page_of(found, names=names, count=memory.count_tokens, wanted=wanted))


def open_nodes(memory: Recollect, caller: Caller, given: Given) -> Told:
    """Return entities by their names."""
    found, names = _named(graph.read(memory, caller), given["names"])
    return _shown(page_of(found, names=names, count=memory.count_tokens))


def _named(known: Graph, names: Sequence[str]) -> tuple[Graph, list[str]]:
    """Return the entities of those names that are known, and their names in that order."""
    order = [name for name in dict.fromkeys(names) if name in known.entities]
    wanted = set(order)
    return known.around(lambda one: one.name in wanted), order


def _entity(known: Graph, name: str) -> None:
    if name not in known.entities:
        raise NotFound(f"Entity with name {name[:200]} not found")


def _relations(given: Given) -> list[Relation]:
    return [Relation(one["from"], one["to"], one["relationType"]) for one in given["relations"]]


def _listed(name: str, rows: Sequence[Given]) -> Told:
    return Told({name: rows}, pretty(rows))


def _shown(found: Given) -> Told:
    return Told(found, pretty(found))


def _removed(memory: Recollect, caller: Caller, parts: Sequence[Memory], message: str) -> Outcome:
    def then() -> Told:
        graph.archive(memory, parts)
        return Told({"success": True, "message": message}, message)

    kept = [one for one in parts if one.status is not Status.INBOX]
    if not kept:
        return then()
    shown = "\n".join(f"- {one.content[:200]}" for one in kept[:10])
    more = f"\n… and {len(kept) - 10} more" if len(kept) > 10 else ""
    return Ask(
        question=f"Archive {len(kept)} memories you have kept?\n\n{shown}{more}",
        then=then,
        instead="ask the user to archive them with `recollect forget ID`",
    )


def _tool(
    run: Callable[[Recollect, Caller, Given], Outcome],
    description: str,
    hints: Mapping[str, bool],
    gives: Mapping[str, Schema],
    **takes: Schema,
) -> Tool:
    return Tool(
        name=run.__name__,
        description=description,
        takes=takes,
        needs=tuple(takes),
        gives=gives,
        always=tuple(name for name in gives if name != "note"),
        hints=hints,
        run=run,
    )


_NAMED = told_about(TEXT, "The name of the entity")
GRAPH_TOOLS = (
    _tool(
        create_entities,
        "Create multiple new entities in the knowledge graph",
        ADDS,
        {"entities": _ENTITIES},
        entities=_ENTITIES,
    ),
    _tool(
        create_relations,
        "Create multiple new relations between entities in the knowledge graph. Relations should "
        "be in active voice",
        ADDS,
        {"relations": _RELATIONS},
        relations=_RELATIONS,
    ),
    _tool(
        add_observations,
        "Add new observations to existing entities in the knowledge graph",
        ADDS,
        {"results": list_of(_object(entityName=TEXT, addedObservations=list_of(TEXT)))},
        observations=list_of(_object(entityName=_NAMED, contents=list_of(TEXT))),
    ),
    _tool(
        delete_entities,
        "Delete multiple entities and their associated relations from the knowledge graph",
        REMOVES,
        _DONE,
        entityNames=told_about(list_of(TEXT), "An array of entity names to delete"),
    ),
    _tool(
        delete_observations,
        "Delete specific observations from entities in the knowledge graph",
        REMOVES,
        _DONE,
        deletions=list_of(_object(entityName=_NAMED, observations=list_of(TEXT))),
    ),
    _tool(
        delete_relations,
        "Delete multiple relations from the knowledge graph",
        REMOVES,
        _DONE,
        relations=_RELATIONS,
    ),
    _tool(
        read_graph,
        "Read the entire knowledge graph, with what still waits for the user's review",
        READS,
        _GRAPH,
    ),
    _tool(
        search_nodes,
        "Search for nodes in the knowledge graph based on a query",
        READS,
        _GRAPH,
        query=told_about(
            {**TEXT, "maxLength": QUERY},
            "Matched against entity names, types, and observation content",
        ),
    ),
    _tool(
        open_nodes,
        "Open specific nodes in the knowledge graph by their names",
        READS,
        _GRAPH,
        names=told_about(list_of(TEXT), "An array of entity names to retrieve"),
    ),
)
