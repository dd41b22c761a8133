/** Compiled, not run: the types fit those of the AI SDK, and wrong arguments are refused. */

import { wrapLanguageModel, type LanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { RecollectClient, type Hit } from "recollect-client";
import { recollectMiddleware } from "recollect-client/ai-sdk";

const client = new RecollectClient({ url: "http://127.0.0.1:8283" });
const hits: Promise<Hit[]> = client.search("boat", { types: ["decision"], limit: 3 });
const text: Promise<string> = client.context("sailor", "boat").then((context) => context.text);
const middleware = recollectMiddleware({ agent: "sailor", client });
const model: LanguageModel = wrapLanguageModel({ model: new MockLanguageModelV3(), middleware });
// @ts-expect-error a role that does not exist
void client.storeMessage("sailor", { role: "captain", content: "Ahoy" });
// @ts-expect-error the agent is required
void recollectMiddleware({});
void [hits, text, model];
