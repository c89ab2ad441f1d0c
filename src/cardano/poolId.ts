/** Ids of stake pools as people write them (CIP-5). */
import { fromHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";

/** `pool1…` of a pool's id in hexadecimal. */
export const poolId = (id: string): string => toBech32("pool", fromHex(id));
