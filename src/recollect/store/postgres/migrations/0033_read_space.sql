-- The commands that list the audit log and move a team read every space, also that of a revoked user: the entries and
-- memories stay when the user goes, but the user, who acts as the own space, sees nothing any more.
--
-- 'read-only:' before the id of a space stands for such a command: it may read that space, and write nothing.
CREATE OR REPLACE FUNCTION may_use_space(space text, writes boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    caller text := coalesce(current_setting('recollect.acting_user', true), '');
BEGIN
    IF caller = '' THEN
        RETURN false;
    END IF;
    IF caller = 'read-only:' || space THEN
        RETURN NOT writes;
    END IF;
    IF caller = space THEN
        RETURN NOT EXISTS (SELECT 1 FROM users u WHERE u.id = caller AND u.revoked_at IS NOT NULL);
    END IF;
    RETURN EXISTS (SELECT 1 FROM users u WHERE u.id = caller AND u.revoked_at IS NULL
                      AND u.has_first_store = 1 AND space = 'first-store')
        OR EXISTS (SELECT 1 FROM project_members m JOIN users u ON u.id = m.user_id
                    WHERE m.project_id = space AND m.user_id = caller AND u.revoked_at IS NULL
                      AND (NOT writes OR m.role IN ('writer', 'owner')));
END $$;

-- The temporary schema last, also if the walls are built already: no temporary table stands in for the directory.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION may_use_space(text, boolean) SET search_path = %I, pg_temp', current_schema());
END $$;
