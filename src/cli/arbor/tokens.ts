/** `arbor token`: tokens, their facts and requests, and each step of their life. */
import { type Command, Option } from "commander";
import { fromHex, isHex } from "#src/base/bytes.ts";
import type { FactEncoding, HistorySelection } from "#src/client/tokenFacts.ts";
import type { Checked, Facts, PayingOptions, RequestOptions, UnsignedRequest } from "#src/client/tokens.ts";
import { type Context, define, first, limitOption, pageSize, wholeNumber } from "#src/cli/arbor/command.ts";
import {
  addressIn,
  payerIn,
  type PayerOptions,
  requireTransaction,
  submit,
  transact,
  type WaitOptions,
  withDepth,
  withWallet,
} from "#src/cli/arbor/transact.ts";
import { CliError } from "#src/cli/error.ts";
import { readText } from "#src/cli/input.ts";
import { type Output, short } from "#src/cli/output.ts";
import { factsVerifier, type TrustOptions, verify } from "#src/cli/proofs.ts";

type FactText = string | Uint8Array;

interface TextOptions {
  /** Keys and values are hexadecimal. */
  readonly hex?: boolean;
}

type FactsOptions = TextOptions & TrustOptions & {
  readonly prefix?: string;
  readonly slots?: boolean;
  readonly limit?: number;
  readonly verify?: boolean;
};

/** Most facts of a page. */
const PAGE = 1_000;
/** Greatest `--limit`. */
const MOST = 1_000_000;

const withHex = (command: Command) => command.option("--hex", "keys and values are bytes in hexadecimal");
const withTrust = (command: Command) =>
  command.option("--root <root>", "root of the facts, if known")
    .option("--policy <id>", "policy id of the token, which is the contract's hash")
    .option("--datum <cbor>", "with --policy: inline datum of the token's state output")
    .option("--output <cbor>", "with --policy: the token's state output");

/** A key or a value from an argument: a text, or the bytes of `--hex`. */
function factText(argument: string, { hex }: TextOptions): FactText {
  if (!hex) return argument;
  if (!isHex(argument)) throw new CliError(`${argument} is not hexadecimal.`, "bad_hex");
  return fromHex(argument);
}

/** The encoding in which a service is to write keys and values. */
const encodingOf = ({ hex }: TextOptions): FactEncoding => hex ? { encoding: "hex" } : {};

/** Adds `arbor token` with all of its commands. */
export function tokenCommands(program: Command): void {
  const token = program.command("token").description("tokens, their facts and requests");
  readCommands(token);
  for (const add of Object.values(STEPS)) add(token, "token ");
  token.addHelpText("after", "\nExample:\n  $ arbor token boot alice.key");
}

function readCommands(token: Command): void {
  define(token, { usage: "list", description: "live tokens, the oldest first", example: "token list" }, async (
    { tokens, output },
  ) => {
    const answer = await tokens.tokens();
    output.list(
      answer,
      ["token", "status", "owner", "root"],
      answer.tokens.map(({ tokenId, status, owner, root }) => [tokenId, status, short(owner), short(root)]),
    );
  });

  define(token, {
    usage: "show <token>",
    description: "the state of a token",
    example: "token show 96d1f0…",
  }, async ({ tokens, output }, id) => {
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
  });

  withTrust(withHex(define<FactsOptions>(token, {
    usage: "facts <token>",
    description: "the facts of a token, by key",
    example: "token facts 96d1f0… --prefix planet/",
  }, async ({ tokens, output, options }, id) => {
    const { prefix, slots, limit } = options;
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
  })))
    .option("--prefix <text>", "only facts whose keys begin with it")
    .option("--slots", "each value with the slot of the block that set it")
    .option("--limit <n>", "most facts", wholeNumber(1, MOST))
    .option("--verify", "fail unless these are all facts under a root, datum or output that you trust");

  withHex(
    define<TextOptions & { status?: HistorySelection["status"]; owner?: string; limit?: number }, [string, string?]>(
      token,
      {
        usage: "history <token> [key]",
        description: "requests with their outcome, newest first; with a key, its values over time",
        example: "token history 96d1f0… planet",
      },
      async ({ tokens, output, options }, id, key) => {
        const { status, owner, limit, hex } = options;
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
    .addOption(limitOption(MOST));

  withHex(define<TextOptions & { owner?: string; limit?: number }>(token, {
    usage: "requests <token>",
    description: "the open requests of a token, oldest first, and whether the owner could apply each now",
    example: "token requests 96d1f0…",
  }, async ({ tokens, output, options }, id) => {
    const { owner, limit } = options;
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
  }))
    .option("--owner <hash>", "only requests that are refunded to this payment key hash")
    .addOption(limitOption(MOST));
}

/** Most requests that are named as left open, one a line. */
const NAMED = 20;

/** Says which requests an update leaves open, and why. Anyone can open requests, so only the first are named. */
function noteLeft(output: Output, left: readonly { readonly request: string; readonly message: string }[]): void {
  for (const { request, message } of left.slice(0, NAMED)) output.note(`left: ${request}: ${message}`);
  if (left.length > NAMED) output.note(`left: ${left.length - NAMED} others, which --json names`);
}

/** Prints a request that is on the ledger, with the warnings that its build came with. */
async function request(
  context: Context<WaitOptions & PayerOptions>,
  file: string,
  build: (address: string, paying: PayingOptions) => Promise<Checked<UnsignedRequest>>,
): Promise<void> {
  const { txHash, warnings } = await transact(context, file, build);
  for (const { message } of warnings) context.output.note(`warning: ${message}`);
  context.output.value(`${txHash}-0`, { request: `${txHash}-0`, txHash, warnings });
}

type RequestingOptions = TextOptions & WaitOptions & PayerOptions & Pick<RequestOptions, "strict" | "force">;
const withPayer = (command: Command) => withWallet(withDepth(command));
const requesting = (command: Command) =>
  withPayer(withHex(command)).option("--strict", "refuse a request that conflicts with an open or pending one")
    .option("--force", "request a change although it could not be applied now");
const requestOptions = (
  { strict = false, force = false }: RequestingOptions,
  paying: PayingOptions,
): RequestOptions => ({
  ...paying,
  ...(strict ? { strict } : {}),
  ...(force ? { force } : {}),
});

/** Commands of `arbor token` that are also commands of `arbor` itself, not listed there; `path` is what comes before. */
export const STEPS: Readonly<Record<string, (parent: Command, path: string) => Command>> = {
  prove: (parent, path) =>
    withHex(define<TextOptions>(parent, {
      usage: "prove <token> <key>",
      description: "a fact or its absence with its proof, as the service responds",
      example: `${path}prove 96d1f0… planet > proof.json`,
    }, async ({ tokens, output, options }, token, key) => {
      output.json(await tokens.fact(token!, factText(key!, options)));
    })),
  verify: (parent, path) =>
    withTrust(withHex(define<TextOptions & TrustOptions>(parent, {
      usage: "verify <answer> <token> <key>",
      description: "verify such a response (a file, or - for standard input) against a state that you trust",
      example: `${path}verify proof.json 96d1f0… planet --root 5f2c…`,
    }, async ({ output, options }, answer, token, key) => {
      const proven = await verify(answer!, token!, factText(key!, options), options);
      output.record(proven, Object.entries(proven));
    }))),
  boot: (parent, path) =>
    withPayer(define<WaitOptions & PayerOptions>(parent, {
      usage: "boot <file>",
      description: "create a token with the key in a file, print its id",
      example: `${path}boot alice.key`,
    }, async (context, file) => {
      const { value, txHash } = await transact(
        context,
        file!,
        (address, paying) => context.tokens.boot(address, paying),
      );
      context.output.value(value, { tokenId: value, txHash });
    })),
  insert: (parent, path) =>
    requesting(define<RequestingOptions>(parent, {
      usage: "insert <file> <token> <key> <value>",
      description: "request a new fact, print the request",
      example: `${path}insert bob.key 96d1f0… planet Earth`,
    }, async (context, file, token, ...texts) => {
      const [key, value] = texts.map((text) => factText(text, context.options)) as [FactText, FactText];
      await request(context, file!, (address, paying) =>
        context.tokens.insert(address, token!, key, value, requestOptions(context.options, paying)));
    })),
  update: (parent, path) =>
    requesting(define<RequestingOptions>(parent, {
      usage: "update <file> <token> <key> <old> <new>",
      description: "request a new value of a fact, print the request",
      example: `${path}update bob.key 96d1f0… planet Earth Mars`,
    }, async (context, file, token, ...texts) => {
      const [key, old, value] = texts.map((text) => factText(text, context.options)) as [FactText, FactText, FactText];
      await request(context, file!, (address, paying) =>
        context.tokens.update(address, token!, key, old, value, requestOptions(context.options, paying)));
    })),
  delete: (parent, path) =>
    requesting(define<RequestingOptions>(parent, {
      usage: "delete <file> <token> <key> <value>",
      description: "request the deletion of a fact, print the request",
      example: `${path}delete bob.key 96d1f0… planet Mars`,
    }, async (context, file, token, ...texts) => {
      const [key, value] = texts.map((text) => factText(text, context.options)) as [FactText, FactText];
      await request(context, file!, (address, paying) =>
        context.tokens.delete(address, token!, key, value, requestOptions(context.options, paying)));
    })),
  apply: (parent, path) =>
    withPayer(
      define<WaitOptions & PayerOptions & { dryRun?: boolean; refuse: string[] }, [string, string, string[]]>(parent, {
        usage: "apply <file> <token> [requests...]",
        description: "apply these requests, or as many open ones as fit (owner only); print the root",
        example: `${path}apply alice.key 96d1f0…`,
      }, async (context, file, token, requests) => {
        const { tokens, output, options: { dryRun, refuse, wallet } } = context;
        const done = dryRun
          ? await tokens.tryApply(await addressIn(context, file), token, requests, {
            refuse,
            ...(wallet === undefined ? {} : { wallet }),
          })
          : await transact(context, file, (address, paying) =>
            tokens.apply(address, token, requests, { ...paying, refuse }));
        noteLeft(output, done.left);
        const { mpfRoot, applied, refused, left } = done;
        const transaction = "txHash" in done ? { txHash: done.txHash } : {};
        output.value(mpfRoot, { root: mpfRoot, applied, refused, left, ...transaction });
      }),
    ).option("--dry-run", "only say what would be applied")
      .addOption(
        new Option("--refuse <request>", "refuse this request, whose whole deposit returns (repeatable)")
          .argParser((one, all: readonly string[]) => [...all, one]).default([], "none"),
      ),
  retract: (parent, path) =>
    withPayer(define<WaitOptions & PayerOptions>(parent, {
      usage: "retract <file> <request>",
      description: "take an open request back, with its deposit",
      example: `${path}retract bob.key 5be1…-0`,
    }, async (context, file, request) => {
      const { txHash } = await transact(
        context,
        file!,
        (address, paying) => context.tokens.retract(address, request!, paying),
      );
      context.output.value(txHash, { txHash });
    })),
  rebuild: (parent, path) =>
    withPayer(define<WaitOptions & PayerOptions>(parent, {
      usage: "rebuild <file> <hash>",
      description: "build a lost or refused transaction again on what holds, sign and submit it; print its hash",
      example: `${path}rebuild alice.key 8d31…`,
    }, async (context, file, hash) => {
      const done = await transact(
        context,
        file!,
        (address, paying) => context.tokens.rebuild(hash!, address, paying),
      );
      const { txHash, replaces, action, applied, left = [] } = done;
      noteLeft(context.output, left);
      context.output.value(txHash, { txHash, replaces, action, ...(applied ? { applied, left } : {}) });
    })),
  transfer: (parent, path) =>
    withWallet(define<PayerOptions>(parent, {
      usage: "transfer <file> <token> <address>",
      description: "print a transaction that gives a token to an address or a key file; the new owner must sign it too",
      example: `${path}transfer alice.key 96d1f0… bob.key | arbor sign bob.key - | arbor submit -`,
    }, async (context, file, token, to) => {
      const { tokens, output } = context;
      const { address, paying, sign } = await payerIn(context, file!);
      const built = await tokens.transfer(address, token!, await addressIn(context, to!), paying);
      const { cbor: transaction } = await sign(built.checked);
      output.value(transaction, { transaction, owner: built.owner, signers: built.signers });
    })),
  end: (parent, path) =>
    withPayer(define<WaitOptions & PayerOptions>(parent, {
      usage: "end <file> <token>",
      description: "end a token (owner only)",
      example: `${path}end alice.key 96d1f0…`,
    }, async (context, file, token) => {
      const { txHash } = await transact(
        context,
        file!,
        (address, paying) => context.tokens.end(address, token!, paying),
      );
      context.output.value(txHash, { txHash });
    })),
  release: (parent, path) =>
    define(parent, {
      usage: "release <token>",
      description: "replay a quarantined token and release it (operators), print its root",
      example: `${path}release 96d1f0…`,
    }, async ({ operator, output }, token) => {
      const released = await (await operator()).release(token!);
      const { status, reason, root } = released;
      if (status !== "live") throw new CliError(`The token is quarantined: ${reason}.`, "quarantined");
      output.value(root, released);
    }),
};

/** `arbor submit`. */
export function submitCommand(program: Command): void {
  withDepth(define<WaitOptions>(program, {
    usage: "submit <transaction>",
    description:
      "submit a signed transaction (hexadecimal CBOR, or - for standard input), wait until it is on the ledger",
    example: "submit 84a4…",
  }, async (context, transaction) => {
    const txHash = await submit(context, requireTransaction(await readText(transaction!)));
    context.output.value(txHash, { txHash });
  }));
}
