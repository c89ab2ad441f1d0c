/** The ways to add a wallet. */
import { Heading } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";

const WAYS = [
  ["/new/create", "Create a wallet", "A new recovery phrase of 24 words is made in this browser. You write it down."],
  [
    "/new/restore",
    "Restore a wallet",
    "With a recovery phrase of 12 to 24 words: from Daedalus, Lace, Eternl, Yoroi or another wallet.",
  ],
  ["/new/shared", "Create or join a shared wallet", "Several owners, of whom some or all must sign each payment."],
  ["/new/watch", "Watch a wallet", "With an account's public key: balances and history, without the keys to spend."],
] as const;

export function NewWallet() {
  return (
    <>
      <Heading title="Add a wallet">Add a wallet</Heading>
      <ul class="ways">
        {WAYS.map(([path, name, text]) => (
          <li key={path}>
            <a class="way panel" href={hrefOf(path)}>
              <b>{name}</b>
              <span class="note">{text}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
