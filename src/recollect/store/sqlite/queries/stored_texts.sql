-- source_contents: the raw material
SELECT id, content FROM sources ORDER BY id;

-- items_with_terms: items that have all terms, each as a word of the user or, with :prefix, of the assistant
SELECT s.kind, i.id, m.conversation_id
  FROM (SELECT p.seq FROM json_each(:terms) j
          CROSS JOIN terms t ON t.term IN (j.value, :prefix || j.value)
          CROSS JOIN postings p ON p.term_id = t.id
         GROUP BY p.seq HAVING count(DISTINCT j.value) = :count) x
  JOIN items i ON i.seq = x.seq JOIN shelves s ON s.id = i.shelf_id LEFT JOIN messages m ON m.id = i.id
 LIMIT :limit;

-- messages_among: those of some ids that are messages of some conversations
SELECT id FROM messages WHERE id IN (SELECT value FROM json_each(:ids))
   AND conversation_id IN (SELECT value FROM json_each(:conversation_ids));
