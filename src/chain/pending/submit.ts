/** Submission of a signed transaction through its actor. */
import { z } from "zod";
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { saysSpent } from "#src/cardano/failureText.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";

/** The wallet that submits a transaction and lists it as pending, and the block up to which the index has read. */
export interface Submitter {
  readonly wallet: string;
  readonly slot: number;
  readonly height: number;
}

/** Submits a transaction; fails with `undecodable` for bytes that are no transaction, otherwise as the actor does. */
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
    return fail("undecodable", `The bytes are not a transaction: ${error.message}.`);
  }
  const outputs = [...transaction.outputs, ...(transaction.collateralReturn ? [transaction.collateralReturn] : [])];
  const answer = await ask({ kind: "transaction", id: transaction.hash }, {
    type: "SUBMIT",
    cbor: toHex(cbor),
    // what it spends if its scripts succeed or fail; neither may be spent before it
    inputs: [...new Set([...transaction.inputs, ...transaction.collateral].map(refKey))],
    addresses: [...new Set(outputs.map((output) => output.address))],
    validTo: transaction.validTo ?? null,
    ...(by === undefined ? {} : { by: { ...by } }),
  }, { deadlineMs });
  return answer.ok || !isMalformed(answer.error) ? answer : fail("undecodable", answer.error.message);
}

/** Whether the ledger's decoder refused the bytes: then they are malformed, and no rule was violated. */
function isMalformed({ code, details }: Failure): boolean {
  return code === "refused_by_ledger" && namesOf(details).includes("DeserialiseFailure");
}

/** Names of the ledger's failures in the details of `refused_by_ledger`. */
export function namesOf(details: unknown): readonly string[] {
  return failuresIn(details).map(({ name }) => name);
}

/** Whether the details of `refused_by_ledger` say that inputs are spent or were never there. */
export function isSpent(details: unknown): boolean {
  return failuresIn(details).some(saysSpent);
}

const failure = z.looseObject({ name: z.string(), message: z.string().optional() });

function failuresIn(details: unknown): readonly z.infer<typeof failure>[] {
  const list: readonly unknown[] = Array.isArray(details) ? details : [];
  return list.flatMap((one) => failure.safeParse(one).data ?? []);
}
