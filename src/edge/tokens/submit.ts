/** A signed transaction on its way to its actor. */
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";

/** The wallet that submits a transaction, and where the chain stands: it lists it as pending. */
export interface Submitter {
  readonly wallet: string;
  readonly slot: number;
  readonly height: number;
}

/** Has the transaction's actor submit it; refuses with `undecodable` what is no transaction, and with the actor's reasons what it refuses. */
export async function submit(
  ask: Ask["ask"],
  cbor: Uint8Array,
  deadlineMs: number,
  by?: Submitter,
): Promise<Result<Json, Failure>> {
  let transaction;
  try {
    transaction = scanTransaction(cbor);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `These bytes are no transaction: ${error.message}.`);
  }
  const outputs = [...transaction.outputs, ...(transaction.collateralReturn ? [transaction.collateralReturn] : [])];
  const answer = await ask({ kind: "transaction", id: transaction.hash }, {
    type: "SUBMIT",
    cbor: toHex(cbor),
    inputs: transaction.inputs.map(refKey),
    addresses: [...new Set(outputs.map((output) => output.address))],
    validTo: transaction.validTo ?? null,
    ...(by === undefined ? {} : { by: { ...by } }),
  }, { deadlineMs });
  return answer.ok || !isMalformed(answer.error) ? answer : fail("undecodable", answer.error.message);
}

/** Bytes that look like a transaction but that the ledger's decoder refuses are malformed, and not refused by a rule. */
function isMalformed({ code, details }: Failure): boolean {
  const names = Array.isArray(details) ? (details as { name?: string }[]).map(({ name }) => name) : [];
  return code === "refused_by_ledger" && names.includes("DeserialiseFailure");
}
