/** The explorer of a devnet. */
import { mount } from "../kit/mount.tsx";
import { lazy } from "../kit/parts.tsx";
import { Home } from "./home.tsx";
import { startLive, waiting } from "./live.ts";
import { Finder } from "./finder.tsx";
// after the kit's styles, which it adds to
import "./style.css";

void startLive();
mount({
  service: "Explorer",
  mode: "hash",
  aside: Finder,
  sections: [
    { name: "Chain", path: "/" },
    { name: "Mempool", path: "/mempool", badge: waiting },
    { name: "Assets", path: "/assets" },
    { name: "Pools", path: "/pools" },
    { name: "Epochs", path: "/epochs" },
    { name: "Tools", path: "/tools" },
    { name: "For developers", path: "/developers" },
  ],
  routes: [
    { path: "/", title: "Chain", view: Home },
    { path: "/mempool", title: "Mempool", view: lazy(async () => (await import("./mempool.tsx")).MempoolView) },
    { path: "/block/:id", title: "Block", view: lazy(async () => (await import("./block.tsx")).BlockView) },
    {
      path: "/tx/:hash",
      title: "Transaction",
      view: lazy(async () => (await import("./transaction.tsx")).TransactionView),
    },
    { path: "/address/:id", title: "Address", view: lazy(async () => (await import("./address.tsx")).AddressView) },
    { path: "/assets", title: "Assets", view: lazy(async () => (await import("./asset.tsx")).AssetsView) },
    { path: "/asset/:unit", title: "Asset", view: lazy(async () => (await import("./asset.tsx")).AssetView) },
    { path: "/pools", title: "Stake pools", view: lazy(async () => (await import("./pool.tsx")).PoolsView) },
    { path: "/pool/:id", title: "Stake pool", view: lazy(async () => (await import("./pool.tsx")).PoolView) },
    { path: "/epochs", title: "Epochs", view: lazy(async () => (await import("./epoch.tsx")).EpochsView) },
    { path: "/epoch/:number", title: "Epoch", view: lazy(async () => (await import("./epoch.tsx")).EpochView) },
    { path: "/script/:hash", title: "Script", view: lazy(async () => (await import("./script.tsx")).ScriptView) },
    { path: "/datum/:hash", title: "Datum", view: lazy(async () => (await import("./script.tsx")).DatumView) },
    { path: "/search", title: "Search", view: lazy(async () => (await import("./searchView.tsx")).SearchView) },
    { path: "/tools", title: "Tools", view: lazy(async () => (await import("./tools.tsx")).ToolsView) },
    {
      path: "/developers",
      title: "For developers",
      view: lazy(async () => (await import("./developers.tsx")).DevelopersView),
    },
  ],
});
