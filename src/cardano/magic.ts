/** Network magics: the number by which the protocols tell networks apart. */

/** Magic of mainnet, whose Byron addresses carry none (they carry that of any other network). */
export const MAINNET_MAGIC = 764_824_073;

/** Protocol magic that Byron addresses of a network carry; undefined on mainnet. */
export const byronMagic = (magic: number): number | undefined => magic === MAINNET_MAGIC ? undefined : magic;
