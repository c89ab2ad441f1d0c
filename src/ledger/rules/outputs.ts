/** Outputs: enough lovelace, not too large, on the right network (rule UTXO). */
import { minUtxo } from "#src/transaction/minUtxo.ts";
import { fromHex } from "#src/base/bytes.ts";
import { as, decode, encode } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { encodeValue } from "#src/cardano/value.ts";
import type { NewOutput } from "#src/cardano/conway/output.ts";

/** Bytes that the attributes of a Byron address may have. */
const MAX_ATTRIBUTES = 64;

/** Checks the outputs, the collateral return after them. */
export function checkOutputs(
  outputs: readonly NewOutput[],
  parameters: Parameters,
  network: 0 | 1,
): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  const small = outputs.flatMap(({ output }, index) => {
    const expected = minUtxo(parameters, output.raw.length);
    const supplied = output.value.lovelace;
    return supplied < expected ? [{ index, supplied, expected }] : [];
  });
  if (small.length > 0) failures.push({ name: "BabbageOutputTooSmallUTxO", outputs: small });
  const big = outputs.flatMap(({ output }, index) => {
    const supplied = encode(encodeValue(output.value)).length;
    return supplied > parameters.maxValueSize ? [{ index, supplied, expected: parameters.maxValueSize }] : [];
  });
  if (big.length > 0) failures.push({ name: "OutputTooBigUTxO", outputs: big });
  const attributed = outputs.flatMap(({ address }, index) =>
    address.kind === "byron" && attributeBytes(fromHex(address.hex)) > MAX_ATTRIBUTES ? [{ index }] : []
  );
  if (attributed.length > 0) failures.push({ name: "OutputBootAddrAttrsTooBig", outputs: attributed });
  const elsewhere = outputs.filter(({ address }) => address.network !== network).map(({ address }) => address.hex);
  if (elsewhere.length > 0) {
    failures.push({ name: "WrongNetwork", expected: network, addresses: [...new Set(elsewhere)] });
  }
  return failures;
}

/**
 * Size of the limited attributes of a Byron address (ledger: `bootstrapAddressAttrsSize`): the derivation path and unknown
 * attributes; the network magic does not count.
 */
function attributeBytes(address: Uint8Array): number {
  const [payload] = as(decode(address), "array").value;
  const [, attributes] = as(decode(as(as(payload, "tag").value, "bytes").value), "array").value;
  let sum = 0;
  for (const [key, value] of as(attributes, "map").value) {
    const { value: bytes } = as(value, "bytes");
    const tag = as(key, "int").value;
    if (tag === 1n) sum += as(decode(bytes), "bytes").value.length;
    else if (tag !== 2n) sum += bytes.length;
  }
  return sum;
}
