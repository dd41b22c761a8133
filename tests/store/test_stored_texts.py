"""Every column with text is either looked through by `forget`, or known to hold no words."""

from pathlib import Path

import apsw

from recollect.service.forget_plan import REDACTED_TABLES, REPORTED_TABLES
from recollect.store.repositories.stored_texts import COLUMNS
from support import open_memory

# Columns that hold ids, enums, hashes, times or model names.
_NO_WORDS = """
evidence.voice clients.name agents.model agents.pinned blocks.label blocks.scope
blocks.unconfirmed_author agent_blocks.label block_history.changed_by
block_history.unconfirmed_author block_proposals.author block_proposals.state
summaries.mode summaries.made_by messages.role
messages.name pins.kind sources.kind sources.sha256 sources.redactions sources.session
ingestion_events.trigger ingestion_events.scope ingestion_events.state jobs.kind jobs.state
jobs.worker memories.type memories.scope memories.status memories.source_kind memories.fingerprint
memories.redactions memories.voice memories.flags memories.rule memories.session
memory_changes.kind memory_changes.before memory_changes.after memory_changes.by
memory_changes.effects memory_links.relation memory_links.to_kind model_calls.model runs.state
runs.stop_reason runs.model run_calls.tool run_calls.state sleeptime_runs.state
sleeptime_runs.reason sleeptime_runs.made_by sleeptime_runs.note sleeptime_edits.label
model_calls.purpose skills.origin skills.path skills.sha256 files.sha256 agent_files.root
repos.name repos.remote repos.root projects.identity unfinished_work.kind unfinished_work.subject
unfinished_work.detail exports_written.sha256 migrations.name migrations.sha256 requests.key
requests.fingerprint conversations.key documents.namespace documents.key models.name models.profile
shelves.kind
sync_device.device sync_device.place sync_device.folder sync_device.head sync_device.former_devices
sync_device.replaced_key_ids sync_records.kind
sync_records.vector sync_records.origin sync_changes.kind sync_files.device sync_files.sha256
sync_contents.kind sync_aliases.kind sync_problems.problem
users.name users.token_hash team_projects.name team_projects.identity project_members.role
audit_log.user audit_log.verb audit_log.space audit_log.ids audit_log.client audit_log.outcome
shelves.scope retrievals.verb tombstones.kind tombstones.sha256 tool_calls.kind tool_calls.outcome
"""
# Columns that go with their memory, or that `forget` handles by itself.
_HANDLED = """
evidence.quote memories.key memory_tags.tag sources.content retrievals.query views.name views.query
views.asking terms.term tool_calls.name tool_calls.subject tool_calls.error
"""


def test_a_column_with_text_cannot_be_overlooked(path: Path) -> None:
    open_memory(path).close()
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    texts = {
        f"{table}.{row[1]}"
        for table in tables
        for row in db.execute(f"PRAGMA table_xinfo({table})")
        if row[2] == "TEXT" and row[1] != "id" and not row[1].endswith("_id")
    }
    db.close()
    listed = {f"{table}.{column}" for table, (_, columns) in COLUMNS.items() for column in columns}
    known = {*_NO_WORDS.split(), *_HANDLED.split()}

    assert texts - listed - known == set()
    assert (listed | known) - texts == set()
    assert not listed & known
    assert set(COLUMNS) == {*REDACTED_TABLES, *REPORTED_TABLES, "memories"}
