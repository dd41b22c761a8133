-- A skill is never changed: it is known by its content, and several may have the same one. So sync can add those of other devices.
DROP INDEX skills_by_content;
CREATE INDEX skills_by_content ON skills(name, sha256);
-- Skills that agents have loaded are synced now: stores that sync already publish theirs.
INSERT OR IGNORE INTO sync_changes (kind, id, times, redacted)
SELECT 'agent_skills', agent_id || ' ' || skill_id, 1, 0 FROM agent_skills WHERE EXISTS (SELECT 1 FROM sync_device);
