/** The four kinds of pages, in the order in which they are read: the site's side bar, and `docs/llms.txt`. */

/** A kind of pages. */
export interface Kind {
  readonly name: string;
  /** What a reader finds there, in a sentence. */
  readonly purpose: string;
  /** Pages by their path below `docs`, without `.md`, each with its name in the side bar. */
  readonly pages: readonly (readonly [page: string, name: string])[];
}

export const KINDS: readonly Kind[] = [
  {
    name: "Concepts",
    purpose: "What the words mean, and how the parts work together.",
    pages: [
      ["architecture", "Architecture"],
      ["runtime", "Runtime"],
      ["trust", "Trust"],
      ["transparency", "Transparency log"],
      ["scale", "Scale"],
      ["adr/README", "Decisions"],
      ["glossary", "Glossary"],
    ],
  },
  {
    name: "How-to",
    purpose: "How to do one thing.",
    pages: [
      ["tokens", "Tokens"],
      ["wallets", "Wallets"],
      ["events", "Events"],
      ["operators", "Operators"],
      ["devnet", "Devnet"],
      ["packages", "npm packages"],
      ["signer", "Signing service"],
      ["pages", "Browser pages"],
      ["deployment", "Deployment"],
      ["preprod", "Pre-production"],
      ["development", "Development"],
    ],
  },
  {
    name: "Reference",
    purpose: "What there is, complete and in order.",
    pages: [
      ["reference/options", "Options"],
      ["reference/endpoints", "Endpoints"],
      ["reference/errors", "Error codes"],
      ["reference/metrics", "Metrics"],
      ["cli", "arbor"],
      ["cli-cardano-wallet", "cardano-wallet"],
      ["wallet-errors", "Errors of wallets"],
      ["contract", "Contract"],
      ["protocol-version-11", "Protocol version 11"],
      ["interop", "Interoperability"],
      ["benchmarks", "Benchmarks"],
    ],
  },
];
