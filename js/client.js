/** A client of the routes of a Recollect server that a prompt needs. No dependencies. */

export const DEFAULT_URL = "http://127.0.0.1:8283";
const DEFAULT_TIMEOUT_MS = 10_000;

/** An answer of the server other than 2xx, or none: then `status` is 0. */
export class RecollectError extends Error {
  constructor(message, { status = 0, problem, cause } = {}) {
    super(message, { cause });
    this.name = "RecollectError";
    this.status = status;
    this.problem = problem;
  }
}

export class RecollectClient {
  #url;
  #token;
  #timeoutMs;

  constructor({ url = DEFAULT_URL, token, timeoutMs = DEFAULT_TIMEOUT_MS } = {}) {
    this.#url = url.replace(/\/+$/, "");
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  /** Create an agent, or return the one that has this name. */
  agent(name, { metadata, signal } = {}) {
    return this.#post("/agents", { name, metadata }, { signal });
  }

  /** Return what to put into a prompt: blocks, facts and messages about the query. */
  context(agent, query, options = {}) {
    const { conversation, budgetTokens, model, signal } = options;
    const body = { query, conversation, budget_tokens: budgetTokens, model };
    return this.#post(`/context/${encodeURIComponent(agent)}`, body, { signal });
  }

  /** Store a message in the running conversation of an agent. */
  storeMessage(agent, message, { idempotencyKey, signal } = {}) {
    const headers = idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {};
    const { role, content, metadata } = message;
    const body = { agent_name: agent, role, content, metadata };
    return this.#post("/messages", body, { headers, signal });
  }

  /** Search memories, best first. */
  search(query, { signal, ...options } = {}) {
    return this.#post("/api/search", { query, ...options }, { signal });
  }

  async #post(path, body, { headers = {}, signal } = {}) {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const authorization = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    let response, text;
    try {
      response = await fetch(this.#url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...authorization, ...headers },
        body: JSON.stringify(body),
        signal: eitherSignal(timeout, signal),
      });
      text = await response.text();
    } catch (cause) {
      if (signal?.aborted) throw cause;
      const why = cause.name === "TimeoutError" ? `did not answer in ${this.#timeoutMs} ms` : "cannot be reached";
      throw new RecollectError(`the server ${this.#url} ${why}`, { cause });
    }
    const answer = text ? parse(text) : null;
    if (response.ok && answer !== undefined) return answer;
    const what = answer?.detail ?? `status ${response.status}`;
    const message = typeof what === "string" ? what : JSON.stringify(what);
    throw new RecollectError(message, { status: response.status, problem: answer });
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Return a signal that aborts with either; the second is optional. `AbortSignal.any` exists since Node 20.3. */
export function eitherSignal(first, second) {
  if (!second) return first;
  const controller = new AbortController();
  for (const signal of [first, second]) {
    if (signal.aborted) controller.abort(signal.reason);
    signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}
