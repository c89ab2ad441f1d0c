/** Datums and redeemers of Arbor's contract in words, for readers of a transaction. */
import { fromUtf8, toHex } from "#src/base/bytes.ts";
import { hexAddressText, type NetworkId } from "#src/cardano/address.ts";
import { type Datum, EMPTY_ROOT, type Operation, readDatum } from "#src/contract/datum.ts";
import { keyAddressHex } from "#src/contract/plutusAddress.ts";
import { type Action, readMint, readSpend } from "#src/contract/redeemer.ts";
import { cageScripts } from "#src/contract/script.ts";
import type { Data } from "#src/cardano/data.ts";

interface Field {
  readonly name: string;
  readonly value: string;
  readonly kind: "text" | "hex" | "lovelace" | "token" | "address" | "output";
}

/** Plutus data in the terms of the contract that it is for. */
export interface Meaning {
  readonly contract: string;
  readonly name: string;
  readonly fields: readonly Field[];
}

const names = new Map(cageScripts.map(({ version, hash }) => [hash, `Arbor token contract ${version}`]));

/** All versions of the contract, by script hash. */
export const contracts: readonly { readonly name: string; readonly hash: string }[] = [...names].map((
  [hash, name],
) => ({
  name,
  hash,
}));

/** The name of a contract of Arbor; undefined for other scripts. */
export function contractName(script: string | undefined): string | undefined {
  return script === undefined ? undefined : names.get(script);
}

/** What a datum says in an output of the contract; undefined where it is of another form. */
export function datumMeaning(script: string | undefined, data: Data, network: NetworkId): Meaning | undefined {
  const contract = contractName(script);
  const datum = contract === undefined ? undefined : readDatum(data);
  return contract === undefined || datum === undefined ? undefined : { contract, ...ofDatum(datum, network) };
}

function ofDatum(datum: Datum, network: NetworkId): Omit<Meaning, "contract"> {
  if (datum.type === "state") {
    const { owner, root } = datum.state;
    return {
      name: "Token state",
      fields: [
        { name: "Owner's key hash", value: owner, kind: "hex" },
        root === EMPTY_ROOT
          ? { name: "Root of the facts", value: "none: the token has no facts", kind: "text" }
          : { name: "Root of the facts", value: root, kind: "hex" },
      ],
    };
  }
  const { policy, name, refund, fee, key, operation } = datum.request;
  const address = keyAddressHex(refund, network);
  return {
    name: `Request to ${operation.type} a fact`,
    fields: [
      { name: "Token", value: policy + name, kind: "token" },
      bytesField("Key", key),
      ...ofOperation(operation),
      { name: "Fee for the token's owner", value: String(fee), kind: "lovelace" },
      { name: "Deposit returns to", value: hexAddressText(address) ?? address, kind: "address" },
    ],
  };
}

function ofOperation(operation: Operation): readonly Field[] {
  if (operation.type !== "update") return [bytesField("Value", operation.value)];
  return [bytesField("Old value", operation.old), bytesField("New value", operation.value)];
}

/** Bytes as text where they are text without control characters, else in hexadecimal. */
function bytesField(name: string, bytes: Uint8Array): Field {
  const text = fromUtf8(bytes);
  // deno-lint-ignore no-control-regex
  if (text === undefined || /[\u0000-\u0008\u000e-\u001f\u007f]/.test(text)) {
    return { name, value: toHex(bytes), kind: "hex" };
  }
  return { name, value: text, kind: "text" };
}

/** What a redeemer says to the contract; undefined where it is of another form. */
export function redeemerMeaning(script: string | undefined, purpose: string, data: Data): Meaning | undefined {
  const contract = contractName(script);
  if (contract === undefined) return undefined;
  const said = purpose === "spend" ? ofSpend(data) : purpose === "mint" ? ofMint(data) : undefined;
  return said && { contract, ...said };
}

function ofSpend(data: Data): Omit<Meaning, "contract"> | undefined {
  const redeemer = readSpend(data);
  if (!redeemer) return undefined;
  switch (redeemer.type) {
    case "end":
      return { name: "End the token", fields: [] };
    case "retract":
      return { name: "Retract the request", fields: [] };
    case "contribute":
      return { name: "Apply the request", fields: inputIndex(redeemer.index) };
    case "refuse":
      return { name: "Refuse the request; its deposit returns", fields: inputIndex(redeemer.index) };
    case "modify": {
      const count = (type: Action["type"]) => redeemer.actions.filter((action) => action.type === type).length;
      const counts =
        ([["apply", "Requests applied"], ["refuse", "Requests refused"], ["skip", "Requests skipped"]] as const)
          .map(([type, name]): Field => ({ name, value: String(count(type)), kind: "text" }))
          .filter(({ value }) => value !== "0");
      const crown: readonly Field[] = redeemer.crown
        ? [{ name: "Shared top branch of the proofs", value: toHex(redeemer.crown), kind: "hex" }]
        : [];
      return { name: "Update the token's facts", fields: [...counts, ...crown] };
    }
  }
}

const inputIndex = (index: number | undefined): readonly Field[] =>
  index === undefined ? [] : [{ name: "Index of its input", value: String(index), kind: "text" }];

function ofMint(data: Data): Omit<Meaning, "contract"> | undefined {
  const redeemer = readMint(data);
  if (!redeemer) return undefined;
  if (redeemer.type === "burning") return { name: "Burn the token", fields: [] };
  const { txHash, index } = redeemer.seed;
  return {
    name: "Mint a token",
    fields: [{ name: "Named after the output", value: `${txHash}#${index}`, kind: "output" }],
  };
}
