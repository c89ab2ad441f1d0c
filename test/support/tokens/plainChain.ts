/**
 * What blocks say, read in the plainest way: a map of unspent outputs, and for each token a map of facts. Blocks are
 * decoded by a library that the product does not use (Emurgo's serialization library), datums are read and roots are
 * computed here from their definitions. Nothing of the product's index, datums or trie is used.
 */
import csl from "@emurgo/cardano-serialization-lib-nodejs";
import { Buffer } from "node:buffer";
import { rootOfFacts } from "../contract/forestryModel.ts";

/** An output; `output` as the library has it. */
export interface PlainOutput {
  /** Bech32. */
  readonly address: string;
  readonly lovelace: bigint;
  /** Quantity by policy and name in hexadecimal, concatenated. */
  readonly assets: ReadonlyMap<string, bigint>;
  readonly output: csl.TransactionOutput;
}

export interface PlainTransaction {
  readonly hash: string;
  /** `hash-index`, in the ledger's order. */
  readonly inputs: readonly string[];
  /** Collateral and reference inputs, which must be there too. */
  readonly beside: readonly string[];
  readonly outputs: readonly PlainOutput[];
  readonly fee: bigint;
  /** Quantity by policy and name; negative if burnt. */
  readonly mint: ReadonlyMap<string, bigint>;
}

export interface PlainBlock {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
  readonly transactions: readonly PlainTransaction[];
}

/** A version of the contract. */
export interface PlainContract {
  readonly policyId: string;
  readonly address: string;
}

export type PlainChange =
  | { readonly type: "insert"; readonly value: string }
  | { readonly type: "delete"; readonly value: string }
  | { readonly type: "update"; readonly old: string; readonly value: string };

/** A request; bytes in hexadecimal. */
export interface PlainRequest {
  readonly ref: string;
  readonly token: string;
  /** Hash of the key that may take it back. */
  readonly owner: string;
  /** Where the deposit returns to, bech32. */
  readonly refund: string;
  readonly tip: bigint;
  readonly deposit: bigint;
  readonly key: string;
  readonly change: PlainChange;
}

/** A live token; keys and values in hexadecimal. */
export interface PlainToken {
  readonly id: string;
  readonly owner: string;
  readonly root: string;
  readonly ref: string;
  readonly lovelace: bigint;
  readonly facts: ReadonlyMap<string, { readonly value: string; readonly slot: number }>;
}

/** What a transaction does to the contract's outputs. */
export interface PlainEffect {
  readonly booted?: PlainToken;
  readonly ended?: PlainToken;
  /** The state before and after an update or a transfer. */
  readonly moved?: { readonly before: PlainToken; readonly after: PlainToken };
  readonly requested: readonly PlainRequest[];
  readonly applied: readonly PlainRequest[];
  readonly retracted: readonly PlainRequest[];
}

/** The chain after its blocks. */
export interface PlainState {
  readonly utxos: ReadonlyMap<string, PlainOutput>;
  readonly tokens: ReadonlyMap<string, PlainToken>;
  readonly ended: ReadonlySet<string>;
  readonly open: ReadonlyMap<string, PlainRequest>;
  /** How requests ended, with the transaction. */
  readonly closed: ReadonlyMap<string, { readonly how: "applied" | "retracted"; readonly hash: string }>;
  /** All transactions in order, with the outputs that they spend as far as a block made them. */
  readonly transactions: ReadonlyMap<string, PlainStep>;
}

export interface PlainStep {
  readonly height: number;
  readonly transaction: PlainTransaction;
  readonly spent: readonly PlainOutput[];
  readonly effect: PlainEffect;
}

const list = <T>(from: { len(): number; get(index: number): T } | undefined): T[] =>
  Array.from({ length: from?.len() ?? 0 }, (_, i) => from!.get(i));

function assetsOf(from: csl.MultiAsset | undefined): Map<string, bigint> {
  return new Map(
    list(from?.keys()).flatMap((policy) => {
      const names = from!.get(policy)!;
      return list(names.keys()).map((name) => [unit(policy, name), BigInt(names.get(name)!.to_str())] as const);
    }),
  );
}

const unit = (policy: csl.ScriptHash, name: csl.AssetName) =>
  policy.to_hex() + Buffer.from(name.name()).toString("hex");

function mintOf(mint: csl.Mint | undefined): Map<string, bigint> {
  const found = new Map<string, bigint>();
  for (const policy of list(mint?.keys())) {
    for (const assets of list(mint!.get(policy))) {
      for (const name of list(assets!.keys())) found.set(unit(policy, name), BigInt(assets!.get(name)!.to_str()));
    }
  }
  return found;
}

function plainBody(hash: string, body: csl.TransactionBody): PlainTransaction {
  const inputs = list(body.inputs()).map((input) => [input.transaction_id().to_hex(), input.index()] as const);
  return {
    hash,
    inputs: inputs.sort(([a, i], [b, j]) => a === b ? i - j : a < b ? -1 : 1).map(([id, index]) => `${id}-${index}`),
    beside: [body.collateral(), body.reference_inputs()].flatMap((refs) =>
      list(refs).map((input) => `${input.transaction_id().to_hex()}-${input.index()}`)
    ),
    outputs: list(body.outputs()).map((output) => ({
      address: output.address().to_bech32(),
      lovelace: BigInt(output.amount().coin().to_str()),
      assets: assetsOf(output.amount().multiasset()),
      output,
    })),
    fee: BigInt(body.fee().to_str()),
    mint: mintOf(body.mint()),
  };
}

/** A signed or unsigned transaction, decoded. */
export function plainTransaction(cbor: string): PlainTransaction {
  const fixed = csl.FixedTransaction.from_hex(cbor);
  return plainBody(fixed.transaction_hash().to_hex(), fixed.body());
}

/** A block, decoded. @throws {Error} where a script of it failed: no service here may have one in a block. */
export function plainBlock(
  { height, slot, hash, bytes }: { height: number; slot: number; hash: string; bytes: Uint8Array },
): PlainBlock {
  const block = csl.FixedVersionedBlock.from_bytes(bytes).block();
  if (block.invalid_transactions().length > 0) throw new Error(`a script failed in the block ${hash}`);
  const transactions = list(block.transaction_bodies()).map((one) =>
    plainBody(one.tx_hash().to_hex(), one.transaction_body())
  );
  return { height, slot, hash, transactions };
}

/** Fields of a constructor of Plutus data. */
function fieldsOf(data: csl.PlutusData | undefined, alternative?: number): csl.PlutusData[] | undefined {
  const constructor = data?.as_constr_plutus_data();
  if (!constructor) return undefined;
  if (alternative !== undefined && Number(constructor.alternative().to_str()) !== alternative) return undefined;
  return list(constructor.data());
}

const hexIn = (data: csl.PlutusData | undefined): string => Buffer.from(data!.as_bytes()!).toString("hex");

/** The address that `C0[C0[key hash], C0[C0[C0[stake key hash]]] or C1[]]` stands for. */
function addressIn(data: csl.PlutusData | undefined): { owner: string; refund: string } {
  const [payment, stake] = fieldsOf(data, 0)!;
  const owner = hexIn(fieldsOf(payment, 0)![0]);
  const credential = (hash: string) => csl.Credential.from_keyhash(csl.Ed25519KeyHash.from_hex(hash));
  const [inline] = fieldsOf(stake, 0) ?? [];
  const address = inline === undefined
    ? csl.EnterpriseAddress.new(0, credential(owner)).to_address()
    : csl.BaseAddress.new(0, credential(owner), credential(hexIn(fieldsOf(fieldsOf(inline, 0)![0], 0)![0])))
      .to_address();
  return { owner, refund: address.to_bech32() };
}

function changeIn(data: csl.PlutusData | undefined): PlainChange {
  const fields = fieldsOf(data)!.map(hexIn);
  const alternative = Number(data!.as_constr_plutus_data()!.alternative().to_str());
  if (alternative === 0) return { type: "insert", value: fields[0]! };
  if (alternative === 1) return { type: "delete", value: fields[0]! };
  return { type: "update", old: fields[0]!, value: fields[1]! };
}

/** What a request asks for; every request in these tests is well formed. */
function requestIn(ref: string, { lovelace, output }: PlainOutput): PlainRequest | undefined {
  const fields = fieldsOf(fieldsOf(output.plutus_data(), 0)?.[0], 0);
  if (fields?.length !== 5) return undefined;
  const [token, address, tip, key, change] = fields;
  return {
    ref,
    token: hexIn(fieldsOf(token, 0)![1]),
    ...addressIn(address),
    tip: BigInt(tip!.as_integer()!.to_str()),
    deposit: lovelace,
    key: hexIn(key),
    change: changeIn(change),
  };
}

/** Makes a request's change; gives why it is impossible. */
export function change(
  facts: Map<string, { value: string; slot: number }>,
  { key, change }: Pick<PlainRequest, "key" | "change">,
  slot: number,
): string | undefined {
  const now = facts.get(key)?.value;
  if (change.type === "insert") {
    if (now !== undefined) return `the key ${key} is there already`;
    facts.set(key, { value: change.value, slot });
  } else if (change.type === "delete") {
    if (now !== change.value) return `the key ${key} has the value ${now}, not ${change.value}`;
    facts.delete(key);
  } else {
    if (now !== change.old) return `the key ${key} has the value ${now}, not ${change.old}`;
    facts.set(key, { value: change.value, slot });
  }
  return undefined;
}

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
/** Transactions whose root was found to be right: a transaction's hash fixes all that came before it. */
const checked = new Set<string>();

/**
 * The chain after some blocks from the first one on.
 *
 * @throws {Error} where the ledger took what the contract forbids, by the plain rules here.
 */
export function replay(blocks: readonly PlainBlock[], contracts: readonly PlainContract[]): PlainState {
  const addresses = new Set(contracts.map(({ address }) => address));
  const policies = new Set(contracts.map(({ policyId }) => policyId));
  const utxos = new Map<string, PlainOutput>();
  const tokens = new Map<string, PlainToken>();
  const states = new Map<string, string>();
  const ended = new Set<string>();
  const open = new Map<string, PlainRequest>();
  const closed = new Map<string, { how: "applied" | "retracted"; hash: string }>();
  const transactions = new Map<string, PlainStep>();

  const stateIn = (ref: string, { assets, lovelace, output }: PlainOutput) => {
    const [asset] = [...assets.keys()].filter((one) => policies.has(one.slice(0, 56)));
    const [owner, root] = fieldsOf(fieldsOf(output.plutus_data(), 1)?.[0], 0) ?? [];
    if (asset === undefined || owner === undefined) return undefined;
    return { id: asset.slice(56), owner: hexIn(owner), root: hexIn(root), ref, lovelace };
  };
  const step = (transaction: PlainTransaction, { slot, height }: PlainBlock) => {
    const { hash, inputs, outputs } = transaction;
    if (transactions.has(hash)) throw new Error(`the transaction ${hash} is in two blocks`);
    const spent = inputs.flatMap((ref) => utxos.get(ref) ?? []);
    const requests = inputs.flatMap((ref) => open.get(ref) ?? []);
    const before = inputs.flatMap((ref) => tokens.get(states.get(ref) ?? "") ?? []);
    if (before.length > 1) throw new Error(`${hash} spends two states`);
    for (const ref of inputs) utxos.delete(ref);
    for (const [i, output] of outputs.entries()) utxos.set(`${hash}-${i}`, output);
    const after = outputs.flatMap((output, i) =>
      addresses.has(output.address) ? stateIn(`${hash}-${i}`, output) ?? [] : []
    );
    const requested = outputs.flatMap((output, i) =>
      addresses.has(output.address) ? requestIn(`${hash}-${i}`, output) ?? [] : []
    );
    const [old] = before;
    const [next] = after;
    const applied = old && next ? requests.filter(({ token }) => token === old.id) : [];
    const retracted = requests.filter((request) => !applied.includes(request));
    const facts = new Map(old?.facts);
    for (const request of applied) {
      const impossible = change(facts, request, slot);
      if (impossible) throw new Error(`${hash} applies ${request.ref} although ${impossible}`);
    }
    if (next && !checked.has(hash)) {
      const root = rootOfFacts([...facts].map(([key, { value }]) => [bytes(key), bytes(value)]));
      if (Buffer.from(root).toString("hex") !== next.root) {
        throw new Error(`the root after ${hash} is not that of the facts`);
      }
      checked.add(hash);
    }
    if (old) tokens.delete(old.id);
    if (old && !next) ended.add(old.id);
    const now = next && { ...next, facts };
    if (now) {
      if (old && old.id !== now.id) throw new Error(`${hash} makes one token of another`);
      tokens.set(now.id, now);
      states.set(now.ref, now.id);
    }
    for (const request of requested) open.set(request.ref, request);
    for (const [how, some] of [["applied", applied], ["retracted", retracted]] as const) {
      for (const { ref } of some) {
        open.delete(ref);
        closed.set(ref, { how, hash });
      }
    }
    const effect: PlainEffect = {
      requested,
      applied,
      retracted,
      ...(now && !old ? { booted: now } : {}),
      ...(old && !now ? { ended: old } : {}),
      ...(old && now ? { moved: { before: old, after: now } } : {}),
    };
    transactions.set(hash, { height, transaction, spent, effect });
  };
  for (const block of blocks) for (const one of block.transactions) step(one, block);
  return { utxos, tokens, ended, open, closed, transactions };
}

/** The least lovelace of an output with its present content, by the library's rule. */
export function leastLovelace(output: csl.TransactionOutput, perByte = 4_310n): bigint {
  const cost = csl.DataCost.new_coins_per_byte(csl.BigNum.from_str(String(perByte)));
  return BigInt(csl.min_ada_for_output(output, cost).to_str());
}

/** The least lovelace of an output to an address without anything else. */
export function leastPayment(address: string): bigint {
  const value = csl.Value.new(csl.BigNum.from_str("1000000"));
  return leastLovelace(csl.TransactionOutput.new(csl.Address.from_bech32(address), value));
}
