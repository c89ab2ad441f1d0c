/** How the size of an argument is measured (Plutus' `ExMemoryUsage`). */
export const Measure = {
  /** One, for arguments whose size does not matter. */
  ONE: 0,
  /** An integer in 64-bit words. */
  INTEGER: 1,
  /** The magnitude of an integer. */
  LITERAL: 2,
  /** The number of 64-bit words for as many bytes as an integer says. */
  BYTE_COUNT: 3,
  BYTES: 4,
  /** Characters (code points) of a text. */
  TEXT: 5,
  /** A quarter of a text's bytes in UTF-8. */
  TEXT_BYTES: 11,
  DATA: 6,
  /** Nodes of data. */
  NODES: 7,
  LIST: 8,
  /** Tokens of a value. */
  TOKENS: 9,
  /** Depth of a search in a value. */
  DEPTH: 10,
} as const;
export type Measure = (typeof Measure)[keyof typeof Measure];
