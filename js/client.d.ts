export declare const DEFAULT_URL: string;

export interface ClientOptions {
  /** The address of the server; default `http://127.0.0.1:8283`. */
  url?: string;
  token?: string;
  /** Of one request; default 10,000. */
  timeoutMs?: number;
}

export type Role = "user" | "assistant" | "system" | "tool";
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Metadata = { [key: string]: Json };
export type MemoryType = "profile" | "project" | "decision" | "artifact" | "episode" | "task_hint";

export interface Agent {
  id: string;
  name: string;
  created_at: string;
  metadata: Metadata | null;
}

export interface StoredMessage {
  id: string;
  agent_id: string;
  role: Role;
  content: string;
  created_at: string;
  conversation_id: string;
  metadata: Metadata | null;
}

export interface Citation {
  /** The mark of a line of `text`. */
  mark: string;
  memory_id: string;
  quote: string;
  source_id: string;
}

export interface Context {
  /** Markdown, fenced as data: put it into the prompt as it is. '' if nothing is known. */
  text: string;
  /** The beginning of `text` that stays the same until a block changes. */
  prefix: string;
  tokens: number;
  citations: Citation[];
  memory_blocks: { id: string; label: string; value: string; version: number }[];
  relevant_messages: StoredMessage[];
  retrieval_id: string | null;
}

export interface Memory {
  id: string;
  type: MemoryType;
  scope: string;
  status: string;
  content: string;
  title: string;
  rationale: string;
  alternatives: string[];
  tags: string[];
  confidence: number;
  observed_at: string;
  evidence: { id: string; quote: string; source_id: string }[];
}

export interface Hit {
  memory: Memory;
  score: number;
  explanation: string;
  matched_words: string[];
  /** The ids of memories that contradict this one. */
  conflicts: string[];
  is_weak: boolean;
  only_unreviewed: boolean;
  /** `related`: linked to another hit; returned only if asked for. */
  reached: string;
  /** The newer memory that contradicts this one, which is shown as earlier. */
  contradicted_by: { id: string; at: string } | null;
}

export interface SearchOptions {
  project?: string;
  agent?: string;
  types?: MemoryType[];
  statuses?: string[];
  tags?: string[];
  /** Also return memories that are linked to the hits. */
  related?: boolean;
  limit?: number;
  offset?: number;
  signal?: AbortSignal;
}

export declare class RecollectError extends Error {
  /** The status of the answer, 0 if there was none. */
  readonly status: number;
  /** The body of the answer: `detail` says what happened. */
  readonly problem: unknown;
}

export declare class RecollectClient {
  constructor(options?: ClientOptions);
  agent(name: string, options?: { metadata?: Metadata; signal?: AbortSignal }): Promise<Agent>;
  context(
    agent: string,
    query: string,
    options?: { conversation?: string; budgetTokens?: number; model?: string; signal?: AbortSignal },
  ): Promise<Context>;
  storeMessage(
    agent: string,
    message: { role: Role; content: string; metadata?: Metadata },
    options?: { idempotencyKey?: string; signal?: AbortSignal },
  ): Promise<StoredMessage>;
  search(query: string, options?: SearchOptions): Promise<Hit[]>;
}
