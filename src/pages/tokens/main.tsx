/** The page of the token service. */
import "./page.css";
import { mount } from "../kit/mount.tsx";
import { AcceptView } from "./AcceptView.tsx";
import { TransactionDialog } from "./carry.tsx";
import { TokensView } from "./TokensView.tsx";
import { TokenView } from "./TokenView.tsx";
import { WalletButton } from "./wallet.tsx";

function HeaderEnd() {
  return (
    <>
      <WalletButton />
      <TransactionDialog />
    </>
  );
}

mount({
  service: "Tokens",
  site: "tokens",
  api: "/docs",
  mode: "hash",
  sections: [
    { name: "Tokens", path: "/" },
    { name: "Accept a token", path: "/accept" },
  ],
  routes: [
    { path: "/", title: "Tokens", view: TokensView },
    { path: "/token/:id", title: "Token", view: TokenView, section: "/" },
    { path: "/accept", title: "Accept a token", view: AcceptView },
    { path: "/sign", title: "Accept a token", view: AcceptView, section: "/accept" },
  ],
  aside: HeaderEnd,
});
