/** Outputs in a summary: owner, contents, and role at the contract. */
import { isHex, toHex } from "#src/base/bytes.ts";
import { addressText, enterpriseAddress, paymentKeyHash, readAddressHex } from "#src/cardano/address.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { type Assets, nameOf, policyOf, type Value } from "#src/cardano/value.ts";
import type {
  Party,
  SummaryAmount,
  SummaryChange,
  SummaryHolding,
  SummaryInput,
  SummaryOutput,
} from "#src/contract/summary/schema.ts";
import { decodeDatum, type Operation, type Request } from "#src/contract/datum.ts";
import { keyAddressHex } from "#src/contract/plutusAddress.ts";
import { carriedScript, paymentScript, versionOf } from "#src/contract/summary/scripts.ts";
import { bytesText } from "#src/contract/text.ts";

/** Resolved outputs by `refKey`: those that a transaction spends or reads, as far as they are known. */
export type KnownOutputs = ReadonlyMap<string, Output>;

/** An output reference in the API's form, `<hash>-<index>`. */
export function outputRefText(ref: OutRef): string {
  return `${ref.txHash}-${ref.index}`;
}

/** An address as text; its bytes in hexadecimal if it has no text form. */
export function addressTextOf(address: string): string {
  const read = isHex(address) ? readAddressHex(address) : undefined;
  return read?.ok ? addressText(read.value) : address;
}

/** From whose side a summary is written; addresses are bytes in hexadecimal. */
export interface Viewer {
  readonly address: string;
  /** Other addresses of the same wallet. */
  readonly own: ReadonlySet<string>;
}

/** Whether an address is one of the viewer's. */
export function isOwn(address: string, viewer: Viewer | undefined): boolean {
  return viewer !== undefined && (address === viewer.address || viewer.own.has(address));
}

/** The owner of an address from the viewpoint of `viewer`. */
export function partyOf(address: string, viewer: Viewer | undefined): Party {
  if (isOwn(address, viewer)) return "requester";
  const script = paymentScript(address);
  if (script !== undefined) {
    const plain = enterpriseAddress(networkOf(viewer?.address ?? address), { kind: "script", hash: script }).hex;
    return versionOf(script) !== undefined && plain === address ? "contract" : "script";
  }
  const key = paymentKeyHash(address);
  return key !== undefined && viewer !== undefined && key === paymentKeyHash(viewer.address) ? "requesterKey" : "other";
}

/** Assets as an object, ordered by id. */
export function describeAssets(assets: Assets): SummaryAmount["assets"] {
  return Object.fromEntries([...assets].sort(([a], [b]) => a < b ? -1 : 1));
}

/** A value in a summary. */
export function describeAmount({ lovelace, assets }: Value): SummaryAmount {
  return { lovelace, assets: describeAssets(assets) };
}

/** The change that an operation makes to a key. */
export function describeChange(key: Uint8Array, operation: Operation): SummaryChange {
  const value = bytesText(operation.value);
  return {
    type: operation.type,
    key: bytesText(key),
    oldValue: operation.type === "update" ? bytesText(operation.old) : operation.type === "delete" ? value : null,
    newValue: operation.type === "delete" ? null : value,
  };
}

/** The request in an output, read as the contract and the index read it; undefined if it is no request. */
export function requestIn(output: Output): Request | undefined {
  const script = paymentScript(output.address);
  if (script === undefined || versionOf(script) === undefined || !output.datum) return undefined;
  const datum = decodeDatum(output.datum);
  return datum?.type === "request" && datum.request.policy === script ? datum.request : undefined;
}

/** A request in a summary; `network` is that of its output's address. */
export function describeRequest(request: Request, network: 0 | 1) {
  return {
    tokenId: request.name,
    policy: request.policy,
    change: describeChange(request.key, request.operation),
    owner: request.refund.payment,
    refundAddress: addressTextOf(keyAddressHex(request.refund, network)),
    offered: request.fee,
  };
}

/** Network id of an address. */
export function networkOf(address: string): 0 | 1 {
  return address[1] === "1" ? 1 : 0;
}

/** An output's role at the contract: a token's state, a request, or null. */
export function holdingOf(output: Output): SummaryHolding {
  const script = paymentScript(output.address);
  if (script === undefined || versionOf(script) === undefined || !output.datum) return null;
  const request = requestIn(output);
  if (request) return { type: "request", ...describeRequest(request, networkOf(output.address)) };
  const tokens = [...output.value.assets].filter(([asset]) => policyOf(asset) === script);
  const [asset, quantity] = tokens[0] ?? [];
  const datum = decodeDatum(output.datum);
  if (datum?.type !== "state" || asset === undefined || quantity !== 1n || tokens.length > 1) return null;
  return { type: "state", tokenId: nameOf(asset), policy: script, ...datum.state };
}

/** An output in a summary. */
export function describeOutput(output: Output, viewer: Viewer | undefined): SummaryOutput {
  const holds = holdingOf(output);
  return {
    address: addressTextOf(output.address),
    whose: partyOf(output.address, viewer),
    amount: describeAmount(output.value),
    holds,
    datum: output.datum && !holds ? toHex(output.datum) : null,
    datumHash: output.datumHash ?? null,
    script: output.script ? carriedScript(output.script) ?? { hash: "", language: "native", version: null } : null,
  };
}

/** An input in a summary; `output` is null if it is not resolved. */
export function describeInput(ref: OutRef, known: KnownOutputs, viewer: Viewer | undefined): SummaryInput {
  const output = known.get(refKey(ref));
  if (!output) return { outputRef: outputRefText(ref), output: null };
  const described = describeOutput(output, viewer);
  const isContract = described.script !== null && described.script.version !== null;
  return { outputRef: outputRefText(ref), output: { ...described, cbor: isContract ? null : toHex(output.raw) } };
}
