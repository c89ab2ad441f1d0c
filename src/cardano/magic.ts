/** Network magics: the number by which the protocols tell networks apart. */

/** Magic of mainnet, whose Byron addresses carry none (they carry that of any other network). */
export const MAINNET_MAGIC = 764_824_073;
