/**
 * Verification of whole answers of a token service, without trust in it: that a list of tokens, a token's state, the set of
 * its open requests or its facts is all there was after a block, against the root of all unspent outputs after that
 * block, which the caller trusts (`fetchTrustedRoot`). Everything is read from the outputs themselves. Runs in a browser.
 */
import { fromHex, isHex } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { addressText, type NetworkId, readAddressHex, scriptAddress } from "#src/cardano/address.ts";
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { BAD_ROOT, type ChainPoint, pointOf, type TrustedRoot } from "#src/client/ledgerRoot.ts";
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
import { decodeDatum, type Operation } from "#src/contract/datum.ts";
import { keyAddressHex } from "#src/contract/plutusAddress.ts";
import versions from "#src/contract/versions.json" with { type: "json" };
import { type UtxoRoot, verifyAddress, verifyOutput } from "#src/csmt/verify.ts";

/** What the caller trusts, and which contract is meant. */
export interface LedgerQuestion {
  readonly trusted: TrustedRoot;
  /** Network id in addresses; by default that of test networks. */
  readonly network?: NetworkId;
  /**
   * Policy ids of the contract's versions; by default all that are published with this client. The transaction that boots a
   * token can boot its name under several versions; name the one that is meant where the owner may not be trusted with that.
   */
  readonly policies?: readonly string[];
}

/** A question about one token. */
export interface TokenQuestion extends LedgerQuestion {
  readonly tokenId: string;
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
export interface LedgerToken {
  readonly policyId: string;
  readonly tokenId: string;
  /** Payment key hash of the owner. */
  readonly owner: string;
  readonly root: string;
  readonly outputRefId: string;
  readonly address: string;
}

/** An open request, read from its output. */
export interface LedgerRequest {
  readonly policyId: string;
  readonly outputRefId: string;
  readonly refundAddress: string;
  readonly lovelace: bigint;
  readonly fee: bigint;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

export interface VerifiedTokenList extends Verified {
  /** In the order of the references to their state outputs. */
  readonly tokens: readonly LedgerToken[];
}

export interface VerifiedTokenState extends Verified {
  readonly token: LedgerToken;
}

export interface VerifiedRequestSet extends Verified {
  /** In the order of the references to their outputs, in which an update applies them. */
  readonly requests: readonly LedgerRequest[];
}

export interface VerifiedLedgerFacts extends VerifiedTokenState {
  /** Values by key, both in hexadecimal. */
  readonly facts: ReadonlyMap<string, string>;
}

/**
 * Why an answer proves nothing. `malformed`: it has another form; `untrusted`: what is trusted is malformed; `other_block`: it is of
 * another block than the trusted root; `other_root`: it says another root; `incomplete`: outputs are missing, added or
 * changed; `not_unspent`: the state output is not among the unspent ones, so it is old or invented; `other_token`: the output
 * is no state of this token; `facts_differ`: facts are missing, added or changed.
 */
export type LedgerRefusal = Failure<
  | "malformed"
  | "untrusted"
  | "other_block"
  | "other_root"
  | "incomplete"
  | "not_unspent"
  | "other_token"
  | "facts_differ"
>;

/**
 * Verifies that the answer to `GET /tokens?proof=true`, which may be any value, has all tokens.
 *
 * @example
 * ```ts
 * import { verifyTokenList } from "./src/client/ledgerAnswers.ts";
 *
 * const point = { slot: 1, hash: "00".repeat(32) };
 * const verified = verifyTokenList({}, { trusted: { utxoRoot: "00".repeat(32), point } });
 * console.log(verified.ok ? verified.value.tokens : verified.error.code); // malformed
 * ```
 */
export function verifyTokenList(answer: unknown, question: LedgerQuestion): Result<VerifiedTokenList, LedgerRefusal> {
  return guarded(() => {
    const sets = contractOutputs(answer, "tokens", question);
    const tokens = sets.outputs.flatMap(({ ref, output, policy }) => stateIn(ref, output, policy) ?? []);
    return {
      point: question.trusted.point,
      tokens,
      checked: [
        ...sets.checked,
        `${
          plural(tokens.length, "of them is the state of a token", "of them are states of tokens")
        }: each holds one asset of the contract, and owner and root are in its datum.`,
      ],
      notChecked: [...notChecked(question), ELSEWHERE],
    };
  });
}

/**
 * Verifies that the answer to `GET /token/{tokenId}?proof=true`, which may be any value, is the token's state.
 *
 * @throws {TypeError} where the token id of the question has not 32 bytes, as all verifiers for one token.
 */
export function verifyTokenState(answer: unknown, question: TokenQuestion): Result<VerifiedTokenState, LedgerRefusal> {
  return guarded(() => stateOf(answer, question));
}

/**
 * Verifies that the answer to `GET /token/{tokenId}/requests?proof=true`, which may be any value, has all open requests of a
 * token.
 */
export function verifyRequestSet(answer: unknown, question: TokenQuestion): Result<VerifiedRequestSet, LedgerRefusal> {
  return guarded(() => {
    const token = tokenOf(question);
    const sets = contractOutputs(answer, "request_set", question);
    const requests = sets.outputs.flatMap((one) => requestIn(one, token, question.network ?? 0) ?? []);
    return {
      point: question.trusted.point,
      requests,
      checked: [
        ...sets.checked,
        `${
          plural(requests.length, "of them is an open request", "of them are open requests")
        } of the token ${token}, by the datums.`,
      ],
      notChecked: [...notChecked(question), ELSEWHERE, "Whether the owner of the token can apply the requests."],
    };
  });
}

/**
 * Verifies that the answer to `GET /token/{tokenId}/facts?proof=true`, which may be any value, has all facts of a token. More
 * facts than such an answer may have are verified by `verifyFactSet`, against the root that `verifyTokenState` gives.
 */
export function verifyTokenFacts(answer: unknown, question: TokenQuestion): Result<VerifiedLedgerFacts, LedgerRefusal> {
  return guarded(() => {
    const state = stateOf(answer, question);
    const { facts, checked } = factsUnderRoot(recordOf(answer).facts, state.token.root);
    return { ...state, facts, checked: [...state.checked, checked] };
  });
}

const ELSEWHERE =
  "Outputs of the contract at other addresses: those with a stake part, and those of versions of the contract that this client does not know.";

function notChecked({ trusted: { from = [] } }: LedgerQuestion): string[] {
  return [
    from.length === 0
      ? "Whether the trusted root is that of the ledger: it rests on where the reader has it from."
      : `Whether the trusted root is that of the ledger: it rests on ${from.join(", ")}.`,
  ];
}

const refused: Refuse<LedgerRefusal["code"]> = refusal;

interface ContractOutput {
  readonly ref: OutRef;
  readonly output: Output;
  readonly policy: string;
}

/** All outputs at the addresses of the contract's versions, in the order of their references, proven complete. */
function contractOutputs(
  answer: unknown,
  member: "tokens" | "request_set",
  question: LedgerQuestion,
): { readonly outputs: readonly ContractOutput[]; readonly checked: readonly string[] } {
  const root = rootOf(answer, question);
  const sets = listIn(recordOf(answer)[member]).map(recordOf);
  if (new Set(sets.map(({ address }) => address)).size !== sets.length) throw malformed();
  const outputs: ContractOutput[] = [];
  for (const policy of policiesOf(question)) {
    const address = scriptAddress(question.network ?? 0, policy).hex;
    const set = sets.find((one) => one.address === address);
    if (!set) throw refused("incomplete", `The response lacks the outputs of the contract ${policy}.`);
    const shown = listIn(set.entries).map(recordOf).map(({ ref, txout_cbor: cbor }) => ({
      ref: refIn(ref),
      cbor: fromHex(hexIn(cbor)),
    }));
    const proven = verifyAddress(root, { address, outputs: shown }, fromHex(hexIn(set.completeness_proof)));
    if (!proven.ok) {
      throw refused(
        "incomplete",
        `The ${shown.length} outputs that the response shows are not all outputs of the contract ${policy} after the block: outputs are missing, added or changed. ${proven.error.message}`,
      );
    }
    proven.value.forEach((output, i) => {
      const one = shown[i];
      if (one) outputs.push({ ref: one.ref, output, policy });
    });
  }
  outputs.sort((a, b) => compareRefs(a.ref, b.ref));
  const count = policiesOf(question).length;
  return {
    outputs,
    checked: [
      anchored(question),
      `${plural(outputs.length, "output is", "outputs are")} all that the addresses of the ${
        plural(count, "version", "versions")
      } of the contract had after it.`,
    ],
  };
}

function stateOf(answer: unknown, question: TokenQuestion): VerifiedTokenState {
  const token = tokenOf(question);
  const root = rootOf(answer, question);
  const utxo = recordOf(recordOf(recordOf(answer).state).utxo);
  const shown = { ref: refIn(utxo.tx_in), cbor: fromHex(hexIn(utxo.tx_out)) };
  const proven = verifyOutput(root, shown, fromHex(hexIn(utxo.utxo_proof)));
  if (!proven.ok) {
    throw refused(
      "not_unspent",
      `The state output ${
        refKey(shown.ref)
      } is not proven to be unspent after the block: it is an old state or was changed. ${proven.error.message}`,
    );
  }
  const found = policiesOf(question).flatMap((policy) => {
    const state = isAt(proven.value, policy, question.network ?? 0) && stateIn(shown.ref, proven.value, policy);
    return state && state.tokenId === token ? [state] : [];
  });
  const [state] = found;
  if (!state) {
    throw refused("other_token", `The output ${refKey(shown.ref)} is unspent, but is no state of the token ${token}.`);
  }
  return {
    point: question.trusted.point,
    token: state,
    checked: [
      anchored(question),
      `The output ${
        refKey(shown.ref)
      } was unspent after it, is at an address of the contract ${state.policyId}, and holds the token ${token} as its only asset of the contract.`,
      `Its datum names the owner ${state.owner} and the root ${state.root}.`,
    ],
    notChecked: notChecked(question),
  };
}

function anchored({ trusted: { utxoRoot, point, from = [] } }: LedgerQuestion): string {
  const by = from.length === 0 ? "" : ` by ${plural(from.length, "other source", "other sources")}`;
  return `The response is of the block ${point.hash} in slot ${point.slot}, after which the root of all unspent outputs was ${utxoRoot}${by}.`;
}

/** The state of a token in an output of the contract: one asset of the policy, and a state's datum. */
function stateIn(ref: OutRef, output: Output, policyId: string): LedgerToken | undefined {
  const assets = [...output.value.assets].filter(([asset]) => policyOf(asset) === policyId);
  const [first] = assets;
  const datum = output.datum && decodeDatum(output.datum);
  if (!first || assets.length !== 1 || first[1] !== 1n || datum?.type !== "state") return undefined;
  const address = readAddressHex(output.address);
  return {
    policyId,
    tokenId: nameOf(first[0]),
    ...datum.state,
    outputRefId: refKey(ref).replace("#", "-"),
    address: address.ok ? addressText(address.value) : output.address,
  };
}

function requestIn(
  { ref, output, policy }: ContractOutput,
  token: string,
  network: NetworkId,
): LedgerRequest | undefined {
  if (output.value.assets.size > 0) return undefined;
  const datum = output.datum && decodeDatum(output.datum);
  if (datum?.type !== "request" || datum.request.policy !== policy || datum.request.name !== token) return undefined;
  const { refund, fee, key, operation } = datum.request;
  const address = readAddressHex(keyAddressHex(refund, network));
  return {
    policyId: policy,
    outputRefId: refKey(ref).replace("#", "-"),
    refundAddress: address.ok ? addressText(address.value) : keyAddressHex(refund, network),
    lovelace: output.value.lovelace,
    fee,
    key,
    operation,
  };
}

/** Whether an output is at an address of a script on a network, with or without a stake part. */
function isAt(output: Output, policy: string, network: NetworkId): boolean {
  const address = readAddressHex(output.address);
  if (!address.ok || !("payment" in address.value)) return false;
  const { kind, hash } = address.value.payment;
  return kind === "script" && hash === policy && address.value.network === network;
}

/** The trusted root, where the answer says that it is of its block. */
function rootOf(answer: unknown, { trusted }: LedgerQuestion): UtxoRoot {
  const { utxoRoot, point } = trusted;
  if ((utxoRoot !== null && !isHex(utxoRoot, 32)) || !isHex(point.hash, 32)) {
    throw refused("untrusted", BAD_ROOT);
  }
  const said = pointOf(answer);
  if (!said) throw malformed();
  if (said.slot !== point.slot || said.hash !== point.hash.toLowerCase()) {
    throw refused("other_block", "The response is of another block than the trusted root.");
  }
  const root = utxoRoot?.toLowerCase() ?? null;
  if (recordOf(recordOf(answer).snapshot).utxo_root !== root) {
    throw refused("other_root", "The response says another root of the unspent outputs than the trusted one.");
  }
  return root === null ? null : fromHex(root);
}

function policiesOf({ policies }: LedgerQuestion): readonly string[] {
  return policies?.map((policy) => policy.toLowerCase()) ?? versions.map(({ hash }) => hash);
}

function tokenOf({ tokenId }: TokenQuestion): string {
  if (isHex(tokenId, 32)) return tokenId.toLowerCase();
  throw new TypeError("a token id has 32 bytes");
}
