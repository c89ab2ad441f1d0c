/** Script runs and the meaning of their redeemers. */
import { toHex } from "#src/base/bytes.ts";
import type { Data } from "#src/cardano/data.ts";
import type { Summary, SummaryRedeemer } from "#src/contract/summary/schema.ts";
import { tokenName } from "#src/contract/datum.ts";
import { readMint, readSpend } from "#src/contract/redeemer.ts";
import { outputRefText } from "#src/contract/summary/outputs.ts";
import type { ReadRedeemer } from "#src/contract/summary/readTransaction.ts";
import { paymentScript, versionOf } from "#src/contract/summary/scripts.ts";
import type { ContractInput } from "#src/contract/summary/contractInputs.ts";

/** A script run in a summary; reports one whose redeemer is not understood. */
export function describeScriptRun(
  { purpose, index, data, cbor, memory, steps }: ReadRedeemer,
  spent: readonly ContractInput[],
  policies: readonly string[],
  report: (code: string, message: string) => void,
): Summary["scripts"][number] {
  const input = purpose === "spend" ? spent[Number(index)] : undefined;
  const policy = purpose === "mint" ? policies[Number(index)] : undefined;
  const hash = policy ?? (input?.output && paymentScript(input.output.address)) ?? null;
  const version = hash === null ? null : versionOf(hash) ?? null;
  const redeemer = describeRedeemer(purpose, data, cbor);
  if (redeemer.type === "unknown" || version === null) {
    report("redeemer", `What the argument ${index} for a script (${purpose}) means is not known here.`);
  }
  return {
    purpose,
    index: Number(index),
    of: policy ?? (input ? outputRefText(input.ref) : null),
    hash,
    version,
    redeemer,
    memory,
    steps,
  };
}

function describeRedeemer(purpose: ReadRedeemer["purpose"], data: Data | undefined, cbor: Uint8Array): SummaryRedeemer {
  const unknown: SummaryRedeemer = { type: "unknown", cbor: toHex(cbor) };
  if (data === undefined) return unknown;
  if (purpose === "mint") {
    const read = readMint(data);
    if (!read) return unknown;
    return read.type === "burning"
      ? { type: "burning" }
      : { ...read, seed: outputRefText(read.seed), tokenId: tokenName(read.seed) };
  }
  const read = purpose === "spend" ? readSpend(data) : undefined;
  if (!read) return unknown;
  return read.type === "modify"
    ? { type: "modify", actions: read.actions.map(({ type }) => type) }
    : { type: read.type };
}
