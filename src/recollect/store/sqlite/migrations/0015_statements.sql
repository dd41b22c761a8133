-- A sentence that the user said and that is not proposed for review has a status of its own. Search finds it as something
-- that was said; the inbox does not list it.

-- Only the CHECK constraint changes, so the rows stay where they are (https://sqlite.org/lang_altertable.html, section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
   SET sql = replace(sql, '''inbox'', ''active'', ''superseded''', '''stated'', ''inbox'', ''active'', ''superseded''')
 WHERE type = 'table' AND name = 'memories';
PRAGMA writable_schema = RESET;

-- A change of the schema's version tells other connections to read the schema again.
CREATE VIEW schema_has_changed AS SELECT 1;
DROP VIEW schema_has_changed;
