/** Network magics: the number by which the protocols tell networks apart. */
import type { NetworkId } from "#src/cardano/address.ts";

/** Magic of mainnet, whose Byron addresses carry none (they carry that of any other network). */
export const MAINNET_MAGIC = 764_824_073;

/** The id in addresses of the network with a magic: 1 for mainnet, 0 for every other. */
export function networkIdOf(magic: number): NetworkId {
  return magic === MAINNET_MAGIC ? 1 : 0;
}
/** Protocol magic that Byron addresses of a network carry; undefined on mainnet. */
export const byronMagic = (magic: number): number | undefined => magic === MAINNET_MAGIC ? undefined : magic;
