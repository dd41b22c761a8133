-- Conflicts are counted for every page and every open tab: they are found without reading the other links.
CREATE INDEX memory_links_contradicting ON memory_links(created_at, id, from_id, to_id) WHERE relation = 'contradicts';
