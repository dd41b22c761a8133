/** Do what a program does with a Letta server, named by LETTA_BASE_URL. Nothing in here knows Recollect. */

import assert from "node:assert/strict";
import { Letta, NotFoundError, toFile } from "@letta-ai/letta-client";

const client = new Letta({ baseURL: process.env.LETTA_BASE_URL });

async function all(list) {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
}

assert.equal((await client.health()).status, "ok");

// Agents and blocks
const agent = await client.agents.create({
  name: "scout",
  model: "openai/gpt-4o-mini",
  embedding: "openai/text-embedding-3-small",
  memory_blocks: [
    { label: "human", value: "The user is Ada." },
    { label: "persona", value: "I plan journeys." },
  ],
  tags: ["travel"],
});
assert.deepEqual((await all(client.agents.list({ tags: ["travel"] }))).map((one) => one.id), [agent.id]);
assert.equal((await client.agents.update(agent.id, { description: "A guide." })).description, "A guide.");
assert.equal((await client.agents.retrieve(agent.id)).name, "scout");
const blocks = client.agents.blocks;
await blocks.update("human", { agent_id: agent.id, value: "Ada, of Porto." });
assert.equal((await blocks.retrieve("human", { agent_id: agent.id })).value, "Ada, of Porto.");
const shared = await client.blocks.create({ label: "rules", value: "Trains before planes." });
const other = await client.agents.create({ name: "helper", block_ids: [shared.id] });
await blocks.attach(shared.id, { agent_id: agent.id });
await client.blocks.update(shared.id, { value: "Night trains before planes." });
for (const holder of [agent.id, other.id]) {
  assert.match((await blocks.retrieve("rules", { agent_id: holder })).value, /^Night/);
}
assert.equal((await all(client.blocks.agents.list(shared.id))).length, 2);
await blocks.detach(shared.id, { agent_id: agent.id });
assert.deepEqual((await all(blocks.list(agent.id))).map((block) => block.label), ["persona", "human"]);
await client.agents.delete(other.id);

// Passages
const [kept] = await client.agents.passages.create(agent.id, {
  text: "The passport expires in 2031.",
  tags: ["papers"],
});
const [spare] = await client.agents.passages.create(agent.id, { text: "The hotel was loud." });
const found = await client.agents.passages.search(agent.id, { query: "passport", tags: ["papers"] });
assert.equal(found.results[0].id, kept.id);
await client.agents.passages.delete(spare.id, { agent_id: agent.id });
assert.deepEqual((await client.agents.passages.list(agent.id)).map((one) => one.id), [kept.id]);

// Messages, plain and streamed
for (const content of ["I want to see Lisbon.", "In May, by night train.", "Two people."]) {
  const answer = await client.agents.messages.create(agent.id, { messages: [{ role: "user", content }] });
  assert.equal(answer.stop_reason.stop_reason, "end_turn");
}
const messages = [{ role: "user", content: "Thank you." }];
const stream = await client.agents.messages.stream(agent.id, { messages });
for await (const event of stream) assert.ok(event.message_type);
const listed = await all(client.agents.messages.list(agent.id, { order: "asc", limit: 2 }));
assert.equal(listed.length, 4, "the pages of a list are read to the end");
assert.equal(listed[1].content, "In May, by night train.");
const hits = await client.messages.search({ query: "night train", agent_id: agent.id });
assert.equal(hits[0].message_id, listed[1].id);
assert.equal((await client.messages.retrieve(listed[1].id))[0].content, "In May, by night train.");

// Conversations
const talk = await client.conversations.create({ agent_id: agent.id, summary: "Lisbon" });
const said = ["Which museums are open?", "The tile museum.", "And on Mondays?", "Not that one."];
for (const [place, content] of said.entries()) {
  const role = place % 2 ? "assistant" : "user";
  const answer = await client.conversations.messages.create(talk.id, {
    messages: [{ role, content }],
    streaming: true,
  });
  for await (const event of answer) assert.ok(event.message_type);
}
const spoken = await all(client.conversations.messages.list(talk.id, { order: "asc" }));
assert.deepEqual(spoken.map((message) => message.content), said);
const fork = await client.conversations.fork(talk.id, { message_id: spoken[1].id });
assert.equal((await all(client.conversations.messages.list(fork.id))).length, 2);
const compacted = await client.conversations.messages.compact(talk.id, {
  compaction_settings: { mode: "all" },
});
assert.ok(compacted.summary);
assert.ok(compacted.num_messages_after < compacted.num_messages_before);
await client.conversations.delete(fork.id);

// Archives
const archive = await client.archives.create({ name: "railways" });
await client.agents.archives.attach(archive.id, { agent_id: agent.id });
const one = await client.archives.passages.create(archive.id, { text: "The Lusitania left at 21:25." });
const old = await client.agents.passages.search(agent.id, { query: "Lusitania" });
assert.equal(old.results[0].id, one.id);
await client.archives.delete(archive.id);

// An agent as a file
const file = await client.agents.exportFile(agent.id);
const text = typeof file === "string" ? file : JSON.stringify(file);
const imported = await client.agents.importFile({ file: await toFile(Buffer.from(text), "scout.af") });
const copy = await client.agents.retrieve(imported.agent_ids[0]);
assert.deepEqual([copy.name, copy.tags, copy.description], ["scout", ["travel"], "A guide."]);

// Errors
await client.agents.delete(agent.id);
await assert.rejects(client.agents.retrieve(agent.id), NotFoundError);
await assert.rejects(client.runs.list(), (error) => error.status === 501 && /Recollect/.test(error.message));
console.log("done");
