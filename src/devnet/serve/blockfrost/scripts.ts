/** Operations of the group Scripts. */
import { isHex, toHex } from "#src/base/bytes.ts";
import { decodeAll } from "#src/cardano/cbor.ts";
import { decodeData } from "#src/cardano/data.ts";
import { type NativeScript, readNative } from "#src/cardano/nativeScript.ts";
import { readHeldOutputs } from "#src/devnet/index/reads/addresses.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import {
  readDatum,
  readScriptHashes,
  readScriptRedeemers,
  readScriptRow,
  type ScriptRow,
} from "#src/devnet/index/reads/scripts.ts";
import { dataJson } from "#src/devnet/serve/blockfrost/dataJson.ts";
import { genesisBlock, outputMembers } from "#src/devnet/serve/blockfrost/documents.ts";
import { badRequest } from "#src/devnet/serve/blockfrost/failures.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";

/** The kind of native scripts. */
export const TIMELOCK = "timelock";
const TOO_DEEP = "The datum is nested too deeply for JSON.";

/** The operations. */
export function scriptOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  /** Shows a script; undefined where it is not on the chain. */
  const ofScript = async (hash: string, view: (script: ScriptRow) => object) => {
    const script = await readScriptRow(store.sql, hash);
    return script && view(script);
  };
  const ofDatum = async (hash: string, view: (cbor: Uint8Array) => object) => {
    const cbor = isHex(hash) ? await readDatum(store.sql, hash) : undefined;
    return cbor && view(cbor);
  };
  return [
    list(
      "/scripts",
      "ordered",
      async (_, { page }) => (await readScriptHashes(store.sql, page)).map((script_hash) => ({ script_hash })),
    ),
    get("/scripts/{script_hash}", ({ script_hash }) =>
      ofScript(script_hash, ({ kind, bytes }) => ({
        script_hash,
        type: kind,
        serialised_size: kind === TIMELOCK ? null : bytes.length,
      }))),
    get("/scripts/{script_hash}/json", ({ script_hash }) =>
      ofScript(script_hash, ({ kind, bytes }) => ({
        json: kind === TIMELOCK ? nativeJson(readNative(decodeAll(bytes))) : null,
      }))),
    get(
      "/scripts/{script_hash}/cbor",
      ({ script_hash }) =>
        ofScript(script_hash, ({ kind, bytes }) => ({ cbor: kind === TIMELOCK ? null : toHex(bytes) })),
    ),
    list(
      "/scripts/{script_hash}/redeemers",
      "ordered",
      ({ script_hash }, { page }) =>
        atOneState(store, async (sql) => {
          if (!await readScriptRow(sql, script_hash)) return undefined;
          return (await readScriptRedeemers(sql, script_hash, page)).map((row) => ({
            tx_hash: row.tx_hash,
            tx_index: row.index,
            purpose: row.purpose,
            redeemer_data_hash: row.data_hash,
            datum_hash: row.data_hash,
            unit_mem: String(row.memory),
            unit_steps: String(row.steps),
            fee: String(row.fee),
          }));
        }),
    ),
    list("/scripts/{script_hash}/utxos", "ordered", ({ script_hash }, { page }) =>
      atOneState(store, async (sql) => {
        if (!await readScriptRow(sql, script_hash)) return undefined;
        return (await readHeldOutputs(sql, { script: script_hash }, page)).map((output) => ({
          ...outputMembers(output),
          tx_hash: output.tx_hash,
          output_index: output.index,
          block: output.block ?? genesisBlock(genesis),
        }));
      })),
    get(
      "/scripts/datum/{datum_hash}",
      ({ datum_hash }) =>
        ofDatum(datum_hash, (cbor) => {
          const json_value = dataJson(decodeData(cbor));
          if (json_value === undefined) throw badRequest(`${TOO_DEEP} Read /scripts/datum/${datum_hash}/cbor.`);
          return { json_value };
        }),
    ),
    get("/scripts/datum/{datum_hash}/cbor", ({ datum_hash }) => ofDatum(datum_hash, (cbor) => ({ cbor: toHex(cbor) }))),
  ];
}

/** A native script in the JSON of `cardano-cli`. */
export function nativeJson(script: NativeScript): object {
  switch (script.kind) {
    case "key":
      return { type: "sig", keyHash: script.hash };
    case "all":
    case "any":
      return { type: script.kind, scripts: script.scripts.map(nativeJson) };
    case "at least":
      return { type: "atLeast", required: script.count, scripts: script.scripts.map(nativeJson) };
    case "from":
      return { type: "after", slot: script.slot };
    case "before":
      return { type: "before", slot: script.slot };
  }
}
