/** The page of the wallet service: wallets are created, restored, used and deleted here. */
import "./wallet.css";
import { mount } from "../kit/mount.tsx";
import { lazy } from "../kit/parts.tsx";
import { WalletList } from "./list.tsx";
import { NetworkStatus } from "./network.tsx";
import { WalletView } from "./wallet.tsx";

const NewWallet = lazy(() => import("./additions.ts").then(({ NewWallet }) => NewWallet));
const CreateWallet = lazy(() => import("./additions.ts").then(({ CreateWallet }) => CreateWallet));
const RestoreWallet = lazy(() => import("./additions.ts").then(({ RestoreWallet }) => RestoreWallet));
const WatchWallet = lazy(() => import("./additions.ts").then(({ WatchWallet }) => WatchWallet));
const SharedWalletForm = lazy(() => import("./additions.ts").then(({ SharedWalletForm }) => SharedWalletForm));

mount({
  service: "Wallets",
  site: "wallet",
  api: "/v2/docs",
  mode: "hash",
  sections: [
    { name: "Wallets", path: "/" },
    { name: "Add a wallet", path: "/new" },
  ],
  aside: NetworkStatus,
  routes: [
    { path: "/", title: "Wallets", view: WalletList },
    { path: "/new", title: "Add a wallet", view: NewWallet },
    { path: "/new/create", title: "Create a wallet", view: CreateWallet },
    { path: "/new/restore", title: "Restore a wallet", view: RestoreWallet },
    { path: "/new/watch", title: "Watch a wallet", view: WatchWallet },
    { path: "/new/shared", title: "Create a shared wallet", view: SharedWalletForm },
    { path: "/:prefix/:id", title: "Wallet", view: WalletView, section: "/" },
    { path: "/:prefix/:id/:tab", title: "Wallet", view: WalletView, section: "/" },
    { path: "/:prefix/:id/:tab/:item", title: "Wallet", view: WalletView, section: "/" },
  ],
});
