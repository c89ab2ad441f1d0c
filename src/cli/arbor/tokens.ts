/** `arbor token`: tokens, their facts and requests, and each step of their life. */
import { type Command, Option } from "commander";
import type { Checked, PayingOptions, RequestOptions, UnsignedRequest } from "#src/client/tokens.ts";
import { type Context, define, wholeNumber } from "#src/cli/arbor/command.ts";
import { factText, type TextOptions, withHex, withTrust } from "#src/cli/arbor/factText.ts";
import { readCommands } from "#src/cli/arbor/tokenReads.ts";
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
import type { Output } from "#src/cli/output.ts";
import { proveOffline } from "#src/cli/offline.ts";
import { type TrustOptions, verify } from "#src/cli/proofs.ts";

/** Adds `arbor token` with all of its commands. */
export function tokenCommands(program: Command): void {
  const token = program.command("token").description("tokens, their facts and requests");
  readCommands(token);
  for (const add of Object.values(STEPS)) add(token, "token ");
  token.addHelpText("after", "\nExample:\n  $ arbor token boot alice.key");
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

interface OfflineOptions {
  readonly offline?: boolean;
  readonly wait?: number;
}

/** Commands of `arbor token` that are also commands of `arbor` itself, not listed there; `path` is what comes before. */
export const STEPS: Readonly<Record<string, (parent: Command, path: string) => Command>> = {
  prove: (parent, path) =>
    withHex(define(parent, {
      usage: "prove <token> <key...>",
      description: "a fact or its absence with its proof, as the service responds",
      example: `${path}prove 96d1f0… planet > proof.json`,
    }, async ({ tokens, output, options }: Context<TextOptions & OfflineOptions>, token, given) => {
      const keys = given.map((key) => factText(key, options));
      const [key = ""] = keys;
      if (options.offline) output.json(await proveOffline(tokens, token, keys, options.wait ?? 0));
      else if (keys.length > 1) throw new CliError("Several keys require --offline.", "bad_options");
      else output.json(await tokens.fact(token, key));
    }))
      .option("--offline", "facts with all that `arbor verify` needs without a network: the log's proof of their state")
      .option(
        "--wait <seconds>",
        "with --offline: how long to wait until the log has the state",
        wholeNumber(0, 86_400),
      ),
  verify: (parent, path) =>
    withTrust(withHex(define(parent, {
      usage: "verify <answer> <token> <key>",
      description: "verify such a response (a file, or - for standard input) against a state that you trust",
      example: `${path}verify proof.json 96d1f0… planet --root 5f2c…`,
    }, async ({ output, options }: Context<TextOptions & TrustOptions>, answer, token, key) => {
      const proven = await verify(answer, token, factText(key, options), options);
      output.record(proven, Object.entries(proven));
    }))),
  boot: (parent, path) =>
    withPayer(define(parent, {
      usage: "boot <file>",
      description: "create a token with the key in a file, print its id",
      example: `${path}boot alice.key`,
    }, async (context: Context<WaitOptions & PayerOptions>, file) => {
      const { value, txHash } = await transact(
        context,
        file,
        (address, paying) => context.tokens.boot(address, paying),
      );
      context.output.value(value, { tokenId: value, txHash });
    })),
  insert: (parent, path) =>
    requesting(define(parent, {
      usage: "insert <file> <token> <key> <value>",
      description: "request a new fact, print the request",
      example: `${path}insert bob.key 96d1f0… planet Earth`,
    }, async (context: Context<RequestingOptions>, file, token, key, value) => {
      const text = (argument: string) => factText(argument, context.options);
      await request(context, file, (address, paying) =>
        context.tokens.insert(address, token, text(key), text(value), requestOptions(context.options, paying)));
    })),
  update: (parent, path) =>
    requesting(define(parent, {
      usage: "update <file> <token> <key> <old> <new>",
      description: "request a new value of a fact, print the request",
      example: `${path}update bob.key 96d1f0… planet Earth Mars`,
    }, async (context: Context<RequestingOptions>, file, token, key, old, value) => {
      const text = (argument: string) => factText(argument, context.options);
      await request(context, file, (address, paying) =>
        context.tokens.update(
          address,
          token,
          text(key),
          text(old),
          text(value),
          requestOptions(context.options, paying),
        ));
    })),
  delete: (parent, path) =>
    requesting(define(parent, {
      usage: "delete <file> <token> <key> <value>",
      description: "request the deletion of a fact, print the request",
      example: `${path}delete bob.key 96d1f0… planet Mars`,
    }, async (context: Context<RequestingOptions>, file, token, key, value) => {
      const text = (argument: string) => factText(argument, context.options);
      await request(context, file, (address, paying) =>
        context.tokens.delete(address, token, text(key), text(value), requestOptions(context.options, paying)));
    })),
  apply: (parent, path) =>
    withPayer(
      define(
        parent,
        {
          usage: "apply <file> <token> [requests...]",
          description: "apply these requests, or as many open ones as fit (owner only); print the root",
          example: `${path}apply alice.key 96d1f0…`,
        },
        async (
          context: Context<WaitOptions & PayerOptions & { dryRun?: boolean; refuse: string[] }>,
          file,
          token,
          requests,
        ) => {
          const { tokens, output, options: { dryRun, refuse, wallet } } = context;
          const done = dryRun
            ? await tokens.tryApply(await addressIn(context, file), token, requests, {
              refuse,
              ...(wallet === undefined ? {} : { wallet }),
            })
            : await transact(
              context,
              file,
              (address, paying) => tokens.apply(address, token, requests, { ...paying, refuse }),
            );
          noteLeft(output, done.left);
          const { mpfRoot, applied, refused, left } = done;
          const transaction = "txHash" in done ? { txHash: done.txHash } : {};
          output.value(mpfRoot, { root: mpfRoot, applied, refused, left, ...transaction });
        },
      ),
    ).option("--dry-run", "only say what would be applied")
      .addOption(
        new Option("--refuse <request>", "refuse this request, whose whole deposit returns (repeatable)")
          .argParser((one, all: readonly string[]) => [...all, one]).default([], "none"),
      ),
  retract: (parent, path) =>
    withPayer(define(parent, {
      usage: "retract <file> <request>",
      description: "take an open request back, with its deposit",
      example: `${path}retract bob.key 5be1…-0`,
    }, async (context: Context<WaitOptions & PayerOptions>, file, request) => {
      const { txHash } = await transact(
        context,
        file,
        (address, paying) => context.tokens.retract(address, request, paying),
      );
      context.output.value(txHash, { txHash });
    })),
  rebuild: (parent, path) =>
    withPayer(define(parent, {
      usage: "rebuild <file> <hash>",
      description: "build a lost or refused transaction again on what holds, sign and submit it; print its hash",
      example: `${path}rebuild alice.key 8d31…`,
    }, async (context: Context<WaitOptions & PayerOptions>, file, hash) => {
      const done = await transact(
        context,
        file,
        (address, paying) => context.tokens.rebuild(hash, address, paying),
      );
      const { txHash, replaces, action, applied, left = [] } = done;
      noteLeft(context.output, left);
      context.output.value(txHash, { txHash, replaces, action, ...(applied ? { applied, left } : {}) });
    })),
  transfer: (parent, path) =>
    withWallet(define(parent, {
      usage: "transfer <file> <token> <address>",
      description: "print a transaction that gives a token to an address or a key file; the new owner must sign it too",
      example: `${path}transfer alice.key 96d1f0… bob.key | arbor sign bob.key - | arbor submit -`,
    }, async (context: Context<PayerOptions>, file, token, to) => {
      const { tokens, output } = context;
      const { address, paying, sign } = await payerIn(context, file);
      const built = await tokens.transfer(address, token, await addressIn(context, to), paying);
      const { cbor: transaction } = await sign(built.checked);
      output.value(transaction, { transaction, owner: built.owner, signers: built.signers });
    })),
  end: (parent, path) =>
    withPayer(define(parent, {
      usage: "end <file> <token>",
      description: "end a token (owner only)",
      example: `${path}end alice.key 96d1f0…`,
    }, async (context: Context<WaitOptions & PayerOptions>, file, token) => {
      const { txHash } = await transact(
        context,
        file,
        (address, paying) => context.tokens.end(address, token, paying),
      );
      context.output.value(txHash, { txHash });
    })),
  release: (parent, path) =>
    define(parent, {
      usage: "release <token>",
      description: "replay a quarantined token and release it (operators), print its root",
      example: `${path}release 96d1f0…`,
    }, async ({ operator, output }, token) => {
      const released = await (await operator()).release(token);
      const { status, reason, root } = released;
      if (status !== "live") throw new CliError(`The token is quarantined: ${reason}.`, "quarantined");
      output.value(root, released);
    }),
};

/** `arbor submit`. */
export function submitCommand(program: Command): void {
  withDepth(define(program, {
    usage: "submit <transaction>",
    description:
      "submit a signed transaction (hexadecimal CBOR, or - for standard input), wait until it is on the ledger",
    example: "submit 84a4…",
  }, async (context: Context<WaitOptions>, transaction) => {
    const txHash = await submit(context, requireTransaction(await readText(transaction)));
    context.output.value(txHash, { txHash });
  }));
}
