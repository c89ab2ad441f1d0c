/** The views that add a wallet: a chunk of their own, with the list of words. */
export { CreateWallet } from "./create.tsx";
export { SharedWalletForm } from "./newShared.tsx";
export { NewWallet } from "./newWallet.tsx";
export { RestoreWallet } from "./restore.tsx";
export { WatchWallet } from "./watch.tsx";
