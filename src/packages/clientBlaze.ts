/** Blaze on Arbor (`@blaze-cardano/sdk`): its provider over the token service, and its wallet over the wallet service. */
export { ArborProvider, type ArborProviderOptions } from "#src/client/blaze/provider.ts";
export { type Signable, signChecked } from "#src/client/blaze/signChecked.ts";
export { ArborWallet, type ArborWalletOptions } from "#src/client/blaze/wallet.ts";
