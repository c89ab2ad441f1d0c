/** Outputs of a transaction, checked as its decoder checks them. */
import { type Address } from "#src/cardano/address.ts";
import { as, CborError, type Item } from "#src/cardano/cbor.ts";
import { decodeData } from "#src/cardano/data.ts";
import { type Output, readOutput } from "#src/cardano/output.ts";
import { readScript, type Script } from "#src/cardano/conway/script.ts";
import { entries, fields, hash, paymentAddress, positive, tuple, uint } from "#src/cardano/conway/strict.ts";

/** An output of the transaction, with its address and its script read. */
export interface NewOutput {
  readonly output: Output;
  readonly address: Address;
  readonly script?: Script;
}

/** Reads and checks `transaction_output` in either of its forms. */
export function readNewOutput(item: Item): NewOutput {
  if (item.type === "array") {
    const [address, value, datumHash] = tuple(item, "output", 2, 3);
    checkValue(value);
    if (datumHash) hash(datumHash, "datum hash", 32);
    return { output: readOutput(item), address: paymentAddress(as(address, "bytes").value) };
  }
  const found = fields(item, "output", [0, 1, 2, 3]);
  checkValue(found.get(1));
  const datum = found.get(2);
  if (datum) checkDatum(datum);
  const reference = found.get(3);
  if (reference) embedded(reference);
  const output = readOutput(item);
  return {
    output,
    address: paymentAddress(as(found.get(0), "bytes").value),
    ...(output.script ? { script: readScript(output.script) } : {}),
  };
}

function checkDatum(item: Item): void {
  const [kind, content] = tuple(item, "datum", 2);
  if (uint(kind, "kind of datum", 1n) === 0n) hash(content, "datum hash", 32);
  else decodeData(embedded(content));
}

function embedded(item: Item | undefined): Uint8Array {
  const tagged = as(item, "tag");
  if (tagged.tag !== 24n) throw new CborError("no embedded CBOR");
  return as(tagged.value, "bytes").value;
}

function checkValue(item: Item | undefined): void {
  if (item?.type === "int") {
    uint(item, "lovelace");
    return;
  }
  const [coin, assets] = tuple(item, "value", 2);
  uint(coin, "lovelace");
  checkAssets(assets, (quantity) => positive(quantity, "quantity"));
}

/** Checks `multiasset`: policies of 28 bytes, each with names of at most 32 bytes, none empty, none twice. */
export function checkAssets(item: Item | undefined, quantity: (item: Item) => void): number {
  return entries(item, "assets", (policy) => hash(policy, "policy", 28), (names) => {
    const count = entries(names, "assets", (name) => {
      if (as(name, "bytes").value.length > 32) throw new CborError("asset name of over 32 bytes");
    }, quantity).length;
    if (count === 0) throw new CborError("a policy without assets");
  }).length;
}
