/** The explorer of a devnet. */
import { mount } from "../kit/mount.tsx";
import { lazy } from "../kit/parts.tsx";
import { Home } from "./home.tsx";
import { startLive, waiting } from "./live.ts";
import { Finder } from "./finder.tsx";
// after the kit's styles, which it adds to
import "./style.css";

/** Views that are loaded when the first of them is opened. */
const chain = () => import("./chainViews.ts");
const tools = () => import("./toolViews.ts");

void startLive();
mount({
  service: "Explorer",
  site: "explorer",
  api: "/docs",
  mode: "hash",
  aside: Finder,
  sections: [
    { name: "Chain", path: "/" },
    { name: "Mempool", path: "/mempool", badge: waiting },
    { name: "Assets", path: "/assets" },
    { name: "Pools", path: "/pools" },
    { name: "Epochs", path: "/epochs" },
    { name: "Governance", path: "/governance" },
    { name: "Tools", path: "/tools" },
    { name: "Developers", path: "/developers" },
  ],
  routes: [
    { path: "/", title: "Chain", view: Home },
    { path: "/mempool", title: "Mempool", view: lazy(async () => (await chain()).MempoolView) },
    { path: "/block/:id", title: "Block", view: lazy(async () => (await chain()).BlockView), section: "/" },
    {
      path: "/tx/:hash",
      title: "Transaction",
      view: lazy(async () => (await chain()).TransactionView),
      section: "/",
    },
    { path: "/address/:id", title: "Address", view: lazy(async () => (await chain()).AddressView), section: "/" },
    { path: "/assets", title: "Assets", view: lazy(async () => (await chain()).AssetsView) },
    { path: "/asset/:unit", title: "Asset", view: lazy(async () => (await chain()).AssetView), section: "/assets" },
    { path: "/pools", title: "Stake pools", view: lazy(async () => (await chain()).PoolsView) },
    { path: "/pool/:id", title: "Stake pool", view: lazy(async () => (await chain()).PoolView), section: "/pools" },
    { path: "/epochs", title: "Epochs", view: lazy(async () => (await chain()).EpochsView) },
    { path: "/epoch/:number", title: "Epoch", view: lazy(async () => (await chain()).EpochView), section: "/epochs" },
    { path: "/governance", title: "Governance", view: lazy(async () => (await chain()).GovernanceView) },
    {
      path: "/action/:id",
      title: "Governance action",
      view: lazy(async () => (await chain()).ActionView),
      section: "/governance",
    },
    {
      path: "/representative/:id",
      title: "Representative",
      view: lazy(async () => (await chain()).RepresentativeView),
      section: "/governance",
    },
    { path: "/script/:hash", title: "Script", view: lazy(async () => (await chain()).ScriptView), section: "/" },
    { path: "/datum/:hash", title: "Datum", view: lazy(async () => (await chain()).DatumView), section: "/" },
    { path: "/search", title: "Search", view: lazy(async () => (await chain()).SearchView) },
    { path: "/tools", title: "Tools", view: lazy(async () => (await tools()).ToolsView) },
    {
      path: "/developers",
      title: "For developers",
      view: lazy(async () => (await tools()).DevelopersView),
    },
  ],
});
