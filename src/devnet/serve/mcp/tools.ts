/**
 * The tools. Most call an HTTP API of this process as a client would, so that checks, limits and error codes are its own; an
 * answer is the JSON that it gave.
 */
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { fromHex } from "#src/base/bytes.ts";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import * as api from "#src/devnet/api/devnet.ts";
import { evaluateTransaction } from "#src/devnet/serve/evaluation.ts";
import { plainText } from "#src/http/textSchemas.ts";
import type { LocalApi, McpSettings } from "#src/devnet/serve/mcp/settings.ts";

/** Most characters of an answer: what a model reads must be short. */
const MOST_CHARACTERS = 100_000;
/** Most outputs and transactions of a list. */
const MOST_ITEMS = 100;
/** Most hexadecimal digits of a transaction: eight times what the ledger allows. */
const MOST_DIGITS = 300_000;

const lovelace = z.union([z.int().positive(), z.string().regex(/^[1-9]\d{0,18}$/)])
  .describe("Lovelace: a whole number, or its digits as a text.");
const address = z.string().min(1).max(300).describe("Address of this network, not a reward address.");
const transaction = z.string().max(MOST_DIGITS).regex(/^([0-9a-fA-F]{2})+$/).describe(
  "CBOR of a whole transaction, in hexadecimal.",
);
const limit = z.int().min(1).max(MOST_ITEMS).default(20).describe("Most items of the answer.");
const after = z.string().max(2_000).optional().describe("The cursor of the answer before.");
const kind = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const id = plainText(256);

/** A tool: what it takes, and the answer. */
interface Tool<Input extends z.ZodType> {
  readonly description: string;
  readonly input: Input;
  /** Whether it changes nothing. */
  readonly reads?: boolean;
  /** Whether it may take blocks from the chain. */
  readonly destroys?: boolean;
  readonly run: (input: z.output<Input>, signal: AbortSignal) => Promise<CallToolResult>;
}

/** Adds the tools that a process has the services for. */
export function addTools(server: McpServer, settings: McpSettings): void {
  const { api: devnetApi, tokens, operators, log } = settings;
  const add = <Input extends z.ZodType>(name: string, { description, input, reads, destroys, run }: Tool<Input>) => {
    server.registerTool(name, {
      description,
      inputSchema: input as z.ZodType,
      annotations: {
        readOnlyHint: reads ?? false,
        destructiveHint: destroys ?? false,
        openWorldHint: false,
      },
    }, async (given, { mcpReq: { signal } }) => {
      try {
        return await run(given as z.output<Input>, signal);
      } catch (error) {
        log.error("a tool failed", { tool: name, reason: reason(error) });
        return failed("internal_error", "The tool failed; try again.");
      }
    });
  };
  const nothing = z.object({});

  add("tip", {
    description: "The newest block, the current slot and the network.",
    input: nothing,
    reads: true,
    run: (_, signal) => ask(devnetApi, { path: "/tip", signal }),
  });
  add("fund", {
    description:
      "Sends lovelace of the faucet to an address; gives the hash of the transaction, which is in the mempool.",
    input: z.object({ address, lovelace }),
    run: ({ address, lovelace }, signal) =>
      ask(devnetApi, { method: "POST", path: "/faucet", body: { address, lovelace: BigInt(lovelace) }, signal }),
  });
  add("utxos", {
    description:
      "Unspent outputs at an address, with the point of the chain; the total tells whether some are left out.",
    input: z.object({ address, limit }),
    reads: true,
    run: ({ address, limit }, signal) =>
      ask(devnetApi, { path: `/utxos/${encodeURIComponent(address)}`, signal, shorten: ["utxos", limit] }),
  });
  add("mempool", {
    description: "Transactions that wait for a block, in order.",
    input: z.object({ limit }),
    reads: true,
    run: ({ limit }, signal) => ask(devnetApi, { path: "/mempool", signal, shorten: ["transactions", limit] }),
  });
  transactionTools(add, settings);

  add("rollback", {
    description:
      "Undoes blocks: so many, or all after a slot. Their transactions return to the mempool unless they are dropped.",
    input: api.rollbackBody,
    destroys: true,
    run: (body, signal) => ask(devnetApi, { method: "POST", path: "/rollback", body, signal }),
  });
  add("snapshot_save", {
    description: "Saves the newest block and the mempool under a name, to return to.",
    input: api.snapshotBody,
    run: (body, signal) => ask(devnetApi, { method: "POST", path: "/snapshots", body, signal }),
  });
  add("snapshot_restore", {
    description: "Goes to the block of a snapshot and restores its mempool.",
    input: z.object({ name: api.snapshotName }),
    destroys: true,
    run: ({ name }, signal) => ask(devnetApi, { method: "POST", path: `/snapshots/${name}/restore`, body: {}, signal }),
  });
  add("snapshots", {
    description: "All snapshots, oldest first.",
    input: nothing,
    reads: true,
    run: (_, signal) => ask(devnetApi, { path: "/snapshots", signal }),
  });
  add("time", {
    description: "The devnet's clock: the current slot, its time, and how far it runs ahead of the machine's clock.",
    input: nothing,
    reads: true,
    run: (_, signal) => ask(devnetApi, { path: "/time", signal }),
  });
  add("advance_time", {
    description:
      "Moves the devnet's clock at once: by slots, seconds or epochs, or to a slot, a time or an epoch. Give exactly one.",
    input: api.advanceBody,
    run: (body, signal) => ask(devnetApi, { method: "POST", path: "/time/advance", body, signal }),
  });
  add("make_blocks", {
    description: "Makes blocks now, in the next slots; the first ones hold the mempool.",
    input: api.blocksBody,
    run: (body, signal) => ask(devnetApi, { method: "POST", path: "/blocks", body, signal }),
  });

  if (tokens) {
    add("facts", {
      description: "The facts of a token, sorted by key; prefix and contains are texts.",
      input: z.object({
        token: id.describe("Id of the token: its policy id and asset name."),
        prefix: z.string().max(1_024).optional(),
        contains: z.string().max(1_024).optional(),
        limit,
        after,
      }),
      reads: true,
      run: ({ token, ...query }, signal) =>
        ask(tokens, { path: `/token/${encodeURIComponent(token)}/facts`, query, signal }),
    });
  }
  if (operators) {
    add("actors", {
      description: "Actors by kind and id: tokens, requests, wallets and others.",
      input: z.object({ kind: kind.optional(), state: z.string().max(200).optional(), limit, after }),
      reads: true,
      run: (query, signal) => ask(operators, { path: "/actors", query, signal }),
    });
    add("actor", {
      description: "An actor, with its state and its pending work.",
      input: z.object({ kind, id }),
      reads: true,
      run: ({ kind, id }, signal) => ask(operators, { path: `/actors/${kind}/${encodeURIComponent(id)}`, signal }),
    });
    add("actor_history", {
      description: "Retained transitions of an actor, newest first.",
      input: z.object({ kind, id, limit, before: after }),
      reads: true,
      run: ({ kind, id, ...query }, signal) =>
        ask(operators, { path: `/actors/${kind}/${encodeURIComponent(id)}/history`, query, signal }),
    });
  }
}

/** Tools that take a transaction. */
function transactionTools(
  add: <Input extends z.ZodType>(name: string, tool: Tool<Input>) => void,
  settings: McpSettings,
): void {
  const { devnet } = settings;
  add("evaluate", {
    description: "The execution units that each redeemer of a transaction needs; it need not be balanced or signed.",
    input: z.object({ transaction }),
    reads: true,
    run: async ({ transaction }) => {
      const evaluated = await evaluateTransaction(settings, fromHex(transaction.toLowerCase()), []);
      switch (evaluated.kind) {
        case "measured":
          return answered({
            redeemers: evaluated.redeemers.map(({ purpose, index, result }) => ({
              purpose,
              index,
              ...(result.ok ? { units: { ...result.value } } : { failure: { ...result.error } }),
            })),
          });
        case "no_context":
          return failed("no_context", `No script can see the transaction: ${evaluated.reason}: ${evaluated.about}.`);
        case "overlap":
          return failed("overlap", "Outputs of the request contradict those of the chain.");
        case "undecodable":
          return failed("undecodable", evaluated.message);
        case "unavailable":
          return failed("devnet_unavailable", evaluated.message);
      }
    },
  });
  add("submit", {
    description: "Submits a transaction that is signed already; gives its hash, or why the ledger refuses it.",
    input: z.object({ transaction }),
    run: async ({ transaction }) => {
      const bytes = fromHex(transaction.toLowerCase());
      const submitted = await devnet.submit(bytes);
      if (!submitted.ok) return failed(submitted.error.code, submitted.error.message);
      if (submitted.value.outcome === "accepted") return answered({ txHash: scanTransaction(bytes).hash });
      const sentences = submitted.value.failures.map(describeFailure).join(" ");
      return failed("refused_by_ledger", `The ledger refuses the transaction: ${sentences}`);
    },
  });
}

/** A request to an API of this process. */
interface Asked {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: Json | Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** A list in the answer, and how many of its elements are given. */
  readonly shorten?: readonly [name: string, most: number];
}

async function ask(
  to: LocalApi,
  { method = "GET", path, query = {}, body, signal, shorten }: Asked,
): Promise<CallToolResult> {
  const url = new URL(`http://127.0.0.1${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const response = await to.fetch(
    new Request(url, {
      method,
      headers: { host: url.host, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: toJson(body as Json) }),
      signal,
    }),
  );
  const text = await response.text();
  if (!response.ok) return { isError: true, content: [{ type: "text", text: text.slice(0, MOST_CHARACTERS) }] };
  if (!shorten) return bounded(text);
  const [name, most] = shorten;
  const json = parseJson(text);
  const list = isObject(json) ? json[name] : undefined;
  if (!isObject(json) || !Array.isArray(list)) return bounded(text);
  return bounded(toJson({ ...json, total: list.length, [name]: list.slice(0, most) }));
}

function bounded(text: string): CallToolResult {
  if (text.length <= MOST_CHARACTERS) return { content: [{ type: "text", text }] };
  return failed("answer_too_large", `The answer has ${text.length} characters; request fewer items.`);
}

const answered = (json: unknown) => bounded(toJson(json));

/** A refusal in the form of the HTTP APIs. */
function failed(code: string, error: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text: toJson({ code, error: error.slice(0, MOST_CHARACTERS) }) }] };
}
