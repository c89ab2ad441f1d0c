/** Outputs as they are told: whose they are, what they hold, and what they are to the contract. */
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
} from "#src/api/summary.ts";
import { decodeDatum, type Operation, type Request } from "#src/cage/datum.ts";
import { keyAddressHex } from "#src/cage/plutus_address.ts";
import { carriedScript, paymentScript, versionOf } from "#src/cage/summary/scripts.ts";
import { bytesText } from "#src/cage/text.ts";

/** Outputs by `refKey`: what is known of those that a transaction spends or looks at. */
export type KnownOutputs = ReadonlyMap<string, Output>;

/** An output as this API names it, `<hash>-<index>`. */
export function refText(ref: OutRef): string {
  return `${ref.txHash}-${ref.index}`;
}

/** The text of an address; its bytes in hexadecimal where it has none. */
export function textOf(address: string): string {
  const read = isHex(address) ? readAddressHex(address) : undefined;
  return read?.ok ? addressText(read.value) : address;
}

/** Whose an address is, as `viewer` (bytes in hexadecimal) sees it. */
export function partyOf(address: string, viewer: string | undefined): Party {
  if (address === viewer) return "requester";
  const script = paymentScript(address);
  if (script !== undefined) {
    const plain = enterpriseAddress(networkOf(viewer ?? address), { kind: "script", hash: script }).hex;
    return versionOf(script) !== undefined && plain === address ? "contract" : "script";
  }
  const key = paymentKeyHash(address);
  return key !== undefined && viewer !== undefined && key === paymentKeyHash(viewer) ? "requesterKey" : "other";
}

/** Assets as an object, in the order of their ids. */
export function assetsTold(assets: Assets): SummaryAmount["assets"] {
  return Object.fromEntries([...assets].sort(([a], [b]) => a < b ? -1 : 1));
}

/** A value as it is told. */
export function amountTold({ lovelace, assets }: Value): SummaryAmount {
  return { lovelace, assets: assetsTold(assets) };
}

/** The change that an operation makes to a key. */
export function changeTold(key: Uint8Array, operation: Operation): SummaryChange {
  const value = bytesText(operation.value);
  return {
    type: operation.type,
    key: bytesText(key),
    oldValue: operation.type === "update" ? bytesText(operation.old) : operation.type === "delete" ? value : null,
    newValue: operation.type === "delete" ? null : value,
  };
}

/** The request that an output is, as the contract and the index read it. */
export function requestIn(output: Output): Request | undefined {
  const script = paymentScript(output.address);
  if (script === undefined || versionOf(script) === undefined || !output.datum) return undefined;
  const datum = decodeDatum(output.datum);
  return datum?.type === "request" && datum.request.policy === script ? datum.request : undefined;
}

/** A request as it is told; `network` is that of the address of its output. */
export function requestTold(request: Request, network: 0 | 1) {
  return {
    tokenId: request.name,
    policy: request.policy,
    change: changeTold(request.key, request.operation),
    owner: request.refund.payment,
    refundAddress: textOf(keyAddressHex(request.refund, network)),
    offered: request.fee,
  };
}

/** Network id of an address. */
export function networkOf(address: string): 0 | 1 {
  return address[1] === "1" ? 1 : 0;
}

/** What an output is to the contract. */
export function holdingOf(output: Output): SummaryHolding {
  const script = paymentScript(output.address);
  if (script === undefined || versionOf(script) === undefined || !output.datum) return null;
  const request = requestIn(output);
  if (request) return { type: "request", ...requestTold(request, networkOf(output.address)) };
  const tokens = [...output.value.assets].filter(([asset]) => policyOf(asset) === script);
  const [asset, quantity] = tokens[0] ?? [];
  const datum = decodeDatum(output.datum);
  if (datum?.type !== "state" || asset === undefined || quantity !== 1n || tokens.length > 1) return null;
  return { type: "state", tokenId: nameOf(asset), policy: script, ...datum.state };
}

/** An output, told. */
export function outputTold(output: Output, viewer: string | undefined): SummaryOutput {
  const holds = holdingOf(output);
  return {
    address: textOf(output.address),
    whose: partyOf(output.address, viewer),
    amount: amountTold(output.value),
    holds,
    datum: output.datum && !holds ? toHex(output.datum) : null,
    datumHash: output.datumHash ?? null,
    script: output.script ? carriedScript(output.script) ?? { hash: "", language: "native", version: null } : null,
  };
}

/** An input, told as far as its output is known. */
export function inputTold(ref: OutRef, known: KnownOutputs, viewer: string | undefined): SummaryInput {
  const output = known.get(refKey(ref));
  if (!output) return { outputRef: refText(ref), output: null };
  const told = outputTold(output, viewer);
  const isContract = told.script !== null && told.script.version !== null;
  return { outputRef: refText(ref), output: { ...told, cbor: isContract ? null : toHex(output.raw) } };
}
