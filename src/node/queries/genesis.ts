/** The Shelley genesis as a node reports it, without initial funds and pools. */
import { as, type Encodable, type Item } from "#src/cardano/cbor.ts";
import { systemStartShape } from "#src/node/queries/history.ts";
import { shelleyParameters } from "#src/node/queries/parameters.ts";
import { pools } from "#src/node/queries/pools.ts";
import {
  amount,
  type CborShape,
  count,
  type EncodingContext,
  mapOf,
  maybe,
  record,
  type ShapeValue,
} from "#src/node/queries/shape.ts";
import { amountsBy, anything, bareRatio, compareHex, hex } from "#src/node/queries/vocabulary.ts";

const base = record({
  systemStart: systemStartShape,
  networkMagic: count,
  /** 0 for a test network, 1 for mainnet. */
  networkId: count,
  /** Share of slots that have a block (f). */
  activeSlots: bareRatio,
  /** Blocks that a rollback may undo (k). */
  securityParameter: count,
  epochLength: count,
  slotsPerKesPeriod: count,
  maxKesEvolutions: count,
  /** Microseconds. */
  slotLength: count,
  updateQuorum: count,
  maxSupply: amount,
  parameters: shelleyParameters,
  delegates: mapOf(
    hex,
    record({ delegate: hex, vrf: hex }),
    compareHex,
    (key, of) => ({ key, ...of }),
    ({ key, ...of }) => [key, of],
  ),
  /** By address, in hexadecimal; a node leaves them out. */
  initialFunds: amountsBy("address", hex, compareHex),
  /** A node leaves them out. */
  staking: record({
    pools,
    /** Pool by the hash of the stake key. */
    delegations: mapOf(hex, hex, compareHex, (key, pool) => ({ key, pool }), ({ key, pool }) => [key, pool]),
  }),
}, { more: true });

/** Genesis of a network. `extra`: CBOR of what newer nodes add; present since version 21 of the protocol. */
export type ShelleyGenesis = ShapeValue<typeof base> & { readonly extra: Uint8Array | undefined };

const extra = maybe(anything);

/** The genesis. */
export const genesis: CborShape<ShelleyGenesis> = {
  read(item: Item | undefined, at: EncodingContext) {
    const last = as(item, "array").value[15];
    return { ...base.read(item, at), extra: last && extra.read(last, at) };
  },
  write(value, at): Encodable {
    const written = base.write(value, at);
    return at.version < 21 ? written : [...written, extra.write(value.extra, at)];
  },
};
