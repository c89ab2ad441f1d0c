/** The witness set: signatures, scripts, datums and redeemers. */
import { toHex } from "#src/base/bytes.ts";
import { as, CborError, type Item, raw } from "#src/cardano/cbor.ts";
import type { Data } from "#src/cardano/data.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { nativeScript, plutusScript, type Script } from "#src/cardano/conway/script.ts";
import { choice, entries, fields, nonEmpty, plutusData, tuple, uint, unique } from "#src/cardano/conway/strict.ts";
import { type BootstrapWitness, type KeyWitness, REDEEMER_TAGS } from "#src/cardano/transaction.ts";

/** A redeemer: the argument that a script is run with, and what the run may take. */
export interface Redeemer extends RedeemerPointer {
  readonly data: Data;
  readonly units: Units;
}

/** A witness set, read. */
export interface Witnesses {
  readonly keys: readonly KeyWitness[];
  readonly bootstraps: readonly BootstrapWitness[];
  /** By hash. */
  readonly scripts: ReadonlyMap<string, Script>;
  /** By hash, which is over the bytes as they came. */
  readonly datums: ReadonlyMap<string, Data>;
  readonly redeemers: readonly Redeemer[];
  /** CBOR of field 4 and of field 5, over which the script data hash goes. */
  readonly rawDatums?: Uint8Array;
  readonly rawRedeemers?: Uint8Array;
}

/** Purposes in the order of their tags. */
const PURPOSES = Object.keys(REDEEMER_TAGS).filter(isPurpose);
const MAX_UNITS = (1n << 63n) - 1n;
/** Field of the witness set for each language of Plutus. */
const PLUTUS_FIELDS = [[3, 1], [6, 2], [7, 3]] as const;

/** Reads a witness set. Throws `CborError`. */
export function readWitnesses(item: Item | undefined): Witnesses {
  const found = fields(item, "witness set", [0, 1, 2, 3, 4, 5, 6, 7]);
  const list = <T>(field: number, what: string, read: (item: Item) => T): T[] => {
    const of = found.get(field);
    return of ? nonEmpty(of, what).map(read) : [];
  };
  const scripts = new Map<string, Script>();
  for (const script of list(1, "native scripts", nativeScript)) scripts.set(script.hash, script);
  for (const [field, language] of PLUTUS_FIELDS) {
    const of = found.get(field);
    if (!of) continue;
    const bytes = unique(
      nonEmpty(of, "Plutus scripts"),
      "Plutus scripts",
      (one) => as(one, "bytes").value,
      toHex,
    );
    for (const one of bytes) {
      const script = plutusScript(language, one);
      scripts.set(script.hash, script);
    }
  }
  // of thousands of datums most are the same: there are few short ones
  const datums = new Map(list(4, "datums", (datum) => [toHex(raw(datum)), datum] as const));
  const rawDatums = found.get(4);
  const redeemers = found.get(5);
  return {
    keys: list(0, "signatures", readKeyWitness),
    bootstraps: list(2, "Byron signatures", readBootstrap),
    scripts,
    datums: new Map([...datums.values()].map((datum) => [hash256(raw(datum)), plutusData(datum)])),
    redeemers: redeemers ? readRedeemers(redeemers) : [],
    ...(rawDatums ? { rawDatums: raw(rawDatums) } : {}),
    ...(redeemers ? { rawRedeemers: raw(redeemers) } : {}),
  };
}

function sized(item: Item | undefined, what: string, length: number): Uint8Array {
  const { value } = as(item, "bytes");
  if (value.length !== length) throw new CborError(`${what} has ${value.length} bytes`);
  return value;
}

function readKeyWitness(item: Item): KeyWitness {
  const [key, signature] = tuple(item, "signature", 2);
  return { key: sized(key, "key", 32), signature: sized(signature, "signature", 64) };
}

function readBootstrap(item: Item): BootstrapWitness {
  const [key, signature, chainCode, attributes] = tuple(item, "Byron signature", 4);
  return {
    key: sized(key, "key", 32),
    signature: sized(signature, "signature", 64),
    // its length is checked from decoder version 12 on
    chainCode: as(chainCode, "bytes").value,
    attributes: as(attributes, "bytes").value,
  };
}

function readRedeemers(item: Item): readonly Redeemer[] {
  const redeemers = new Map<string, Redeemer>();
  const add = (redeemer: Redeemer) => redeemers.set(`${redeemer.purpose} ${redeemer.index}`, redeemer);
  if (item.type === "map") {
    if (item.value.length === 0) throw new CborError("redeemers are empty");
    for (
      const [pointer, argument] of entries(item, "redeemers", (key) => {
        const [tag, index] = tuple(key, "redeemer", 2);
        return readPointer(tag, index);
      }, (value) => {
        const [data, units] = tuple(value, "redeemer", 2);
        return { data: plutusData(data), units: readUnits(units) };
      })
    ) add({ ...pointer, ...argument });
  } else {
    const elements = as(item, "array").value;
    if (elements.length === 0) throw new CborError("redeemers are empty");
    for (const element of elements) {
      const [tag, index, data, units] = tuple(element, "redeemer", 4);
      add({ ...readPointer(tag, index), data: plutusData(data), units: readUnits(units) });
    }
  }
  return [...redeemers.values()];
}

function readPointer(tag: Item | undefined, index: Item | undefined): RedeemerPointer {
  return {
    purpose: choice(tag, "purpose of redeemer", PURPOSES),
    index: Number(uint(index, "index of redeemer", 0xffffffffn)),
  };
}

function isPurpose(name: string): name is RedeemerPointer["purpose"] {
  return Object.hasOwn(REDEEMER_TAGS, name);
}

function readUnits(item: Item | undefined): Units {
  const [memory, steps] = tuple(item, "units", 2);
  return { memory: uint(memory, "memory", MAX_UNITS), steps: uint(steps, "steps", MAX_UNITS) };
}

/** Sum of the units that redeemers state. */
export function sumUnits(redeemers: readonly Redeemer[]): Units {
  let memory = 0n;
  let steps = 0n;
  for (const { units } of redeemers) {
    memory += units.memory;
    steps += units.steps;
  }
  return { memory, steps };
}
