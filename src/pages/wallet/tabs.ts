/** The views of a wallet beside its overview: one chunk, since most visitors need more than one of them. */
export { Cosign } from "./cosign.tsx";
export { History } from "./history.tsx";
export { Migrate } from "./migrate.tsx";
export { Mint } from "./mint.tsx";
export { Owners } from "./owners.tsx";
export { Receive } from "./receive.tsx";
export { Send } from "./send.tsx";
export { Settings } from "./settings.tsx";
export { Staking } from "./staking.tsx";
export { Voting } from "./voting.tsx";
