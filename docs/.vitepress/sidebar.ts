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
      ["concepts/tokens-and-facts", "Tokens and facts"],
      ["concepts/requests", "Requests and applying"],
      ["concepts/actors-and-turns", "Actors and turns"],
      ["concepts/rollbacks-and-finality", "Rollbacks and finality"],
      ["concepts/proofs-and-trust", "Proofs and trust"],
      ["architecture", "Architecture"],
      ["trust", "Trust"],
      ["transparency", "Transparency log"],
      ["scale", "Scale"],
      ["adr/README", "Decisions"],
      ["glossary", "Glossary"],
    ],
  },
  {
    name: "Tutorials",
    purpose: "A first success with each part, step by step.",
    pages: [
      ["tutorials/first-token", "A first token"],
      ["tutorials/accept-deposits", "Accept deposits"],
      ["tutorials/test-a-dapp", "Test a dApp"],
      ["tutorials/own-actor", "Your own actor"],
      ["tutorials/two-machines", "Run it on two machines"],
    ],
  },
  {
    name: "How-to",
    purpose: "How to do one thing.",
    pages: [
      ["tokens", "Tokens"],
      ["wallets", "Wallets"],
      ["events", "Subscribe to events"],
      ["operators", "Operators"],
      ["devnet", "Devnet"],
      ["runtime", "Actors of your own"],
      ["packages", "npm packages"],
      ["signer", "Signing service"],
      ["pages", "Browser pages"],
      ["deployment", "Deployment"],
      ["slo", "Service levels"],
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
      ["reference/libraries", "Libraries"],
      ["reference/events", "Events"],
      ["reference/commands", "Commands"],
      ["reference/tokens", "Rules of tokens"],
      ["reference/wallets", "Rules of wallets"],
      ["reference/event-rules", "Rules of events"],
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
