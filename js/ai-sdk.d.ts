import type { LanguageModelMiddleware } from "ai";
import type { ClientOptions, RecollectClient } from "./client.js";

export interface MiddlewareOptions extends ClientOptions {
  /** The agent whose memory it is; it is created with the first call. */
  agent: string;
  /** Instead of `url` and `token`. */
  client?: RecollectClient;
  /** Of the text that is added to the prompt; default 2,000. */
  budgetTokens?: number;
  /** Store the exchange, but add nothing to the prompt. */
  captureOnly?: boolean;
  /** Called with each error of the memory; by default the first one is logged. */
  onError?: (error: Error) => void;
}

export declare function recollectMiddleware(options: MiddlewareOptions): LanguageModelMiddleware;
