/** The client against a running server: RECOLLECT_URL names it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RecollectClient, RecollectError } from "../client.js";

const url = process.env.RECOLLECT_URL;
const client = new RecollectClient({ url });

test("a stored message is in the context of a later question", async () => {
  const agent = await client.agent("node");
  const stored = await client.storeMessage("node", { role: "user", content: "My boat is called Alba." });
  const context = await client.context("node", "What is my boat called?", { budgetTokens: 500 });

  assert.equal(agent.name, "node");
  assert.equal(stored.role, "user");
  assert.match(context.text, /Alba/);
  assert.ok(context.tokens > 0 && context.tokens <= 500);
});

test("a message with a key is stored once", async () => {
  await client.agent("node/once");
  const message = { role: "user", content: "Only once." };
  const first = await client.storeMessage("node/once", message, { idempotencyKey: "k1" });
  const second = await client.storeMessage("node/once", message, { idempotencyKey: "k1" });

  assert.equal(first.id, second.id);
});

test("a search finds memories of its project with their evidence", async () => {
  const hits = await client.search("npm or pnpm?", { project: "site", types: ["decision"] });

  assert.equal(hits[0].memory.content, "We use pnpm, not npm.");
  assert.equal(hits[0].memory.evidence[0].quote, "We use pnpm, not npm.");
  assert.deepEqual(await client.search("npm or pnpm?", { project: "bank", types: ["decision"] }), []);
});

test("an error of the server says what happened", async () => {
  await assert.rejects(client.context("nobody", "Hello?"), (error) => {
    assert.ok(error instanceof RecollectError);
    assert.equal(error.status, 404);
    assert.match(error.message, /nobody/);
    return true;
  });
});

test("a server that is not there is an error without a status", async () => {
  const nowhere = new RecollectClient({ url: "http://127.0.0.1:9" });

  await assert.rejects(nowhere.search("x"), { name: "RecollectError", status: 0 });
});
