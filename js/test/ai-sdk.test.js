/** The middleware in the real AI SDK with its scripted model, against a running server. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import * as aiTest from "ai/test";
import { z } from "zod";
import { recollectMiddleware } from "../ai-sdk.js";
import { RecollectClient } from "../client.js";

const { simulateReadableStream } = aiTest;
const isVersion7 = "MockLanguageModelV4" in aiTest; // of the package ai
const MockLanguageModel = isVersion7 ? aiTest.MockLanguageModelV4 : aiTest.MockLanguageModelV3;

const url = process.env.RECOLLECT_URL;
const client = new RecollectClient({ url });
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finished = { finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] };

const scripted = (...contents) => {
  const left = [...contents];
  return new MockLanguageModel({ doGenerate: async () => ({ ...finished, content: left.shift() }) });
};
const saying = (text) => [{ type: "text", text }];
const told = (call) => call.prompt.filter((message) => message.role === "system").map((message) => message.content).join("\n");
const messages = async (agent) => {
  const response = await fetch(`${url}/messages/${agent}`);
  return (await response.json()).reverse().map((message) => [message.role, message.content]);
};

test("what one call says the next one is told, and each is stored once", async () => {
  const mock = scripted(saying("Noted."), saying("Alba."));
  const model = wrapLanguageModel({ model: mock, middleware: recollectMiddleware({ agent: "sailor", url }) });

  await generateText({ model, prompt: "My boat is called Alba." });
  const { text } = await generateText({ model, system: "Be short.", prompt: "What is my boat called?" });

  assert.equal(text, "Alba.");
  assert.match(told(mock.doGenerateCalls[1]), /^Be short\.[^]*My boat is called Alba/);
  assert.deepEqual(await messages("sailor"), [
    ["user", "My boat is called Alba."],
    ["assistant", "Noted."],
    ["user", "What is my boat called?"],
    ["assistant", "Alba."],
  ]);
});

test("the steps of a tool loop store what the user typed once", async () => {
  const call = { type: "tool-call", toolCallId: "c1", toolName: "tide", input: "{}" };
  const mock = scripted([call], saying("High at noon."));
  const model = wrapLanguageModel({ model: mock, middleware: recollectMiddleware({ agent: "pilot", url }) });
  const tide = tool({ inputSchema: z.object({}), execute: async () => "12:00" });

  await generateText({ model, prompt: "When is high tide?", tools: { tide }, stopWhen: stepCountIs(3) });

  assert.deepEqual(await messages("pilot"), [
    ["user", "When is high tide?"],
    ["assistant", "High at noon."],
  ]);
});

test("a stream reaches the caller whole and is stored when it ends", async () => {
  const parts = ["Al", "ba."].map((delta) => ({ type: "text-delta", id: "1", delta }));
  const chunks = [{ type: "text-start", id: "1" }, ...parts, { type: "text-end", id: "1" }, { type: "finish", ...finished }];
  const mock = new MockLanguageModel({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
  const model = wrapLanguageModel({ model: mock, middleware: recollectMiddleware({ agent: "reader", client }) });

  const { textStream } = streamText({ model, prompt: "Read me its name." });
  let text = "";
  for await (const delta of textStream) text += delta;

  assert.equal(text, "Alba.");
  assert.deepEqual(await messages("reader"), [["user", "Read me its name."], ["assistant", "Alba."]]);
});

test("a server that hangs is waited for once", async () => {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  const errors = [];
  const middleware = recollectMiddleware({
    agent: "patient",
    url: `http://127.0.0.1:${server.address().port}`,
    onError: (error) => errors.push(error),
  });
  const model = wrapLanguageModel({ model: scripted(saying("Hello."), saying("Again.")), middleware });
  const start = performance.now();

  await generateText({ model, prompt: "Hello?" });
  await generateText({ model, prompt: "And now?" });
  server.closeAllConnections();
  server.close();

  assert.ok(performance.now() - start < 3_500);
  assert.deepEqual(errors.map((error) => error.name), ["RecollectError"]);
});

test("a message that the server refuses does not stop the memory", async () => {
  const errors = [];
  const options = { agent: "strict", url, onError: (error) => errors.push(error) };
  const model = wrapLanguageModel({
    model: scripted(saying("Too long."), saying("Noted.")),
    middleware: recollectMiddleware({ ...options, captureOnly: true }),
  });

  await generateText({ model, prompt: "x".repeat(1_100_000) });
  await generateText({ model, prompt: "My boat is blue." });

  assert.deepEqual(errors.map((error) => error.status), [413]);
  assert.deepEqual((await messages("strict")).at(-1), ["assistant", "Noted."]);
});

test("without a server a call goes on and the first error is reported", async () => {
  const errors = [];
  const middleware = recollectMiddleware({ agent: "lost", url: "http://127.0.0.1:9", onError: (error) => errors.push(error) });
  const model = wrapLanguageModel({ model: scripted(saying("Hello.")), middleware });

  const { text } = await generateText({ model, prompt: "Hello?" });

  assert.equal(text, "Hello.");
  assert.equal(errors[0].name, "RecollectError");
});
