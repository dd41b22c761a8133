-- A skill is never changed: it is known by its content, and several may have the same one.
DROP INDEX skills_by_content;
CREATE INDEX skills_by_content ON skills(name, sha256);
