/** What a dishonest instance could change in a transaction that it gives a user to sign. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import type { Output, Utxo } from "#src/cardano/output.ts";
import { encodeOutput } from "#src/cardano/transaction.ts";
import { type Assets, lovelace, noAssets } from "#src/cardano/value.ts";
import { decodeDatum, encodeDatum, type Request, type State } from "#src/contract/datum.ts";
import { keyAddress } from "#src/contract/plutusAddress.ts";
import { cageScript } from "#src/contract/script.ts";
import { readTransaction } from "#src/contract/summary/readTransaction.ts";
import { baseAddress } from "#src/cardano/address.ts";
import { type Editable, elements, type Fields } from "../ledger/editableTransactions.ts";
import { cageAddress } from "../contract/contractLedger.ts";
import { alice, bob, mallory, type Meant } from "./summaries.ts";
import { newRef, utxo } from "../wallets/person.ts";

/** An attack: its name, the kinds of transactions that it applies to (all by default), and its change. */
export interface Attack {
  readonly name: string;
  /** The reason for which it is refused. */
  readonly why: string;
  readonly on?: (meant: Meant) => boolean;
  /** Changes the transaction; returns outputs that the attacker puts on the ledger (or claims to be there). */
  run(edited: Editable, meant: Meant): readonly Utxo[] | void;
}

const ADA = 1_000_000n;
const OUTPUTS = 1n;
const FEE = 2n;

const outputs = (edited: Editable): Encodable[] => edited.body.get(OUTPUTS) as Encodable[];

/** The current outputs. */
function read(meant: Meant): readonly Output[] {
  return readTransaction(meant.transaction).outputs;
}

const own = (meant: Meant) =>
  meant.intent.type === "insert" || meant.intent.type === "update" ||
    meant.intent.type === "delete" || meant.intent.type === "retract"
    ? bob
    : alice;

/** Index of the requester's change output. */
function changeIndex(meant: Meant): number {
  return read(meant).findLastIndex(({ address }) => address === own(meant).base);
}

function put(
  edited: Editable,
  index: number,
  output: { address: string; lovelace: bigint; assets?: Assets; datum?: Uint8Array; script?: Uint8Array },
): void {
  const { address, lovelace, assets = noAssets, datum, script } = output;
  outputs(edited)[index] = new Encoded(encodeOutput({ address, value: { lovelace, assets }, datum, script }));
}

/** Takes lovelace out of the requester's change. */
function take(edited: Editable, meant: Meant, amount: bigint): void {
  const index = changeIndex(meant);
  const { address, value } = read(meant)[index]!;
  put(edited, index, { address, lovelace: value.lovelace - amount, assets: value.assets });
}

/** Replaces an output. */
function redo(
  edited: Editable,
  meant: Meant,
  index: number,
  change: (
    output: Output,
  ) => Partial<{ address: string; lovelace: bigint; assets: Assets; datum: Uint8Array; script: Uint8Array }>,
): void {
  const output = read(meant)[index]!;
  const { address, value: { lovelace, assets }, datum, script } = output;
  put(edited, index, {
    address,
    lovelace,
    assets,
    ...(datum ? { datum } : {}),
    ...(script ? { script } : {}),
    ...change(output),
  });
}

const isRequest = ({ intent }: Meant) => ["insert", "update", "delete"].includes(intent.type);
const makesState = ({ intent }: Meant) =>
  intent.type === "boot" || intent.type === "apply" || intent.type === "transfer";
const applies = ({ intent }: Meant) => intent.type === "apply";
const refuses = ({ intent }: Meant) => intent.type === "apply" && (intent.refuse ?? []).length > 0;
/** Index of the refund of the first refused request that offers a fee. */
const refusedAt = ({ intent, summary }: Meant) =>
  summary.refunds.find(({ request }) => intent.type === "apply" && intent.refuse?.includes(request))!.index;
const boots = ({ intent }: Meant) => intent.type === "boot";
const ends = ({ intent }: Meant) => intent.type === "end";
const transfers = ({ intent }: Meant) => intent.type === "transfer";
const retracts = ({ intent }: Meant) => intent.type === "retract";
const runs = ({ runs }: Meant) => runs;

function request(change: (request: Request) => Partial<Request>) {
  return (edited: Editable, meant: Meant) =>
    redo(edited, meant, 0, ({ datum }) => {
      const found = decodeDatum(datum!);
      if (found?.type !== "request") throw new TypeError("no request");
      return { datum: encodeDatum({ type: "request", request: { ...found.request, ...change(found.request) } }) };
    });
}

function state(change: (state: State) => Partial<State>) {
  return (edited: Editable, meant: Meant) =>
    redo(edited, meant, 0, ({ datum }) => {
      const found = decodeDatum(datum!);
      if (found?.type !== "state") throw new TypeError("no state");
      return { datum: encodeDatum({ type: "state", state: { ...found.state, ...change(found.state) } }) };
    });
}

/** Another output of the requester's that is also spent; its value goes to `to`. */
function spendMore(edited: Editable, meant: Meant, to: string | undefined): Utxo[] {
  const more = utxo({ address: own(meant).base, value: lovelace(50n * ADA) }, newRef());
  elements(edited.body, 0n).push(refOf(more));
  if (to === undefined) edited.body.set(FEE, (edited.body.get(FEE) as bigint) + 50n * ADA);
  else outputs(edited).push(new Encoded(encodeOutput({ address: to, value: lovelace(50n * ADA) })));
  return [more];
}

const refOf = ({ ref }: Utxo): Encodable => [fromHex(ref.txHash), BigInt(ref.index)];
const hash = (byte: string) => fromHex(byte.repeat(28));
const set = (field: bigint, value: Encodable | ((meant: Meant) => Encodable)) => (edited: Editable, meant: Meant) =>
  void edited.body.set(field, typeof value === "function" ? value(meant) : value);
const keyCredential = (hex: string): Encodable => [0n, fromHex(hex)];

function certificate(...parts: readonly Encodable[]) {
  return (edited: Editable) => void elements(edited.body, 4n).push(parts);
}

/** Adds a redeemer to an array or map of redeemers. */
function moreRedeemers(edited: Editable, tag: bigint): void {
  const redeemers = edited.witnesses.get(5n) as Fields | undefined ?? new Map<Encodable, Encodable>();
  redeemers.set([tag, 0n], [new Encoded(encodeData(constr(0))), [1n, 1n]]);
  edited.witnesses.set(5n, redeemers);
  if (!edited.body.has(11n)) edited.body.set(11n, new Uint8Array(32));
}

function redeemer(edited: Editable, change: (data: Encodable, index: number) => Encodable): void {
  const redeemers = edited.witnesses.get(5n) as Fields;
  [...redeemers].forEach(([key, value], i) => {
    const [data, units] = value as [Encodable, Encodable];
    redeemers.set(key, [change(data, i), units]);
  });
}

/** A body with one duplicate field: `first` before, `second` after. */
export function twice(edited: Editable, field: bigint, first: Encodable, second: Encodable): void {
  edited.body.delete(field);
  edited.body.set(field, first);
  edited.body.set(new Encoded(encode(field)), second);
}

export const attacks: readonly Attack[] = [
  {
    name: "pays a stranger out of the change",
    why: "payment",
    run(edited, meant) {
      take(edited, meant, ADA);
      outputs(edited).push(new Encoded(encodeOutput({ address: mallory.enterprise, value: lovelace(ADA) })));
    },
  },
  {
    name: "pays a stranger a single lovelace of the fee",
    why: "payment",
    run(edited) {
      edited.body.set(FEE, (edited.body.get(FEE) as bigint) - 1n);
      outputs(edited).push(new Encoded(encodeOutput({ address: mallory.enterprise, value: lovelace(1n) })));
    },
  },
  {
    name: "sends the change to a stranger",
    why: "payment",
    run: (edited, meant) => redo(edited, meant, changeIndex(meant), () => ({ address: mallory.base })),
  },
  {
    name: "sends the change to the requester's key with a stranger's stake",
    why: "payment",
    run: (edited, meant) =>
      redo(edited, meant, changeIndex(meant), () => ({
        address: baseAddress(0, { kind: "key", hash: own(meant).key }, { kind: "key", hash: mallory.stake }).hex,
      })),
  },
  {
    name: "sends the change to the contract",
    why: "payment",
    run: (edited, meant) => redo(edited, meant, changeIndex(meant), () => ({ address: cageAddress })),
  },
  {
    name: "puts a datum on the change",
    why: "payment",
    run: (edited, meant) => redo(edited, meant, changeIndex(meant), () => ({ datum: encodeData(5n) })),
  },
  {
    name: "puts a script on the change",
    why: "payment",
    run: (edited, meant) =>
      redo(edited, meant, changeIndex(meant), () => ({ script: encode([3, cageScript.compiledCode]) })),
  },
  {
    name: "takes the foreign assets of the requester",
    why: "payment",
    run(edited, meant) {
      const assets = new Map([["cd".repeat(28) + "01", 7n]]);
      const more = utxo({ address: own(meant).base, value: { lovelace: 2n * ADA, assets } }, newRef());
      elements(edited.body, 0n).push(refOf(more));
      outputs(edited).push(new Encoded(encodeOutput({ address: mallory.base, value: { lovelace: 2n * ADA, assets } })));
      return [more];
    },
  },
  {
    name: "burns the foreign assets of the requester",
    why: "unknown_policy",
    run(edited, meant) {
      const assets = new Map([["cd".repeat(28) + "01", 7n]]);
      const more = utxo({ address: own(meant).base, value: { lovelace: 2n * ADA, assets } }, newRef());
      elements(edited.body, 0n).push(refOf(more));
      outputs(edited).push(new Encoded(encodeOutput({ address: own(meant).base, value: lovelace(2n * ADA) })));
      const mint = edited.body.get(9n) as Fields | undefined ?? new Map<Encodable, Encodable>();
      mint.set(hash("cd"), new Map([[fromHex("01"), -7n]]));
      edited.body.set(9n, mint);
      return [more];
    },
  },
  {
    name: "makes an output of nothing",
    why: "amount",
    run: (edited, meant) =>
      void outputs(edited).push(new Encoded(encodeOutput({ address: own(meant).base, value: lovelace(0n) }))),
  },
  {
    name: "makes an output of less than nothing",
    why: "amount",
    run(edited, meant) {
      take(edited, meant, -ADA);
      outputs(edited).push(new Encoded(encodeOutput({ address: own(meant).base, value: lovelace(-ADA) })));
    },
  },
  {
    name: "raises the fee beyond what is meant",
    why: "fee",
    run(edited, meant) {
      take(edited, meant, 2n * ADA);
      edited.body.set(FEE, (edited.body.get(FEE) as bigint) + 2n * ADA);
    },
  },
  {
    name: "raises the fee, and takes it from nowhere",
    why: "unbalanced",
    run: (edited) => void edited.body.set(FEE, (edited.body.get(FEE) as bigint) + 1n),
  },
  { name: "has a negative fee", why: "fee", run: (edited) => void edited.body.set(FEE, -1n) },
  {
    name: "spends more of the requester's, for a stranger",
    why: "payment",
    run: (edited, meant) => spendMore(edited, meant, mallory.base),
  },
  {
    name: "spends more of the requester's, for the fee",
    why: "fee",
    run: (edited, meant) => spendMore(edited, meant, undefined),
  },
  {
    name: "spends another output of the requester's key for a stranger",
    why: "input",
    run(edited, meant) {
      const more = utxo({ address: own(meant).enterprise, value: lovelace(5n * ADA) }, newRef());
      elements(edited.body, 0n).push(refOf(more));
      outputs(edited).push(new Encoded(encodeOutput({ address: mallory.base, value: lovelace(5n * ADA) })));
      return [more];
    },
  },
  {
    name: "spends a stranger's, who gets it back",
    why: "input",
    run(edited) {
      const more = utxo({ address: mallory.base, value: lovelace(5n * ADA) }, newRef());
      elements(edited.body, 0n).push(refOf(more));
      outputs(edited).push(new Encoded(encodeOutput({ address: mallory.base, value: lovelace(5n * ADA) })));
      return [more];
    },
  },
  {
    name: "spends an unknown output",
    why: "input",
    run: (edited) => void elements(edited.body, 0n).push([new Uint8Array(32).fill(7), 0n]),
  },
  {
    name: "spends one output twice",
    why: "unknown_encoding",
    run(edited) {
      const inputs = elements(edited.body, 0n);
      inputs.push(inputs[0]!);
    },
  },
  { name: "has no end of validity", why: "valid_until", run: (edited) => void edited.body.delete(3n) },
  { name: "is valid for longer", why: "valid_until", run: set(3n, ({ intent }) => BigInt(intent.validUntil!) + 1n) },
  { name: "is valid for longer than a double can tell", why: "valid_until", run: set(3n, (1n << 64n) - 1n) },
  { name: "is valid later", why: "valid_from", run: set(8n, 8_000n) },
  {
    name: "requires another person's signature",
    why: "signer",
    run: (edited) => void elements(edited.body, 14n).push(fromHex(mallory.key)),
  },
  {
    name: "requires the signature of the requester's stake key",
    why: "signer",
    run: (edited, meant) => void elements(edited.body, 14n).push(fromHex(own(meant).stake)),
  },
  {
    name: "delegates the requester's stake",
    why: "unknown_certificate",
    run: (edited, meant) => certificate(2n, keyCredential(own(meant).stake), hash("ee"))(edited),
  },
  {
    name: "registers a stake key with a deposit",
    why: "unknown_certificate",
    run(edited, meant) {
      take(edited, meant, 2n * ADA);
      certificate(7n, keyCredential(mallory.stake), 2n * ADA)(edited);
    },
  },
  {
    name: "unregisters the requester's stake key, and keeps the deposit",
    why: "unknown_certificate",
    run(edited, meant) {
      certificate(8n, keyCredential(own(meant).stake), 2n * ADA)(edited);
      outputs(edited).push(new Encoded(encodeOutput({ address: mallory.base, value: lovelace(2n * ADA) })));
    },
  },
  {
    name: "delegates the requester's vote",
    why: "unknown_certificate",
    run: (edited, meant) => certificate(9n, keyCredential(own(meant).stake), [0n, hash("ee")])(edited),
  },
  { name: "has an unknown certificate", why: "unknown_certificate", run: (edited) => certificate(99n)(edited) },
  {
    name: "withdraws the requester's rewards",
    why: "unknown_withdrawal",
    run(edited, meant) {
      edited.body.set(5n, new Map([[fromHex(`e0${own(meant).stake}`), 3n * ADA]]));
      outputs(edited).push(new Encoded(encodeOutput({ address: mallory.base, value: lovelace(3n * ADA) })));
    },
  },
  {
    name: "withdraws nothing",
    why: "unknown_withdrawal",
    run: (edited, meant) => void edited.body.set(5n, new Map([[fromHex(`e0${own(meant).stake}`), 0n]])),
  },
  {
    name: "votes",
    why: "unknown_vote",
    run: (edited, meant) =>
      void edited.body.set(
        19n,
        new Map([[[2n, fromHex(own(meant).key)], new Map([[[new Uint8Array(32), 0n], [1n, null]]])]]),
      ),
  },
  {
    name: "proposes",
    why: "unknown_proposal",
    run: (edited, meant) =>
      void edited.body.set(20n, [[ADA, fromHex(`e0${own(meant).stake}`), [6n], [
        "https://example.org",
        new Uint8Array(32),
      ]]]),
  },
  {
    name: "donates to the treasury",
    why: "unknown_donation",
    run(edited, meant) {
      take(edited, meant, ADA);
      edited.body.set(22n, ADA);
    },
  },
  { name: "states what the treasury holds", why: "unknown_treasury", run: set(21n, 0n) },
  { name: "states a network", why: "unknown_network_id", run: set(15n, 0n) },
  { name: "has an update proposal", why: "unknown_field", run: set(6n, [new Map(), 0n]) },
  { name: "has an unknown field", why: "unknown_field", run: set(23n, 0n) },
  { name: "has a field of a negative number", why: "undecodable", run: set(-1n, 0n) },
  {
    name: "mints an asset of another policy to the requester",
    why: "unknown_policy",
    run(edited, meant) {
      const mint = edited.body.get(9n) as Fields | undefined ?? new Map<Encodable, Encodable>();
      mint.set(hash("dd"), new Map([[fromHex("aa"), 1n]]));
      edited.body.set(9n, mint);
      redo(edited, meant, changeIndex(meant), ({ value }) => ({
        assets: new Map([...value.assets, ["dd".repeat(28) + "aa", 1n]]),
      }));
    },
  },
  {
    name: "carries metadata",
    why: "metadata",
    run(edited) {
      edited.auxiliary = new Map([[674n, "text"]]);
      edited.body.set(7n, blake2b256(encode(edited.auxiliary)));
    },
  },
  {
    name: "speaks of metadata that it does not carry",
    why: "unknown_auxiliary_hash",
    run: set(7n, new Uint8Array(32)),
  },
  {
    name: "carries metadata that it does not speak of",
    why: "unknown_auxiliary_hash",
    run: (edited) => void (edited.auxiliary = new Map([[1n, 1n]])),
  },
  {
    name: "carries a script as auxiliary data",
    why: "unknown_auxiliary_script",
    run(edited) {
      edited.auxiliary = new Tagged(259, new Map([[1n, [[0n, hash("aa")]]]]));
      edited.body.set(7n, blake2b256(encode(edited.auxiliary)));
    },
  },
  {
    name: "has a native script",
    why: "unknown_attached_script",
    run: (edited) => void elements(edited.witnesses, 1n).push([0n, hash("aa")]),
  },
  { name: "has a datum", why: "unknown_datum", run: (edited) => void elements(edited.witnesses, 4n).push(5n) },
  {
    name: "has another Plutus script",
    why: "unknown_attached_script",
    run: (edited) => void elements(edited.witnesses, 7n).push(fromHex("4401020304")),
  },
  {
    name: "has a Plutus script of an older language",
    why: "unknown_attached_script",
    run: (edited) => void elements(edited.witnesses, 6n).push(cageScript.compiledCode),
  },
  {
    name: "has a signature of a Byron key",
    why: "unknown_bootstrap",
    run: (edited) =>
      void elements(edited.witnesses, 2n).push([
        new Uint8Array(32),
        new Uint8Array(64),
        new Uint8Array(32),
        fromHex("a0"),
      ]),
  },
  {
    name: "has an unknown witness",
    why: "unknown_witness_field",
    run: (edited) => void edited.witnesses.set(9n, 1n),
  },
  { name: "runs a script for a certificate", why: "unknown_redeemer", run: (edited) => moreRedeemers(edited, 2n) },
  { name: "runs a script for a withdrawal", why: "unknown_redeemer", run: (edited) => moreRedeemers(edited, 3n) },
  { name: "says that its scripts fail", why: "invalid", run: (edited) => void (edited.valid = false) },
  {
    name: "has two fees",
    why: "unknown_encoding",
    run: (edited) => twice(edited, FEE, 170_000n, edited.body.get(FEE)!),
  },
  {
    name: "has two fees, the larger first",
    why: "unknown_encoding",
    run: (bent) => twice(bent, FEE, 90n * ADA, bent.body.get(FEE)!),
  },
  {
    name: "has its outputs twice",
    why: "unknown_encoding",
    run: (bent) => twice(bent, OUTPUTS, [], bent.body.get(OUTPUTS)!),
  },
  {
    name: "has an output with two addresses",
    why: "unknown_encoding",
    run(bent, meant) {
      const index = changeIndex(meant);
      const { address, value } = read(meant)[index]!;
      outputs(bent)[index] = new Map<Encodable, Encodable>([
        [0n, fromHex(mallory.base)],
        [1n, value.lovelace],
        [new Encoded(encode(0n)), fromHex(address)],
      ]);
    },
  },
  {
    name: "has an output with an unknown member",
    why: "unknown_encoding",
    run(bent, meant) {
      const { address, value } = read(meant)[changeIndex(meant)]!;
      outputs(bent)[changeIndex(meant)] = new Map<Encodable, Encodable>([
        [0n, fromHex(address)],
        [1n, value.lovelace],
        [4n, 1n],
      ]);
    },
  },
  {
    name: "looks at another output",
    why: "script",
    run: (bent, { built }) => void elements(bent.body, 18n).push([fromHex(built.txHash), 0n]),
  },
  {
    name: "looks at another output, which carries a script",
    why: "script",
    run(bent) {
      const script = encode([3, fromHex("4401020304")]);
      const more = utxo({ address: mallory.base, value: lovelace(5n * ADA), script }, newRef());
      elements(bent.body, 18n).push(refOf(more));
      return [more];
    },
  },
  {
    name: "puts up collateral although no script runs",
    why: "collateral",
    on: (meant) => !runs(meant),
    run: (bent) => void elements(bent.body, 13n).push(elements(bent.body, 0n)[0]!),
  },
  {
    name: "has its collateral return to a stranger",
    why: "collateral",
    on: runs,
    run(bent, meant) {
      const back = readTransaction(meant.transaction).collateralReturn!;
      bent.body.set(16n, new Encoded(encodeOutput({ address: mallory.base, value: back.value })));
    },
  },
  { name: "has no collateral return", why: "collateral", on: runs, run: (bent) => void bent.body.delete(16n) },
  { name: "does not say what is at risk", why: "collateral", on: runs, run: (bent) => void bent.body.delete(17n) },
  {
    name: "risks more collateral",
    why: "collateral",
    on: runs,
    run(bent, meant) {
      const { collateralReturn: back, totalCollateral: total } = readTransaction(meant.transaction);
      const value = lovelace(back!.value.lovelace - 5n * ADA);
      bent.body.set(16n, new Encoded(encodeOutput({ address: own(meant).base, value })));
      bent.body.set(17n, total! + 5n * ADA);
    },
  },
  {
    name: "puts up a stranger's collateral",
    why: "collateral",
    on: runs,
    run(bent) {
      const more = utxo({ address: mallory.base, value: lovelace(5n * ADA) }, newRef());
      bent.body.set(13n, new Tagged(258, [refOf(more)]));
      return [more];
    },
  },
  {
    name: "puts up unknown collateral besides",
    why: "collateral",
    on: runs,
    run: (bent) => void elements(bent.body, 13n).push([new Uint8Array(32), 0n]),
  },
  {
    name: "has no collateral",
    why: "collateral",
    on: runs,
    run(bent) {
      for (const field of [13n, 16n, 17n]) bent.body.delete(field);
    },
  },
  {
    name: "has no arguments for its scripts",
    why: "unknown_script_data",
    on: runs,
    run: (bent) => void bent.witnesses.delete(5n),
  },
  {
    name: "has no hash over the arguments of its scripts",
    why: "unknown_script_data",
    on: runs,
    run: (bent) => void bent.body.delete(11n),
  },
  {
    name: "has arguments that mean nothing",
    why: "unknown_redeemer",
    on: runs,
    run: (bent) => redeemer(bent, () => new Encoded(encodeData(constr(9)))),
  },
  {
    name: "has arguments of another kind",
    why: "unknown_redeemer",
    on: runs,
    run: (bent) => redeemer(bent, (data, i) => i === 0 ? new Encoded(encodeData(constr(3, 1n))) : data),
  },

  { name: "requests another key", why: "change", on: isRequest, run: request(() => ({ key: fromHex("00") })) },
  {
    name: "requests another value",
    why: "change",
    on: isRequest,
    run: request(({ operation }) => ({ operation: { ...operation, value: fromHex("ff") } })),
  },
  {
    name: "requests another operation",
    why: "change",
    on: isRequest,
    run: request(({ operation }) => ({
      operation: operation.type === "insert"
        ? { type: "delete", value: operation.value }
        : { type: "insert", value: operation.value },
    })),
  },
  {
    name: "requests a change of another token",
    why: "token",
    on: isRequest,
    run: request(() => ({ name: "cd".repeat(32) })),
  },
  {
    name: "requests a change of a token of another policy",
    why: "request",
    on: isRequest,
    run: request(() => ({ policy: "cd".repeat(28) })),
  },
  {
    name: "has the deposit go to a stranger",
    why: "refund",
    on: isRequest,
    run: request(() => ({ refund: keyAddress(mallory.base)! })),
  },
  {
    name: "has the deposit go to a stranger's stake",
    why: "refund",
    on: isRequest,
    run: request(({ refund }) => ({
      refund: { ...refund, stake: { kind: "key", hash: mallory.stake } },
    })),
  },
  {
    name: "has the deposit go without stake",
    why: "refund",
    on: isRequest,
    run: request(({ refund }) => ({ refund: { payment: refund.payment } })),
  },
  {
    name: "offers more than the request holds",
    why: "offered",
    on: isRequest,
    run: request(() => ({ fee: 50n * ADA })),
  },
  {
    name: "locks more",
    why: "net",
    on: isRequest,
    run(bent, meant) {
      take(bent, meant, 10n * ADA);
      redo(bent, meant, 0, ({ value }) => ({ lovelace: value.lovelace + 10n * ADA }));
    },
  },
  {
    name: "has its request at the contract with another stake part",
    why: "token",
    on: isRequest,
    run: (bent, meant) =>
      redo(bent, meant, 0, () => ({
        address: baseAddress(0, { kind: "script", hash: cageScript.hash }, { kind: "key", hash: mallory.stake }).hex,
      })),
  },
  {
    name: "has its request at another address",
    why: "request",
    on: isRequest,
    run: (bent, meant) => redo(bent, meant, 0, () => ({ address: mallory.base })),
  },
  {
    name: "has two requests",
    why: "request",
    on: isRequest,
    run(bent, meant) {
      const { value, datum } = read(meant)[0]!;
      take(bent, meant, value.lovelace);
      outputs(bent).push(new Encoded(encodeOutput({ address: cageAddress, value, datum })));
    },
  },
  {
    name: "has its request by a datum hash",
    why: "request",
    on: isRequest,
    run(bent, meant) {
      const { address, value, datum } = read(meant)[0]!;
      outputs(bent)[0] = new Map<Encodable, Encodable>([[0n, fromHex(address)], [1n, value.lovelace], [2n, [
        0n,
        blake2b256(datum!),
      ]]]);
    },
  },
  {
    name: "has a script on the request",
    why: "token",
    on: isRequest,
    run: (bent, meant) => redo(bent, meant, 0, () => ({ script: encode([3, cageScript.compiledCode]) })),
  },
  { name: "has no request", why: "request", on: isRequest, run: (bent) => void outputs(bent).shift() },
  {
    name: "takes the token along",
    why: "input",
    on: isRequest,
    run(bent, meant) {
      const [ref] = [...meant.known].find(([, { value }]) =>
        value.assets.size === 1 && [...value.assets.keys()][0]!.startsWith(cageScript.hash)
      )!;
      elements(bent.body, 0n).push([fromHex(ref.slice(0, 64)), BigInt(ref.slice(65))]);
    },
  },

  { name: "makes a stranger the owner", why: "owner", on: makesState, run: state(() => ({ owner: mallory.key })) },
  {
    name: "makes another root",
    why: "unknown_not_proven",
    on: makesState,
    run: state(() => ({ root: "11".repeat(32) })),
  },
  {
    name: "has the state at the contract with a stranger's stake",
    why: "state",
    on: makesState,
    run: (bent, meant) =>
      redo(bent, meant, 0, () => ({
        address: baseAddress(0, { kind: "script", hash: cageScript.hash }, { kind: "key", hash: mallory.stake }).hex,
      })),
  },
  {
    name: "has the state at a stranger's",
    why: "state",
    on: makesState,
    run: (bent, meant) => redo(bent, meant, 0, () => ({ address: mallory.base })),
  },
  {
    name: "locks more in the state",
    why: "locked",
    on: makesState,
    run(bent, meant) {
      take(bent, meant, 6n * ADA);
      redo(bent, meant, 0, ({ value }) => ({ lovelace: value.lovelace + 6n * ADA }));
    },
  },
  {
    name: "has the state hold a foreign asset",
    why: "state",
    on: makesState,
    run: (bent, meant) =>
      redo(bent, meant, 0, ({ value }) => ({ assets: new Map([...value.assets, ["cd".repeat(28) + "01", 7n]]) })),
  },
  {
    name: "has the state elsewhere than first",
    why: "state",
    on: makesState,
    run: (bent) => void outputs(bent).reverse(),
  },
  {
    name: "has two units of the token",
    why: "state",
    on: makesState,
    run: (bent, meant) =>
      redo(bent, meant, 0, ({ value }) => ({ assets: new Map([...value.assets].map(([asset]) => [asset, 2n])) })),
  },
  { name: "has no state", why: "state", on: makesState, run: (bent) => void outputs(bent).shift() },

  {
    name: "boots another token",
    why: "token",
    on: boots,
    run(bent, meant) {
      const name = "ef".repeat(32);
      bent.body.set(9n, new Map([[fromHex(cageScript.hash), new Map([[fromHex(name), 1n]])]]));
      redo(bent, meant, 0, () => ({ assets: new Map([[cageScript.hash + name, 1n]]) }));
    },
  },
  {
    name: "boots two tokens",
    why: "token",
    on: boots,
    run(bent) {
      const mint = [...(bent.body.get(9n) as Fields).values()][0] as Fields;
      mint.set(fromHex("ef".repeat(32)), 1n);
    },
  },
  {
    name: "mints a unit more",
    why: "unknown_mint",
    on: boots,
    run(bent) {
      const mint = [...(bent.body.get(9n) as Fields).values()][0] as Fields;
      for (const name of mint.keys()) mint.set(name, 2n);
    },
  },
  {
    name: "names the token after another seed",
    why: "unknown_mint",
    on: boots,
    run: (bent) =>
      redeemer(bent, () => new Encoded(encodeData(constr(0, constr(0, constr(0, new Uint8Array(32), 0n)))))),
  },
  {
    name: "burns instead",
    why: "unknown_mint",
    on: boots,
    run: (bent) => redeemer(bent, () => new Encoded(encodeData(constr(1)))),
  },

  {
    name: "keeps a lovelace of a refund",
    why: "refund",
    on: applies,
    run: (bent, meant) => redo(bent, meant, 1, ({ value }) => ({ lovelace: value.lovelace - 1n })),
  },
  {
    name: "refunds more out of the owner's money",
    why: "refund",
    on: applies,
    run(bent, meant) {
      take(bent, meant, ADA);
      redo(bent, meant, 1, ({ value }) => ({ lovelace: value.lovelace + ADA }));
    },
  },
  {
    name: "refunds a stranger",
    why: "refund",
    on: applies,
    run: (bent, meant) => redo(bent, meant, 1, () => ({ address: mallory.base })),
  },
  {
    name: "refunds with a datum",
    why: "refund",
    on: applies,
    run: (bent, meant) => redo(bent, meant, 1, () => ({ datum: encodeData(1n) })),
  },
  {
    name: "keeps the fee that a refused request offers",
    why: "refund",
    on: refuses,
    run: (bent, meant) => redo(bent, meant, refusedAt(meant), ({ value }) => ({ lovelace: value.lovelace - 300_000n })),
  },
  {
    name: "refuses the requests instead of applying them",
    why: "refuse",
    on: (meant) => applies(meant) && !refuses(meant),
    run: (bent, meant) =>
      redeemer(bent, (_, i) => {
        const { redeemer } = meant.summary.scripts[i]!;
        const actions = meant.summary.tokens[0]!.applies.map(() => constr(2));
        return new Encoded(encodeData(redeemer.type === "modify" ? constr(2, actions) : -1n));
      }),
  },
  {
    name: "applies the requests instead of refusing them",
    why: "refuse",
    on: refuses,
    run: (bent, meant) =>
      redeemer(
        bent,
        (data, i) => meant.summary.scripts[i]!.redeemer.type === "refuse" ? new Encoded(encodeData(BigInt(i))) : data,
      ),
  },
  { name: "refunds nothing", why: "refund", on: applies, run: (bent) => void outputs(bent).splice(1, 1) },
  {
    name: "passes a request over",
    why: "proven",
    on: applies,
    run: (bent) => redeemer(bent, (data, i) => i === 0 ? new Encoded(encodeData(constr(2, [constr(1)]))) : data),
  },
  {
    name: "takes the requests without an update",
    why: "proven",
    on: applies,
    run: (bent) => redeemer(bent, (data, i) => i === 0 ? new Encoded(encodeData(constr(0))) : data),
  },
  {
    name: "takes a request back instead",
    why: "proven",
    on: applies,
    run: (bent) => redeemer(bent, (data, i) => i === 1 ? new Encoded(encodeData(constr(3))) : data),
  },
  {
    name: "ends the token instead",
    why: "token",
    on: applies,
    run(bent, meant) {
      const [asset] = [...read(meant)[0]!.value.assets.keys()];
      bent.body.set(9n, new Map([[fromHex(cageScript.hash), new Map([[fromHex(asset!.slice(56)), -1n]])]]));
      outputs(bent).shift();
    },
  },
  {
    name: "leaves a request out",
    why: "request",
    on: applies,
    run: (bent) => void elements(bent.body, 0n).splice(1, 1),
  },

  {
    name: "applies a request besides",
    why: "input",
    on: transfers,
    run(bent, meant) {
      const [ref] = [...meant.known].find(([, output]) =>
        output.datum && decodeDatum(output.datum)?.type === "request"
      )!;
      elements(bent.body, 0n).push([fromHex(ref.slice(0, 64)), BigInt(ref.slice(65))]);
    },
  },
  {
    name: "keeps the owner",
    why: "owner",
    on: transfers,
    run: (bent, meant) => state(() => ({ owner: alice.key }))(bent, meant),
  },
  {
    name: "burns a unit more",
    why: "token",
    on: ends,
    run(bent) {
      const mint = [...(bent.body.get(9n) as Fields).values()][0] as Fields;
      for (const name of mint.keys()) mint.set(name, -2n);
    },
  },
  {
    name: "keeps the token instead",
    why: "token",
    on: ends,
    run(bent, meant) {
      bent.body.delete(9n);
      redo(bent, meant, changeIndex(meant), ({ value }) => ({
        assets: new Map([...value.assets, [`${cageScript.hash}${(meant.intent as { token: string }).token}`, 1n]]),
      }));
    },
  },
  {
    name: "has the deposit of the state go to a stranger",
    why: "payment",
    on: ends,
    run(bent, meant) {
      take(bent, meant, 2n * ADA);
      outputs(bent).push(new Encoded(encodeOutput({ address: mallory.base, value: lovelace(2n * ADA) })));
    },
  },
  {
    name: "has the deposit of the request go to a stranger",
    why: "payment",
    on: retracts,
    run(bent, meant) {
      take(bent, meant, 3n * ADA);
      outputs(bent).push(new Encoded(encodeOutput({ address: mallory.base, value: lovelace(3n * ADA) })));
    },
  },
  {
    name: "takes back another request",
    why: "request",
    on: retracts,
    run(bent, meant) {
      const [ref] = [...meant.known].find(([, { address, datum }]) => {
        const found = address === cageAddress && datum ? decodeDatum(datum) : undefined;
        return found?.type === "request" && found.request.refund.stake === undefined;
      })!;
      const inputs = elements(bent.body, 0n) as [Uint8Array, bigint][];
      const request = `${(meant.intent as { request: string }).request}`.slice(0, 64);
      const at = inputs.findIndex(([hash]) => toHex(hash) === request);
      inputs[at] = [fromHex(ref.slice(0, 64)), BigInt(ref.slice(65))];
    },
  },
];
