/**
 * Verification of what a service of MPFS v2 reads, without trust in it: a token's state, the list of tokens, the facts of a token, one
 * fact or its absence, the open requests. The root of all unspent outputs comes from another service than the one that
 * answered (`fetchSecondRoot`), and everything else is read from the outputs themselves. Runs in a browser.
 *
 * Stricter than the clients of MPFS v2: the state output must be at the state script's address and hold the token of the
 * question; `requests` must be the requests in `request_set`; outputs and facts that no proof covers are refused. Each result says
 * what nothing proves.
 *
 * The contract of MPFS v2 is not the one of this project: no transaction can be built from these answers here.
 */
import { equalBytes, fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { type NetworkId, parseAddress, readAddressHex, scriptAddress } from "#src/cardano/address.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { decodeData } from "#src/cardano/data.ts";
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import {
  type ChainPoint,
  fetchTrustedRoot,
  pointOf,
  type RootRefusal,
  type RootSources,
  type TrustedRoot,
} from "#src/client/ledgerRoot.ts";
import { decodeV2Request, decodeV2State, type V2Request, type V2State } from "#src/client/mpfsV2Datum.ts";
import { BAD_ROOT } from "#src/client/ledgerRoot.ts";
import { factsUnderRoot } from "#src/client/provenFacts.ts";
import { plural } from "#src/client/sentences.ts";
import {
  guarded,
  hexIn,
  listIn,
  malformed,
  recordOf,
  refIn,
  type Refuse,
  refused as refusal,
} from "#src/client/untrusted.ts";
import { MAX_FACT_BYTES } from "#src/contract/datum.ts";
import { type ShownOutput, verifyAddress, verifyOutput } from "#src/csmt/verify.ts";
import { digest } from "#src/forestry/hash.ts";
import { type Proof, readProof } from "#src/forestry/proof.ts";
import { excludes, includes } from "#src/forestry/verify.ts";

export type { V2Request, V2State } from "#src/client/mpfsV2Datum.ts";

/** What the caller trusts, and which contract is meant. */
export interface V2Question {
  /** The root after the answer's block, never from the service that answered. */
  readonly trusted: TrustedRoot;
  /** Hash of the state script, 28 bytes in hexadecimal: the policy of the tokens. */
  readonly policyId: string;
  /** Network id in addresses; by default that of test networks. */
  readonly network?: NetworkId;
}

/** A question about one token. */
export interface V2TokenQuestion extends V2Question {
  readonly tokenId: string;
}

export interface V2FactQuestion extends V2TokenQuestion {
  /** The key's bytes. */
  readonly key: Uint8Array;
}

export interface V2RequestQuestion extends V2TokenQuestion {
  /**
   * Address of the token's requests, in text or hexadecimal: that of the request script, with the policy and the token as its
   * parameters. It comes from the contract's blueprint, never from the service that answered.
   */
  readonly requestAddress: string;
}

/** What every verified answer has. */
interface Verified {
  /** The block after which it holds. */
  readonly point: ChainPoint;
  /** Sentences that say what was checked, and what was not. */
  readonly checked: readonly string[];
  readonly notChecked: readonly string[];
}

/** A token's state, read from its output. */
export interface V2Token extends V2State {
  readonly tokenId: string;
  /** Reference to its output: the transaction's hash, `#`, the index. */
  readonly output: string;
}

/** A request, read from its output. */
export interface V2OpenRequest extends V2Request {
  /** Reference to its output: the transaction's hash, `#`, the index. */
  readonly output: string;
  readonly lovelace: bigint;
}

export interface V2TokenState extends Verified {
  readonly token: V2Token;
}

export interface V2TokenList extends Verified {
  /** In the order of the references to their outputs. */
  readonly tokens: readonly V2Token[];
}

export interface V2Facts extends V2TokenState {
  /** Values by key, both in hexadecimal. */
  readonly facts: ReadonlyMap<string, string>;
}

export interface V2Fact extends V2TokenState {
  /** Undefined: the key is absent. */
  readonly value: Uint8Array | undefined;
}

export interface V2Requests extends Verified {
  /** In the order of the references to their outputs. */
  readonly requests: readonly V2OpenRequest[];
}

/**
 * Why an answer proves nothing. `malformed`: it has another form; `too_large`: it is over a limit; `untrusted`: what is trusted
 * is malformed; `other_block`: it is of another block than the trusted root; `other_root`: it says another root; `incomplete`:
 * outputs are missing, added or changed; `lists_differ`: `requests` has not the requests of `request_set`; `not_unspent`: an output is not
 * among the unspent ones; `other_token`: the output is no state of this token; `facts_differ`: facts are missing, added or changed;
 * `proof_fails`: the proof of a fact or of its absence does not lead to the token's root.
 */
export type V2Refusal = Failure<
  | "malformed"
  | "too_large"
  | "untrusted"
  | "other_block"
  | "other_root"
  | "incomplete"
  | "lists_differ"
  | "not_unspent"
  | "other_token"
  | "facts_differ"
  | "proof_fails"
>;

const refused: Refuse<V2Refusal["code"]> = refusal;

/** Outputs of an answer, and facts of a token, at most. */
const MOST_OUTPUTS = 20_000;
const MOST_FACTS = 1_000_000;
/** Bytes at most: no output is larger than a transaction, and no proof of an output as large as this. */
const OUTPUT_BYTES = 65_536;
const PROOF_BYTES = 1_000_000;
const SET_PROOF_BYTES = 16_000_000;

/**
 * The root after the block of an answer, from other services than the one that answered: of cardano-utxo-csmt, or of this
 * project. Otherwise as `fetchTrustedRoot`. `same_source`: the service itself, or one on its host and port, is among them.
 * Names are compared, not what they resolve to or who runs them: that is the caller's choice.
 *
 * @example
 * ```ts
 * import { fetchSecondRoot } from "./src/client/mpfsV2.ts";
 *
 * const service = "https://mpfs.example";
 * const trusted = await fetchSecondRoot({}, { service, instances: ["https://mpfs.example/csmt"] });
 * console.log(trusted.ok ? trusted.value.utxoRoot : trusted.error.code); // same_source
 * ```
 */
export async function fetchSecondRoot(
  answer: unknown,
  { service, ...sources }: RootSources & {
    /** URL of the service that answered. */
    readonly service: string;
  },
): Promise<Result<TrustedRoot, RootRefusal | Failure<"same_source">>> {
  const same = sources.instances.find((url) => hostOf(url) === hostOf(service));
  if (same !== undefined) {
    return fail("same_source", `${same} is the service that answered: its own root would prove nothing.`);
  }
  return await fetchTrustedRoot(answer, sources);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/**
 * Verifies that the answer to `GET /tokens/{id}`, which may be any value, is the token's state.
 *
 * @throws {TypeError} where the token id or the policy of the question is malformed, as all verifiers.
 *
 * @example
 * ```ts
 * import { verifyV2State } from "./src/client/mpfsV2.ts";
 *
 * const point = { slot: 1, hash: "00".repeat(32) };
 * const trusted = { utxoRoot: "00".repeat(32), point };
 * const verified = verifyV2State({}, { trusted, policyId: "00".repeat(28), tokenId: "00".repeat(32) });
 * console.log(verified.ok ? verified.value.token.root : verified.error.code); // malformed
 * ```
 */
export function verifyV2State(answer: unknown, question: V2TokenQuestion): Result<V2TokenState, V2Refusal> {
  return guarded(() => stateOf(answer, recordOf(answer).state, question));
}

/** Verifies that the answer to `GET /tokens`, which may be any value, has all tokens. */
export function verifyV2Tokens(answer: unknown, question: V2Question): Result<V2TokenList, V2Refusal> {
  return guarded(() => {
    const root = rootOf(answer, question);
    const address = stateAddress(question);
    const outputs = completeSet(root, recordOf(answer).tokens, address, "the state address");
    const tokens = outputs.flatMap(({ ref, output }) => stateIn(ref, output, policyIn(question)) ?? []);
    return {
      point: question.trusted.point,
      tokens,
      checked: [
        anchored(question),
        `${plural(outputs.length, "output is", "outputs are")} all that the state address had after it.`,
        `${
          plural(tokens.length, "of them is the state of a token", "of them are states of tokens")
        }: each holds one asset of the policy, and owner and root are in its datum.`,
      ],
      notChecked: [...notChecked(question), "States at addresses of the state script with a stake part."],
    };
  });
}

/**
 * Verifies that the answer to `GET /tokens/{id}/facts`, which may be any value, has all facts of a token.
 */
export function verifyV2Facts(answer: unknown, question: V2TokenQuestion): Result<V2Facts, V2Refusal> {
  return guarded(() => {
    const state = stateOf(answer, recordOf(answer).state, question);
    const most = { facts: MOST_FACTS, bytes: MAX_FACT_BYTES };
    const { facts, checked } = factsUnderRoot(recordOf(answer).facts, state.token.root, most);
    return { ...state, facts, checked: [...state.checked, checked] };
  });
}

/**
 * Verifies the answer to `GET /tokens/{id}/facts/{key}`, which may be any value, as the proof of a fact, and that to
 * `GET /tokens/{id}/proofs/{key}`, which has no value, as the proof that the key is absent.
 */
export function verifyV2Fact(answer: unknown, question: V2FactQuestion): Result<V2Fact, V2Refusal> {
  return guarded(() => {
    const { value: shown, fact: rawFact } = recordOf(answer);
    const fact = recordOf(rawFact);
    const state = stateOf(answer, fact.state, question);
    const value = shown === undefined || shown === null ? undefined : fromHex(hexIn(shown, MAX_FACT_BYTES));
    const proof = proofIn(fromHex(hexIn(fact.mpf_proof, PROOF_BYTES)));
    const root = fromHex(state.token.root);
    const path = digest(question.key);
    const key = toHex(question.key);
    const holds = value ? includes(root, path, digest(value), proof) : excludes(root, path, proof);
    if (!holds) {
      throw refused(
        "proof_fails",
        value
          ? `The proof does not show that the key ${key} has this value under the token's root.`
          : `The proof does not show that the key ${key} is absent under the token's root.`,
      );
    }
    return {
      ...state,
      value,
      checked: [
        ...state.checked,
        value
          ? `The proof leads from the key ${key} and its value to that root.`
          : `The proof shows that there is no key ${key} under that root.`,
      ],
    };
  });
}

/** Verifies that the answer to `GET /tokens/{id}/requests`, which may be any value, has all open requests of a token. */
export function verifyV2Requests(answer: unknown, question: V2RequestQuestion): Result<V2Requests, V2Refusal> {
  return guarded(() => {
    const token = tokenOf(question);
    const address = addressOf(question);
    const root = rootOf(answer, question);
    const { request_set: set, requests: listed } = recordOf(answer);
    const outputs = completeSet(root, set, address, "the request address");
    const requests = outputs.flatMap(({ ref, output }) => requestIn(ref, output, token) ?? []);
    compareLists(root, listIn(listed, MOST_OUTPUTS), outputs, requests);
    return {
      point: question.trusted.point,
      requests,
      checked: [
        anchored(question),
        `${plural(outputs.length, "output is", "outputs are")} all that the request address had after it.`,
        `${
          plural(requests.length, "of them is a request", "of them are requests")
        } for the token ${token}, by the datums, and the list of requests has the same ones.`,
      ],
      notChecked: [
        ...notChecked(question),
        `Whether ${question.requestAddress} is the address of the token's requests: it rests on the reader.`,
        "Requests at other addresses: the contract applies a request at any address if its datum names the token.",
        "The times of submission (submitted_at), and with them whether a request can be applied, retracted or rejected now: they are what the requesters wrote.",
      ],
    };
  });
}

interface V2Output {
  readonly ref: OutRef;
  readonly output: Output;
}

/** All outputs at an address, in the order of their references, proven complete. */
function completeSet(root: Uint8Array, set: unknown, address: string, name: string): readonly V2Output[] {
  const { entries, completeness_proof: proof } = recordOf(set);
  const shown = listIn(entries, MOST_OUTPUTS).map(recordOf).map(({ ref, txout_cbor: cbor }) => shownIn(ref, cbor));
  const proven = verifyAddress(root, { address, outputs: shown }, fromHex(hexIn(proof, SET_PROOF_BYTES)));
  if (!proven.ok) {
    throw refused(
      "incomplete",
      `The ${shown.length} outputs that the response shows are not all outputs of ${name} after the block: outputs are missing, added or changed. ${proven.error.message}`,
    );
  }
  return proven.value
    .flatMap((output, i) => shown[i] ? [{ ref: shown[i].ref, output }] : [])
    .sort((a, b) => compareRefs(a.ref, b.ref));
}

/** The list of requests must have the requests of the set, each with a proof of its own, and nothing that is not in it. */
function compareLists(
  root: Uint8Array,
  listed: readonly unknown[],
  outputs: readonly V2Output[],
  requests: readonly V2OpenRequest[],
): void {
  const inSet = new Map(outputs.map(({ ref, output }) => [refKey(ref), output.raw]));
  const seen = new Set<string>();
  for (const one of listed) {
    const { shown, proof } = utxoIn(recordOf(one).utxo);
    const key = refKey(shown.ref);
    const raw = inSet.get(key);
    if (!raw || !equalBytes(raw, shown.cbor)) {
      throw refused("lists_differ", `The request ${key} of the list is not in the set that is proven complete.`);
    }
    if (seen.has(key)) throw refused("lists_differ", `The request ${key} is in the list twice.`);
    seen.add(key);
    provenUnspent(root, shown, proof);
  }
  const missing = requests.find(({ output }) => !seen.has(output));
  if (missing) throw refused("lists_differ", `The list of requests lacks ${missing.output}, which is in the set.`);
}

function stateOf(answer: unknown, state: unknown, question: V2TokenQuestion): V2TokenState {
  const token = tokenOf(question);
  const root = rootOf(answer, question);
  const { shown, proof } = utxoIn(recordOf(state).utxo);
  const output = provenUnspent(root, shown, proof);
  const key = refKey(shown.ref);
  if (output.address !== stateAddress(question)) {
    throw refused("other_token", `The output ${key} is unspent, but is not at the state address.`);
  }
  const found = stateIn(shown.ref, output, policyIn(question));
  if (found?.tokenId !== token) {
    throw refused("other_token", `The output ${key} is unspent, but is no state of the token ${token}.`);
  }
  return {
    point: question.trusted.point,
    token: found,
    checked: [
      anchored(question),
      `The output ${key} was unspent after it, is at the state address, and holds the token ${token} as its only asset of the policy.`,
      `Its datum names the owner ${found.owner} and the root ${found.root}.`,
    ],
    notChecked: notChecked(question),
  };
}

function provenUnspent(root: Uint8Array, shown: ShownOutput, proof: Uint8Array): Output {
  const proven = verifyOutput(root, shown, proof);
  if (proven.ok) return proven.value;
  throw refused(
    "not_unspent",
    `The output ${
      refKey(shown.ref)
    } is not proven to be unspent after the block: it is old or was changed. ${proven.error.message}`,
  );
}

/** The state in an output: one asset of the policy, and a state's datum. */
function stateIn(ref: OutRef, output: Output, policyId: string): V2Token | undefined {
  const assets = [...output.value.assets].filter(([asset]) => policyOf(asset) === policyId);
  const [first] = assets;
  const state = output.datum && decodeV2State(output.datum);
  if (!first || assets.length !== 1 || first[1] !== 1n || !state) return undefined;
  return { tokenId: nameOf(first[0]), ...state, output: refKey(ref) };
}

function requestIn(ref: OutRef, output: Output, token: string): V2OpenRequest | undefined {
  const request = output.datum && decodeV2Request(output.datum);
  if (request?.tokenId !== token) return undefined;
  return { ...request, output: refKey(ref), lovelace: output.value.lovelace };
}

function utxoIn(value: unknown): { readonly shown: ShownOutput; readonly proof: Uint8Array } {
  const { tx_in: ref, tx_out: cbor, utxo_proof: proof } = recordOf(value);
  return { shown: shownIn(ref, cbor), proof: fromHex(hexIn(proof, PROOF_BYTES)) };
}

function shownIn(ref: unknown, cbor: unknown): ShownOutput {
  return { ref: refIn(ref), cbor: fromHex(hexIn(cbor, OUTPUT_BYTES)) };
}

function proofIn(cbor: Uint8Array): Proof {
  try {
    const proof = readProof(decodeData(cbor));
    if (proof) return proof;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
  }
  throw malformed();
}

/** The trusted root, where the answer says that it is of its block. */
function rootOf(answer: unknown, { trusted: { utxoRoot, point } }: V2Question): Uint8Array {
  // of an empty set no answer says anything: it has no root, and its proof would be accepted for any address
  if (utxoRoot === null || !isHex(utxoRoot, 32) || !isHex(point.hash, 32)) {
    throw refused("untrusted", BAD_ROOT);
  }
  const said = pointOf(answer);
  if (!said) throw malformed();
  if (said.slot !== point.slot || said.hash !== point.hash.toLowerCase()) {
    throw refused("other_block", "The response is of another block than the trusted root.");
  }
  if (recordOf(recordOf(answer).snapshot).utxo_root !== utxoRoot.toLowerCase()) {
    throw refused("other_root", "The response says another root of the unspent outputs than the trusted one.");
  }
  return fromHex(utxoRoot);
}

function anchored({ trusted: { utxoRoot, point, from = [] } }: V2Question): string {
  const by = from.length === 0 ? "" : ` by ${plural(from.length, "other service", "other services")}`;
  return `The response is of the block ${point.hash} in slot ${point.slot}, after which the root of all unspent outputs was ${utxoRoot}${by}.`;
}

function notChecked({ trusted: { from = [] } }: V2Question): string[] {
  return [
    from.length === 0
      ? "Whether the trusted root is that of the ledger: it rests on where the reader has it from."
      : `Whether the trusted root is that of the ledger: it rests on ${from.join(", ")}.`,
    "Protocol parameters and the evaluation context of the service: nothing proves them.",
  ];
}

function tokenOf({ tokenId }: V2TokenQuestion): string {
  if (isHex(tokenId, 32)) return tokenId.toLowerCase();
  throw new TypeError("a token id has 32 bytes");
}

function policyIn({ policyId }: V2Question): string {
  if (isHex(policyId, 28)) return policyId.toLowerCase();
  throw new TypeError("a policy id has 28 bytes");
}

function stateAddress(question: V2Question): string {
  return scriptAddress(question.network ?? 0, policyIn(question)).hex;
}

function addressOf({ requestAddress, network = 0 }: V2RequestQuestion): string {
  const address = isHex(requestAddress) ? readAddressHex(requestAddress) : parseAddress(requestAddress);
  if (!address.ok || !("payment" in address.value) || address.value.network !== network) {
    throw new TypeError("a request address is one of the network with a payment part");
  }
  return address.value.hex;
}
