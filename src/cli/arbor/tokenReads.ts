/** Commands of `arbor token` that only read: tokens, facts, requests. */
import { type Command, Option } from "commander";
import type { HistorySelection } from "#src/client/tokenFacts.ts";
import type { Facts } from "#src/client/tokens.ts";
import { type Context, define, first, limitOption, pageSize, wholeNumber } from "#src/cli/arbor/command.ts";
import {
  type AgainstOptions,
  isAgainst,
  provedFacts,
  provedList,
  provedRequests,
  provedState,
  withAgainst,
} from "#src/cli/arbor/provedReads.ts";
import { encodingOf, factText, type TextOptions, withHex, withTrust } from "#src/cli/arbor/factText.ts";
import { CliError } from "#src/cli/error.ts";
import { short } from "#src/cli/output.ts";
import { historyOffline } from "#src/cli/offline.ts";
import { factsVerifier, type TrustOptions } from "#src/cli/proofs.ts";

type FactsOptions = TextOptions & TrustOptions & AgainstOptions & {
  readonly prefix?: string;
  readonly slots?: boolean;
  readonly limit?: number;
  readonly verify?: boolean;
};

/** Most facts of a page. */
const PAGE = 1_000;
/** Greatest `--limit`. */
const MOST = 1_000_000;

/** Adds the commands that read to `arbor token`. */
export function readCommands(token: Command): void {
  for (const add of [listCommand, showCommand, factsCommand, historyCommand, requestsCommand]) add(token);
}

function listCommand(token: Command): void {
  withAgainst(define(token, {
    usage: "list",
    description: "live tokens, the oldest first",
    example: "token list",
  }, async (context: Context<AgainstOptions>) => {
    if (isAgainst(context.options)) return await provedList(context);
    const { tokens, output } = context;
    const answer = await tokens.tokens();
    output.list(
      answer,
      ["token", "status", "owner", "root"],
      answer.tokens.map(({ tokenId, status, owner, root }) => [tokenId, status, short(owner), short(root)]),
    );
  }));
}

function showCommand(token: Command): void {
  withAgainst(define(token, {
    usage: "show <token>",
    description: "the state of a token",
    example: "token show 96d1f0… --against https://arbor.example",
  }, async (context: Context<AgainstOptions>, id) => {
    if (isAgainst(context.options)) return await provedState(context, id);
    const { tokens, output } = context;
    const answer = await tokens.token(id);
    const { tokenId, status, reason, owner, root, outputRefId, counts } = answer;
    output.record(answer, [
      ["token", tokenId],
      ["status", status],
      ["reason", reason],
      ["owner", owner],
      ["root", root],
      ["output", outputRefId],
      ["facts", counts.facts],
      ["open requests", counts.requests],
    ]);
  }));
}

function factsCommand(token: Command): void {
  withAgainst(withTrust(withHex(define(token, {
    usage: "facts <token>",
    description: "the facts of a token, by key",
    example: "token facts 96d1f0… --prefix planet/",
  }, async (context: Context<FactsOptions>, id) => {
    const { tokens, output, options } = context;
    const { prefix, slots, limit, root, policy, datum, verify } = options;
    if (isAgainst(options, { prefix, slots, limit, root, policy, datum, output: options.output, verify })) {
      return await provedFacts(context, id);
    }
    const trusts = [options.root, options.policy, options.datum, options.output].some((one) => one !== undefined);
    const verifies = options.verify || trusts;
    if ((slots || verifies) && (prefix !== undefined || limit !== undefined)) {
      const all = slots ? "--slots" : "--verify";
      throw new CliError(`${all} reads all facts; it excludes --prefix and --limit.`, "bad_options");
    }
    const check = verifies ? factsVerifier(id, options) : undefined;
    const encoding = encodingOf(options);
    if (slots) {
      const answer = await tokens.factsWithSlots(id, encoding);
      await check?.(answer, output);
      output.list(
        answer,
        ["key", "value", "slot"],
        Object.entries(answer).map(([key, { value, slot }]) => [key, value, slot]),
      );
      return;
    }
    const pages: Facts[] = [];
    let count = 0;
    const selected = { ...encoding, ...(prefix === undefined ? {} : { prefix: factText(prefix, options) }) };
    for await (const page of tokens.factPages(id, { ...selected, limit: Math.min(limit ?? PAGE, PAGE) })) {
      pages.push(page);
      count += Object.keys(page).length;
      if (limit !== undefined && count >= limit) break;
    }
    await check?.(pages, output);
    const shown = pages.flatMap((page) => Object.entries(page)).slice(0, limit);
    output.list(Object.fromEntries(shown), ["key", "value"], shown);
  }))))
    .option("--prefix <text>", "only facts whose keys begin with it")
    .option("--slots", "each value with the slot of the block that set it")
    .option("--limit <n>", "most facts", wholeNumber(1, MOST))
    .option("--verify", "fail unless these are all facts under a root, datum or output that you trust");
}

interface HistoryOptions {
  readonly status?: HistorySelection["status"];
  readonly owner?: string;
  readonly limit?: number;
  readonly offline?: boolean;
  readonly from?: number;
  readonly to?: number;
}

const spanOf = ({ from, to }: HistoryOptions) => ({
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
});

function historyCommand(token: Command): void {
  withHex(
    define(
      token,
      {
        usage: "history <token> [key]",
        description: "requests with their outcome, newest first; with a key, its values over time",
        example: "token history 96d1f0… planet",
      },
      async (
        { tokens, output, options }: Context<
          TextOptions & HistoryOptions
        >,
        id,
        key,
      ) => {
        const { status, owner, limit, hex } = options;
        if (options.offline) {
          if (key === undefined) throw new CliError("--offline requires a key.", "bad_options");
          output.json(await historyOffline(tokens, id, factText(key, options), spanOf(options)));
          return;
        }
        if (key !== undefined) {
          const history = await first(tokens.factHistory(id, factText(key, options)), limit, output);
          output.list(
            history,
            ["slot", "change", "value", "request"],
            history.map(({ slot, type, value, valueHex, outputRefId }) => [
              slot,
              type,
              hex ? valueHex : value,
              outputRefId,
            ]),
          );
          return;
        }
        const selection = {
          ...encodingOf(options),
          ...(status ? { status } : {}),
          ...(owner === undefined ? {} : { owner }),
        };
        const requests = await first(tokens.history(id, { ...selection, limit: pageSize(limit, PAGE) }), limit, output);
        output.list(
          requests,
          ["request", "status", "change", "key", "value", "opened", "closed"],
          requests.map(({ outputRefId, status, change, opened, closed }) => [
            outputRefId,
            status,
            change.type,
            change.key,
            change.value,
            opened.slot,
            closed?.slot,
          ]),
        );
      },
    ),
  )
    .addOption(
      new Option("--status <status>", "only these requests").choices(["open", "applied", "refused", "retracted"]),
    )
    .option("--owner <hash>", "only requests that are refunded to this payment key hash")
    .addOption(limitOption(MOST))
    .option("--offline", "with a key: its value in each state that the log has, with all that `arbor verify` needs")
    .option("--from <n>", "with --offline: number of the token's first entry in the log", wholeNumber(0, 1e15 - 1))
    .option("--to <n>", "with --offline: number of its last entry", wholeNumber(0, 1e15 - 1));
}

function requestsCommand(token: Command): void {
  withAgainst(withHex(define(token, {
    usage: "requests <token>",
    description: "the open requests of a token, oldest first, and whether the owner could apply each now",
    example: "token requests 96d1f0…",
  }, async (context: Context<TextOptions & AgainstOptions & { owner?: string; limit?: number }>, id) => {
    const { tokens, output, options } = context;
    const { owner, limit } = options;
    if (isAgainst(options, { owner, limit })) return await provedRequests(context, id);
    const selection = { ...encodingOf(options), ...(owner === undefined ? {} : { owner }) };
    const requests = await first(
      tokens.openRequests(id, { ...selection, limit: pageSize(limit, PAGE) }),
      limit,
      output,
    );
    output.list(
      requests,
      ["request", "change", "key", "value", "owner", "applies"],
      requests.map(({ outputRefId, change: { type, key, value }, owner, outlook }) => [
        outputRefId,
        type,
        key,
        value,
        short(owner),
        outlook && (outlook.code ?? "yes"),
      ]),
    );
  })))
    .option("--owner <hash>", "only requests that are refunded to this payment key hash")
    .addOption(limitOption(MOST));
}
