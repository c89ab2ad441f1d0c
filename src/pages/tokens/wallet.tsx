/// <reference lib="dom" />
/** The wallet of the page: the button in the header, and the dialog that connects one. */
import { present } from "#src/base/present.ts";
import { effect, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../kit/Dialog.tsx";
import { SelectField } from "../kit/forms.tsx";
import { Id, shortId } from "../kit/Id.tsx";
import { Action } from "../kit/parts.tsx";
import { Alert } from "../kit/states.tsx";
import { keepInTab, keptInTab } from "../kit/tabStorage.ts";
import { toast } from "../kit/toast.tsx";
import { again, type BrowserWallet, connect, DEVELOPMENT, offeredWallets, type Wallet, withAccount } from "./cip30.ts";
import { faucetPage } from "./service.ts";
import { Visible } from "./visible.tsx";

/** The connected wallet. */
export const wallet = signal<Wallet | undefined>(undefined);

/** Where this tab remembers which wallet is connected, so that a reload keeps it. */
const KEY = "arbor-token-wallet";

interface Remembered {
  readonly id: string;
  readonly address: string;
  readonly account?: string;
}

function remembered(): Remembered | undefined {
  try {
    const kept: unknown = JSON.parse(keptInTab(KEY) ?? "null");
    return typeof kept === "object" && kept !== null ? kept as Remembered : undefined;
  } catch {
    return undefined; // storage holds something else
  }
}

function remember(one: Wallet | undefined): void {
  if (one === undefined) return keepInTab(KEY, undefined);
  const { browser: { id }, address, account } = one;
  keepInTab(KEY, JSON.stringify({ id, address, account }));
}

/** How often, and after how many milliseconds, a wallet is looked for that this tab had before. */
const LOOKS = { times: 20, ms: 100 };

/** Connects the wallet of before a reload again, where that asks the reader nothing. */
async function reconnect({ id, address, account }: Remembered): Promise<Wallet | undefined> {
  // wallets come into a page when they like
  for (let looks = 0; looks < LOOKS.times; looks++) {
    const browser = offeredWallets().find((one) => one.id === id);
    if (browser !== undefined) {
      if (id !== DEVELOPMENT && await browser.offered.isEnabled?.() !== true) return undefined;
      const one = await connect(browser, address);
      return account === undefined || one.account === account ? one : await withAccount(one, account);
    }
    await new Promise((wake) => setTimeout(wake, LOOKS.ms));
  }
  return undefined;
}

/** Connects the wallet that this tab had, and remembers from then on which one it has. */
async function restore(): Promise<void> {
  const kept = remembered();
  try {
    const one = kept && await reconnect(kept);
    // the reader may have connected one meanwhile
    wallet.value ??= one;
  } catch {
    // the reader connects it again
  }
  effect(() => remember(wallet.value));
}

/** The change of the wallet or its account that is under way: what is built waits for it. */
let changing: Promise<void> = restore();

/** The open dialog; `connected` is called once if it was opened for an action, which waits for a wallet. */
const open = signal<{ readonly connected?: (one: Wallet | undefined) => void } | undefined>(undefined);

function close(): void {
  const { connected } = open.peek() ?? {};
  open.value = undefined;
  connected?.(wallet.peek());
}

/** The connected wallet as it is now; asks the reader to connect one. Undefined if the reader does not. */
export async function walletNow(): Promise<Wallet | undefined> {
  await changing;
  const before = wallet.peek();
  if (before === undefined) return await new Promise((connected) => open.value = { connected });
  const now = await again(before);
  if (now.address !== before.address) toast(`The wallet changed to ${shortId(now.address)}, which now pays and signs.`);
  wallet.value = now;
  return now;
}

/** In the header: the connected wallet, or the button that connects one. */
export function WalletButton() {
  const connected = wallet.value;
  const shown = open.value;
  return (
    <>
      {connected === undefined
        ? <button type="button" class="small primary" onClick={() => open.value = {}}>Connect wallet</button>
        : (
          <button
            type="button"
            class="small wallet-button"
            title={connected.address}
            onClick={() => open.value = {}}
          >
            <span class="sr">Wallet:</span>
            <span class="wallet-name">{accountName(connected)}</span>
            <span class="mono">{shortId(connected.address, 4)}</span>
          </button>
        )}
      {shown && <WalletDialog />}
    </>
  );
}

function accountName({ browser, accounts, account }: Wallet): string {
  return accounts.find(({ id }) => id === account)?.name ?? browser.name;
}

const DEVELOPMENT_NOTE = "The Arbor devnet wallet is for development: its keys are public, and its ada has no value.";

function WalletDialog() {
  const connected = wallet.value;
  const title = connected === undefined ? "Connect a wallet" : "Wallet";
  return (
    <Dialog title={title} onClose={close}>
      {connected === undefined ? <Offers /> : <Connected wallet={connected} />}
    </Dialog>
  );
}

function Offers() {
  const [all, setAll] = useState(offeredWallets);
  const [error, setError] = useState<unknown>();
  const [asking, setAsking] = useState<string>();
  useEffect(() => {
    // wallets come into a page when they like
    const look = () => setAll(offeredWallets());
    const timer = setInterval(look, 1_000);
    addEventListener(`${DEVELOPMENT}:ready`, look);
    return () => {
      clearInterval(timer);
      removeEventListener(`${DEVELOPMENT}:ready`, look);
    };
  }, []);
  const use = async (one: BrowserWallet) => {
    setError(undefined);
    setAsking(one.name);
    try {
      wallet.value = await connect(one);
      if (open.peek()?.connected) close();
    } catch (failure) {
      setError(failure);
    } finally {
      setAsking(undefined);
    }
  };
  return (
    <>
      <p>
        A wallet pays for transactions and signs them. This page shows you what each transaction does, computed from its
        bytes, before your wallet signs it. Reading needs no wallet.
      </p>
      {all.length === 0
        ? (
          <p class="alert info" role="status">
            This browser has no Cardano wallet (CIP-30). Install or unlock one; it appears here.
          </p>
        )
        : (
          <div class="buttons stacked">
            {all.map((one) => (
              <Action key={one.id} tone="primary" run={() => use(one)}>
                Connect <Visible text={one.name} limit={60} />
              </Action>
            ))}
          </div>
        )}
      {all.some(({ id }) => id === DEVELOPMENT) && <p class="note">{DEVELOPMENT_NOTE}</p>}
      {asking !== undefined && <p role="status" class="note">{asking} asks you whether this page may use it.</p>}
      <Alert error={error} />
    </>
  );
}

function Connected({ wallet: one }: { readonly wallet: Wallet }) {
  const faucet = one.browser.id === DEVELOPMENT ? faucetPage(one.address) : undefined;
  const [error, setError] = useState<unknown>();
  const select = (id: string) => {
    setError(undefined);
    changing = changing.then(async () => {
      try {
        wallet.value = await withAccount(wallet.peek() ?? one, id);
      } catch (failure) {
        setError(failure);
      }
    });
  };
  const addresses = [...one.keys].map(([address]) => [address, shortId(address, 12)] as const);
  return (
    <>
      <p role="status">
        Connected: <Visible text={one.browser.name} limit={60} />.
      </p>
      {one.browser.id === DEVELOPMENT && <p class="note">{DEVELOPMENT_NOTE}</p>}
      {one.accounts.length > 0 && (
        <SelectField
          label="Account of the devnet"
          value={one.account ?? ""}
          options={one.accounts.map(({ id, name }) => [id, name] as const)}
          onChange={select}
        />
      )}
      <SelectField
        label="Address that pays and signs"
        value={one.address}
        options={addresses}
        onChange={(address) =>
          wallet.value = { ...one, address, key: present(one.keys.get(address), "the key of an address") }}
      />
      <div>
        <p class="note">Whole address</p>
        <Id value={one.address} name="address" full />
      </div>
      <div>
        <p class="note">Its key hash, which owns tokens and requests</p>
        <Id value={one.key} name="key hash" full />
      </div>
      <Alert error={error} />
      <div class="buttons end">
        {faucet !== undefined && <a class="button" href={faucet} target="_blank" rel="noopener">Get test ada</a>}
        <button type="button" onClick={() => wallet.value = undefined}>Disconnect</button>
        <button type="button" class="primary" onClick={close}>Done</button>
      </div>
    </>
  );
}
