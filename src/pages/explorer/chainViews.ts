/** The views of things on the chain, in one file: a link from one to another loads nothing more. */
export { AddressView } from "./address.tsx";
export { AssetsView, AssetView } from "./asset.tsx";
export { BlockView } from "./block.tsx";
export { EpochsView, EpochView } from "./epoch.tsx";
export { GovernanceView } from "./governance.tsx";
export { ActionView } from "./action.tsx";
export { RepresentativeView } from "./representative.tsx";
export { MempoolView } from "./mempool.tsx";
export { PoolsView, PoolView } from "./pool.tsx";
export { DatumView, ScriptView } from "./script.tsx";
export { SearchView } from "./searchView.tsx";
export { TransactionView } from "./transaction.tsx";
