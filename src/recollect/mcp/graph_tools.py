"""
The nine tools of the official memory server, with the same arguments and results.

There are four differences: other tools use the memories of an untrusted caller only after the user
keeps them; deleting memories that the user kept needs confirmation; a search without text matches
also searches by meaning; a result that is too long is truncated, with a note (`graph_excerpt`).
"""

from collections.abc import Callable, Mapping, Sequence

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.memory import Memory, Status
from recollect.errors import NotFound
from recollect.mcp import knowledge_graph
from recollect.mcp.caller_scope import Caller
from recollect.mcp.graph_excerpt import format_json, graph_excerpt
from recollect.mcp.knowledge_graph import GraphEntity, GraphRelation, KnowledgeGraph
from recollect.mcp.tool_definition import (
    ADDITIVE,
    DESTRUCTIVE_IDEMPOTENT,
    READ_ONLY,
    Arguments,
    ConfirmationRequest,
    Tool,
    ToolFunction,
    ToolOutcome,
    ToolResult,
)
from recollect.wire.json_schema import BOOLEAN, TEXT, Schema, describe, list_of, object_of

MAX_SEMANTIC_HITS = 20  # of the search by meaning
MAX_QUERY_CHARS = 2_048


def _object(**properties: Schema) -> Schema:
    return object_of(properties, tuple(properties))


_ENTITIES = list_of(_object(name=TEXT, entityType=TEXT, observations=list_of(TEXT)))
_RELATION_FIELDS = ("from", "to", "relationType")
_RELATIONS = list_of(object_of(dict.fromkeys(_RELATION_FIELDS, TEXT), _RELATION_FIELDS))
_GRAPH = {"entities": _ENTITIES, "relations": _RELATIONS, "note": TEXT}
_DONE = {"success": BOOLEAN, "message": TEXT}


def create_entities(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Store the entities whose names are new."""
    existing = knowledge_graph.read(rec, caller).entities
    new: dict[str, Arguments] = {}
    for entity in arguments["entities"]:
        if entity["name"] not in existing:
            new.setdefault(entity["name"], entity)
    drafts = []
    for name, entity in new.items():
        drafts.append(knowledge_graph.entity_draft(name, entity["entityType"]))
        observations = dict.fromkeys(entity["observations"])
        drafts += [knowledge_graph.observation_draft(name, content) for content in observations]
    knowledge_graph.write(rec, caller, drafts)
    return _list_result("entities", list(new.values()))


def create_relations(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Store the new relations between existing entities."""
    graph = knowledge_graph.read(rec, caller)
    requested = dict.fromkeys(_parse_relations(arguments))
    for relation in requested:
        _require_entity(graph, relation.start)
        _require_entity(graph, relation.end)
    new = [relation for relation in requested if relation not in graph.relations]
    drafts = [knowledge_graph.relation_draft(relation) for relation in new]
    knowledge_graph.write(rec, caller, drafts)
    return _list_result("relations", [relation.as_json() for relation in new])


def add_observations(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Store the new observations about existing entities."""
    graph = knowledge_graph.read(rec, caller)
    drafts, results = [], []
    items = graph.entities.items()
    existing = {(name, content) for name, entity in items for content in entity.observations}
    for addition in arguments["observations"]:
        name = addition["entityName"]
        _require_entity(graph, name)
        contents = dict.fromkeys(addition["contents"])
        new = [content for content in contents if (name, content) not in existing]
        existing |= {(name, content) for content in new}
        drafts += [knowledge_graph.observation_draft(name, content) for content in new]
        results.append({"entityName": name, "addedObservations": new})
    knowledge_graph.write(rec, caller, drafts)
    return _list_result("results", results)


def delete_entities(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolOutcome:
    """Delete entities with their observations and relations."""
    graph = knowledge_graph.read(rec, caller)
    names = arguments["entityNames"]
    entities = [graph.entities[name] for name in dict.fromkeys(names) if name in graph.entities]
    parts = [part for entity in entities for part in entity.memories]
    parts += [part for entity in entities for same in entity.observations.values() for part in same]
    deleted_names = {entity.name for entity in entities}
    for relation, memories in graph.relations.items():
        parts += memories if {relation.start, relation.end} & deleted_names else []
    missing = [name for name in names if name not in graph.entities]
    message = "Entities deleted successfully"
    if missing:
        deleted = len(names) - len(missing)
        message = f"Deleted {deleted} of {len(names)} entities. Not found: {', '.join(missing)}"
    return _archive_or_confirm(rec, caller, parts, message)


def delete_observations(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolOutcome:
    """Delete observations."""
    graph = knowledge_graph.read(rec, caller)
    parts: list[Memory] = []
    missing, requested, deleted = [], 0, 0
    for deletion in arguments["deletions"]:
        requested += len(deletion["observations"])
        entity = graph.entities.get(deletion["entityName"])
        if entity is None:
            missing.append(deletion["entityName"])
        else:
            for content in dict.fromkeys(deletion["observations"]):
                memories = entity.observations.get(content, [])
                parts += memories
                deleted += bool(memories)
    message = "Observations deleted successfully"
    if deleted != requested:
        message = f"Deleted {deleted} of {requested} observations."
        message += f" Entities not found: {', '.join(missing)}" if missing else ""
    return _archive_or_confirm(rec, caller, parts, message)


def delete_relations(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolOutcome:
    """Delete relations."""
    existing = knowledge_graph.read(rec, caller).relations
    requested = _parse_relations(arguments)
    matches = [existing[item] for item in dict.fromkeys(requested) if item in existing]
    message = "Relations deleted successfully"
    if len(matches) != len(requested):
        message = f"Deleted {len(matches)} of {len(requested)} relations. The rest matched nothing."
    parts = [part for memories in matches for part in memories]
    return _archive_or_confirm(rec, caller, parts, message)


def read_graph(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return the whole graph, or its newest part."""
    graph = knowledge_graph.read(rec, caller)
    names, count = graph.names_newest_first(), rec.models.count_tokens
    return _graph_result(graph_excerpt(graph, names=names, count=count))


def search_nodes(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return the entities whose texts contain the query, else those that match its meaning."""
    graph = knowledge_graph.read(rec, caller)
    query = arguments["query"].lower()

    def contains_query(text: str) -> bool:
        return query in text.lower()

    def is_match(entity: GraphEntity) -> bool:
        return any(map(contains_query, (entity.name, entity.kind, *entity.observations)))

    excerpt = graph.neighbourhood(is_match)
    names = sorted(excerpt.names_newest_first(), key=lambda name: not contains_query(name))
    preferred: Callable[[str], bool] = contains_query
    if not names:
        hits = rec.search(
            arguments["query"],
            **caller.read_scope,
            tags=[knowledge_graph.GRAPH_TAG],
            statuses=knowledge_graph.STATUSES,
            limit=MAX_SEMANTIC_HITS,
        )
        excerpt, names = _find_entities(graph, [hit.memory.title for hit in hits])
        preferred = {hit.memory.content for hit in hits}.__contains__
    count = rec.models.count_tokens
    return _graph_result(graph_excerpt(excerpt, names=names, count=count, preferred=preferred))


def open_nodes(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return the entities with the given names."""
    excerpt, names = _find_entities(knowledge_graph.read(rec, caller), arguments["names"])
    return _graph_result(graph_excerpt(excerpt, names=names, count=rec.models.count_tokens))


def _find_entities(graph: KnowledgeGraph, names: Sequence[str]) -> tuple[KnowledgeGraph, list[str]]:
    """Return the existing entities of *names*, and their names in the same order."""
    order = [name for name in dict.fromkeys(names) if name in graph.entities]
    selected = set(order)
    return graph.neighbourhood(lambda entity: entity.name in selected), order


def _require_entity(graph: KnowledgeGraph, name: str) -> None:
    if name not in graph.entities:
        raise NotFound(f"Entity with name {name[:200]} not found")


def _parse_relations(arguments: Arguments) -> list[GraphRelation]:
    rows = arguments["relations"]
    return [GraphRelation(row["from"], row["to"], row["relationType"]) for row in rows]


def _list_result(name: str, rows: Sequence[Arguments]) -> ToolResult:
    return ToolResult({name: rows}, format_json(rows))


def _graph_result(values: Arguments) -> ToolResult:
    return ToolResult(values, format_json(values))


def _archive_or_confirm(
    rec: LocalRecollect, caller: Caller, parts: Sequence[Memory], message: str
) -> ToolOutcome:
    def archive_parts() -> ToolResult:
        knowledge_graph.archive(rec, parts)
        return ToolResult({"success": True, "message": message}, message)

    confirmed = [part for part in parts if part.status is not Status.INBOX]
    if not confirmed:
        return archive_parts()
    listing = "\n".join(f"- {part.content[:200]}" for part in confirmed[:10])
    more = f"\n… and {len(confirmed) - 10} more" if len(confirmed) > 10 else ""
    return ConfirmationRequest(
        question=f"Archive {len(confirmed)} memories you have kept?\n\n{listing}{more}",
        on_confirm=archive_parts,
        alternative="ask the user to archive them with `recollect forget ID`",
    )


def _tool(
    run: ToolFunction,
    description: str,
    hints: Mapping[str, bool],
    output: Mapping[str, Schema],
    **parameters: Schema,
) -> Tool:
    return Tool(
        name=run.__name__,
        description=description,
        parameters=parameters,
        required=tuple(parameters),
        output=output,
        optional_output=("note",),
        hints=hints,
        run=run,
    )


_NAMED = describe(TEXT, "The name of the entity")
GRAPH_TOOLS = (
    _tool(
        create_entities,
        "Create multiple new entities in the knowledge graph",
        ADDITIVE,
        {"entities": _ENTITIES},
        entities=_ENTITIES,
    ),
    _tool(
        create_relations,
        "Create multiple new relations between entities in the knowledge graph. Relations should "
        "be in active voice",
        ADDITIVE,
        {"relations": _RELATIONS},
        relations=_RELATIONS,
    ),
    _tool(
        add_observations,
        "Add new observations to existing entities in the knowledge graph",
        ADDITIVE,
        {"results": list_of(_object(entityName=TEXT, addedObservations=list_of(TEXT)))},
        observations=list_of(_object(entityName=_NAMED, contents=list_of(TEXT))),
    ),
    _tool(
        delete_entities,
        "Delete multiple entities and their associated relations from the knowledge graph",
        DESTRUCTIVE_IDEMPOTENT,
        _DONE,
        entityNames=describe(list_of(TEXT), "An array of entity names to delete"),
    ),
    _tool(
        delete_observations,
        "Delete specific observations from entities in the knowledge graph",
        DESTRUCTIVE_IDEMPOTENT,
        _DONE,
        deletions=list_of(_object(entityName=_NAMED, observations=list_of(TEXT))),
    ),
    _tool(
        delete_relations,
        "Delete multiple relations from the knowledge graph",
        DESTRUCTIVE_IDEMPOTENT,
        _DONE,
        relations=_RELATIONS,
    ),
    _tool(
        read_graph,
        "Read the entire knowledge graph, including what the user has not reviewed yet",
        READ_ONLY,
        _GRAPH,
    ),
    _tool(
        search_nodes,
        "Search for nodes in the knowledge graph based on a query",
        READ_ONLY,
        _GRAPH,
        query=describe(
            {**TEXT, "maxLength": MAX_QUERY_CHARS},
            "Matched against entity names, types, and observation content",
        ),
    ),
    _tool(
        open_nodes,
        "Open specific nodes in the knowledge graph by their names",
        READ_ONLY,
        _GRAPH,
        names=describe(list_of(TEXT), "An array of entity names to retrieve"),
    ),
)
