/**
 * A middleware for the Vercel AI SDK: memory into the prompt before a call, the exchange into memory after it.
 *
 * A call never fails because of the memory, and waits for it for a bounded time. After a failure the next calls do
 * without it for a while. What the user typed is stored once: the steps of a tool loop, whose prompt ends with a tool
 * result, store only the model's text.
 */

import { eitherSignal, RecollectClient, RecollectError } from "./client.js";

const MEMORY_TIMEOUT_MS = 2_000; // before the model is asked, and after it
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export function recollectMiddleware(options) {
  const { agent, budgetTokens, captureOnly = false } = options;
  const { onError = warnOnce() } = options;
  const client = options.client ?? new RecollectClient(options);
  const pause = pauseAfterFailures();
  let ready; // the agent is created once, with the first call
  let writes = Promise.resolve(); // one after the other, so that messages stay in order

  const ensureAgent = (signal) => {
    ready ??= client.agent(agent, { signal }).catch((error) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };

  const failed = (cause) => {
    const tooLate = `the memory did not answer in ${MEMORY_TIMEOUT_MS} ms`;
    const error = cause.name === "TimeoutError" ? new RecollectError(tooLate, { cause }) : cause;
    pause.note(error);
    onError(error);
  };

  const store = async (messages) => {
    if (pause.lasts()) return;
    const signal = AbortSignal.timeout(MEMORY_TIMEOUT_MS);
    try {
      await ensureAgent(signal);
      for (const message of messages) {
        if (message.content.trim()) await client.storeMessage(agent, message, { signal });
      }
      pause.end();
    } catch (error) {
      failed(error);
    }
  };

  const remember = (messages) => {
    writes = writes.then(() => store(messages));
    return writes;
  };

  return {
    specificationVersion: "v3", // of ai 6; ai 7 does not read it

    async transformParams({ params }) {
      const query = lastUserText(params.prompt);
      if (captureOnly || !query.trim() || pause.lasts()) return params;
      const signal = eitherSignal(AbortSignal.timeout(MEMORY_TIMEOUT_MS), params.abortSignal);
      try {
        await ensureAgent(signal);
        const { text } = await client.context(agent, query, { budgetTokens, signal });
        return text ? { ...params, prompt: withMemory(params.prompt, text) } : params;
      } catch (error) {
        if (!params.abortSignal?.aborted) failed(error);
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

/** After a failure of the server wait 1, 2, 4, … 30 seconds before it is asked again. */
function pauseAfterFailures() {
  let length = 0;
  let until = 0;
  return {
    lasts: () => Date.now() < until,
    note: (error) => {
      if (error.status > 0 && error.status < 500) return; // it answers: this message was refused
      length = Math.min(Math.max(FIRST_PAUSE_MS, 2 * length), LONGEST_PAUSE_MS);
      until = Date.now() + length;
    },
    end: () => {
      length = 0;
    },
  };
}

function warnOnce() {
  let warned = false;
  return (error) => {
    if (!warned) console.warn(`recollect: calls continue without memory: ${error.message}`);
    warned = true;
  };
}
