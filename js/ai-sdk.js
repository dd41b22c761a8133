/**
 * A middleware for the Vercel AI SDK: memory into the prompt before a call, the exchange into memory after it.
 *
 * A call never fails because of the memory, and waits for it only before the model is asked. What the user typed is
 * stored once: the steps of a tool loop, whose prompt ends with a tool result, store only the model's text.
 */

import { RecollectClient } from "./client.js";

const MEMORY_TIMEOUT_MS = 2_000;

export function recollectMiddleware(options) {
  const { agent, budgetTokens, captureOnly = false, specificationVersion = "v3" } = options;
  const { onError = warnOnce() } = options;
  const client = options.client ?? new RecollectClient({ timeoutMs: MEMORY_TIMEOUT_MS, ...options });
  let ready; // the agent is created once, with the first call
  let writes = Promise.resolve(); // one after the other, so that messages stay in order

  const ensureAgent = () => {
    ready ??= client.agent(agent).catch((error) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };

  const remember = (messages) => {
    writes = writes
      .then(ensureAgent)
      .then(async () => {
        for (const message of messages) {
          if (message.content.trim()) await client.storeMessage(agent, message);
        }
      })
      .catch(onError);
    return writes;
  };

  return {
    specificationVersion,

    async transformParams({ params }) {
      const query = lastUserText(params.prompt);
      if (captureOnly || !query.trim()) return params;
      try {
        await ensureAgent();
        const { text } = await client.context(agent, query, { budgetTokens, signal: params.abortSignal });
        return text ? { ...params, prompt: withMemory(params.prompt, text) } : params;
      } catch (error) {
        if (!params.abortSignal?.aborted) onError(error);
        return params;
      }
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const reply = result.content.filter((part) => part.type === "text").map((part) => part.text).join("");
      await remember([...newUserMessages(params.prompt), { role: "assistant", content: reply }]);
      return result;
    },

    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let reply = "";
      const tap = new TransformStream({
        transform(part, controller) {
          if (part.type === "text-delta") reply += part.delta;
          controller.enqueue(part);
        },
        flush: () => remember([...newUserMessages(params.prompt), { role: "assistant", content: reply }]),
      });
      return { ...rest, stream: stream.pipeThrough(tap) };
    },
  };
}

/** Return the prompt with memory as a system message after the leading ones, so that a cached beginning stays. */
function withMemory(prompt, text) {
  const start = prompt.findIndex((message) => message.role !== "system");
  const place = start < 0 ? prompt.length : start;
  return [...prompt.slice(0, place), { role: "system", content: text }, ...prompt.slice(place)];
}

function lastUserText(prompt) {
  const texts = prompt.filter((message) => message.role === "user").map(textOf);
  return texts.filter((text) => text.trim()).at(-1) ?? "";
}

/** Return the messages of the user at the end of the prompt: earlier ones were stored with earlier calls. */
function newUserMessages(prompt) {
  const last = prompt.findLastIndex((message) => message.role !== "user");
  return prompt.slice(last + 1).map((message) => ({ role: "user", content: textOf(message) }));
}

function textOf(message) {
  const parts = Array.isArray(message.content) ? message.content : [];
  return parts.filter((part) => part.type === "text").map((part) => part.text).join("\n");
}

function warnOnce() {
  let warned = false;
  return (error) => {
    if (!warned) console.warn(`recollect: calls continue without memory: ${error.message}`);
    warned = true;
  };
}
