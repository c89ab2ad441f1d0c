/**
 * The command line: keys and signatures that stay on this machine, and one command for each step of the token service.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { releaseState } from "#src/api/operator.ts";
import { toJson } from "#src/base/json.ts";
import { addressText, type NetworkId } from "#src/cardano/address.ts";
import { ApiError, call } from "#src/client/http.ts";
import { signTransaction, TokenClient } from "#src/client/tokens.ts";
import { CliError } from "#src/cli/error.ts";
import { addressOf, createKey, loadKey } from "#src/cli/keyFile.ts";
import { pay } from "#src/cli/faucet.ts";
import { type TrustOptions, verify } from "#src/cli/proofs.ts";

const HELP = `arbor <command>

Keys (a key is a file; keys never leave this machine)
  key new FILE                               create a payment key, print its address
  address FILE                               print the address of a key
  sign FILE TRANSACTION                      print an unsigned transaction (hexadecimal CBOR) with a signature added

Devnet
  faucet FILE|ADDRESS ADA                    send ada to an address

Tokens: each command builds a transaction, signs it locally, submits it and waits until it is on the ledger
  boot FILE                                  create a token, print its id
  insert FILE TOKEN KEY VALUE                request a new fact, print the request
  update FILE TOKEN KEY OLD NEW              request a new value of a fact, print the request
  delete FILE TOKEN KEY VALUE                request the deletion of a fact, print the request
  apply FILE TOKEN [REQUEST...]              apply these requests, or as many open ones as fit (owner only); print the root
  transfer FILE TOKEN ADDRESS                print a transaction that transfers a token; the new owner must sign it too
  submit TRANSACTION                         submit a signed transaction, wait until it is on the ledger, print its hash
  retract FILE REQUEST                       retract a request
  end FILE TOKEN                             end a token (owner only)

Operators
  release TOKEN                              replay and release a quarantined token, print its root

Proofs: verified against the token's state output from a node or provider that you trust, not against the service
  prove TOKEN KEY                            print the service's response: a fact or its absence, with its proof
  verify ANSWER TOKEN KEY                    verify such a response (a file, or - for standard input), print the proven data

Options
  --datum CBOR    for verify, with --policy: inline datum of the token's state output
  --mainnet       addresses of mainnet, not of a test network
  --output CBOR   for verify, with --policy: the token's state output
  --policy ID     for verify: policy id of the token, which is the contract's hash
  --root ROOT     for verify: root of the facts, if known
  --tokens URL    token service (ARBOR_TOKENS_URL, or http://127.0.0.1:3000)
  --operator URL  operator service (ARBOR_OPERATOR_URL, or http://127.0.0.1:8091); set its bearer token in ARBOR_OPERATOR_TOKEN
  --devnet URL    devnet and faucet (ARBOR_DEVNET_URL, or http://127.0.0.1:10000)`;

interface Services {
  readonly tokens: TokenClient;
  readonly devnet: string;
  readonly operator: string;
  /** The network of addresses. */
  readonly network: NetworkId;
  /** The trusted state of a token. */
  readonly known: TrustOptions;
}

/** A command with as many arguments as its function has parameters after the services; `more` allows further ones. */
interface Command {
  readonly more?: boolean;
  readonly run: (services: Services, ...args: string[]) => Promise<string>;
}

async function textAddress(fileOrAddress: string, network: NetworkId): Promise<string> {
  if (/^addr/.test(fileOrAddress)) return fileOrAddress;
  return addressText(addressOf(await loadKey(fileOrAddress), network));
}

/** Builds for a key's address, signs, submits and waits; gives the hash and the build's answer. */
async function carryOut<T extends { unsignedTransaction: string }>(
  file: string,
  { tokens, network }: Services,
  build: (address: string) => Promise<T>,
): Promise<T & { txHash: string }> {
  const key = await loadKey(file);
  const built = await build(addressText(addressOf(key, network)));
  const txHash = await tokens.submitAndWait(signTransaction(built.unsignedTransaction, key));
  return { ...built, txHash };
}

async function request(
  file: string,
  services: Services,
  build: (address: string) => ReturnType<TokenClient["insert"]>,
): Promise<string> {
  const { txHash, warnings } = await carryOut(file, services, build);
  for (const warning of warnings) process.stderr.write(`warning: ${warning.message}\n`);
  return `${txHash}-0`;
}

async function release(operator: string, token: string): Promise<string> {
  const secret = process.env.ARBOR_OPERATOR_TOKEN;
  const headers = { "arbor-operator": "1", ...(secret ? { authorization: `Bearer ${secret}` } : {}) };
  const path = `/tokens/${encodeURIComponent(token)}/release`;
  const answer = await call(operator, "POST", path, undefined, undefined, headers);
  const { status, root, reason } = releaseState.parse(answer);
  if (status !== "live") throw new CliError(`The token is quarantined: ${reason}.`);
  return root;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  "key new": { run: async ({ network }, file) => addressText(addressOf(await createKey(file), network)) },
  address: { run: ({ network }, file) => textAddress(file, network) },
  sign: { run: async (_, file, transaction) => signTransaction(transaction, await loadKey(file)) },
  faucet: {
    run: async ({ devnet, network }, to, ada) => {
      if (!/^\d+(\.\d{1,6})?$/.test(ada)) throw new CliError(`${ada} is not an amount of ada.`);
      const [whole = "", part = ""] = ada.split(".");
      const lovelace = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, "0"));
      return await pay(devnet, await textAddress(to, network), lovelace);
    },
  },
  boot: { run: async (services, file) => (await carryOut(file, services, (at) => services.tokens.boot(at))).value },
  insert: {
    run: (services, file, token, key, value) =>
      request(file, services, (at) => services.tokens.insert(at, token, key, value)),
  },
  update: {
    run: (services, file, token, key, old, value) =>
      request(file, services, (at) => services.tokens.update(at, token, key, old, value)),
  },
  delete: {
    run: (services, file, token, key, value) =>
      request(file, services, (at) => services.tokens.delete(at, token, key, value)),
  },
  apply: {
    more: true,
    run: async (services, file, token, ...requests) => {
      const { mpfRoot, left } = await carryOut(file, services, (at) => services.tokens.apply(at, token, requests));
      for (const { request, message } of left) process.stderr.write(`left: ${request}: ${message}\n`);
      return mpfRoot;
    },
  },
  transfer: {
    run: async ({ tokens, network }, file, token, to) => {
      const key = await loadKey(file);
      const built = await tokens.transfer(addressText(addressOf(key, network)), token, await textAddress(to, network));
      return signTransaction(built.unsignedTransaction, key);
    },
  },
  submit: { run: ({ tokens }, transaction) => tokens.submitAndWait(transaction) },
  release: { run: ({ operator }, token) => release(operator, token) },
  prove: { run: async ({ tokens }, token, key) => toJson(await tokens.fact(token, key)) },
  verify: { run: ({ known }, file, token, key) => verify(file, token, key, known) },
  retract: {
    run: async (services, file, ref) =>
      (await carryOut(file, services, (at) => services.tokens.retract(at, ref))).txHash,
  },
  end: {
    run: async (services, file, token) =>
      (await carryOut(file, services, (at) => services.tokens.end(at, token))).txHash,
  },
};

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      tokens: { type: "string" },
      devnet: { type: "string" },
      operator: { type: "string" },
      root: { type: "string" },
      policy: { type: "string" },
      datum: { type: "string" },
      output: { type: "string" },
      mainnet: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || positionals.length === 0) {
    process.stdout.write(HELP + "\n");
    return;
  }
  const [first = ""] = positionals;
  const name = first === "key" ? positionals.slice(0, 2).join(" ") : first;
  const args = positionals.slice(name.split(" ").length);
  const found = COMMANDS[name];
  const command = found && { ...found, args: found.run.length - 1 };
  if (!command) throw new CliError(`Unknown command ${name}; --help lists the commands.`);
  if (args.length < command.args || (args.length > command.args && !command.more)) {
    throw new CliError(
      `${name} requires ${command.args}${command.more ? " or more" : ""} arguments; --help shows them.`,
    );
  }
  const network = values.mainnet ? 1 : 0;
  const tokens = new TokenClient(values.tokens ?? process.env.ARBOR_TOKENS_URL ?? "http://127.0.0.1:3000");
  const devnet = values.devnet ?? process.env.ARBOR_DEVNET_URL ?? "http://127.0.0.1:10000";
  const operator = values.operator ?? process.env.ARBOR_OPERATOR_URL ?? "http://127.0.0.1:8091";
  process.stdout.write((await command.run({ tokens, devnet, operator, network, known: values }, ...args)) + "\n");
}

try {
  await main();
} catch (error) {
  const known = error instanceof CliError || error instanceof ApiError || error instanceof TypeError;
  if (!known) throw error;
  process.stderr.write(`${error.message}${error instanceof ApiError ? ` (${error.code})` : ""}\n`);
  process.exitCode = 1;
}
