/** The Shelley genesis as a node reports it, without initial funds and pools. */
import { as, type Encodable, type Item } from "#src/cardano/cbor.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import type { SystemStart } from "#src/node/queries/history.ts";
import { type ShelleyParameters, shelleyParameters } from "#src/node/queries/parameters.ts";
import { type PoolParameters, pools } from "#src/node/queries/pools.ts";
import { amount, type CborShape, count, type EncodingContext, mapOf, maybe, record } from "#src/node/queries/shape.ts";
import { amountsBy, anything, bareRatio, compareHex, hex } from "#src/node/queries/vocabulary.ts";

/** Genesis of a network. */
export interface ShelleyGenesis {
  readonly systemStart: SystemStart;
  readonly networkMagic: number;
  /** 0 for a test network, 1 for mainnet. */
  readonly networkId: number;
  /** Share of slots that have a block (f). */
  readonly activeSlots: Ratio;
  /** Blocks that a rollback may undo (k). */
  readonly securityParameter: number;
  readonly epochLength: number;
  readonly slotsPerKesPeriod: number;
  readonly maxKesEvolutions: number;
  /** Microseconds. */
  readonly slotLength: number;
  readonly updateQuorum: number;
  readonly maxSupply: bigint;
  readonly parameters: ShelleyParameters;
  readonly delegates: readonly { readonly key: string; readonly delegate: string; readonly vrf: string }[];
  /** By address, in hexadecimal; a node leaves them out. */
  readonly initialFunds: readonly { readonly address: string; readonly lovelace: bigint }[];
  /** A node leaves them out. */
  readonly staking: {
    readonly pools: readonly PoolParameters[];
    /** Pool by the hash of the stake key. */
    readonly delegations: readonly { readonly key: string; readonly pool: string }[];
  };
  /** CBOR of what newer nodes add; present since version 21 of the protocol. */
  readonly extra: Uint8Array | undefined;
}

/** `[year, day of the year, picoseconds]`. */
export const systemStartShape: CborShape<SystemStart> = record<SystemStart>({
  year: count,
  dayOfYear: count,
  picoseconds: amount,
});

const base = record<Omit<ShelleyGenesis, "extra">>({
  systemStart: systemStartShape,
  networkMagic: count,
  networkId: count,
  activeSlots: bareRatio,
  securityParameter: count,
  epochLength: count,
  slotsPerKesPeriod: count,
  maxKesEvolutions: count,
  slotLength: count,
  updateQuorum: count,
  maxSupply: amount,
  parameters: shelleyParameters,
  delegates: mapOf(
    hex,
    record<{ delegate: string; vrf: string }>({ delegate: hex, vrf: hex }),
    compareHex,
    (key, of) => ({ key, ...of }),
    ({ key, ...of }) => [key, of],
  ),
  initialFunds: amountsBy("address", hex, compareHex),
  staking: record<ShelleyGenesis["staking"]>({
    pools,
    delegations: mapOf(hex, hex, compareHex, (key, pool) => ({ key, pool }), ({ key, pool }) => [key, pool]),
  }),
}, { more: true });

const extra = maybe(anything);

/** The genesis. */
export const genesis: CborShape<ShelleyGenesis> = {
  read(item: Item | undefined, at: EncodingContext) {
    const last = as(item, "array").value[15];
    return { ...base.read(item, at), extra: last && extra.read(last, at) };
  },
  write(value, at): Encodable {
    const written = base.write(value, at) as readonly Encodable[];
    return at.version < 21 ? written : [...written, extra.write(value.extra, at)];
  },
};
