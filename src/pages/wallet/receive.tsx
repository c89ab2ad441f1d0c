/** Addresses of a wallet: the next unused one with a QR code, and all others. */
import { useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import type { WalletAddress } from "#src/client/wallets.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData, usePages } from "../kit/data.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { Action, Badge, Choice, lazy, Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { Empty, sentenceOf } from "../kit/states.tsx";
import { Pager, Table } from "../kit/Table.tsx";
import { toast } from "../kit/toast.tsx";
import { AddressLabel } from "./addressLabels.tsx";
import { adaText } from "./amounts.ts";
import { askFaucet, devnet, GIFT } from "./devnet.ts";
import { network, networkName } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { PassphraseForm } from "./secrets.tsx";
import { read, readPage, send } from "./service.ts";
import type { WalletTab } from "./tab.ts";

const Qr = lazy(() => import("../kit/Qr.tsx").then(({ Qr }) => Qr));
const EVERY_MS = 4_000;
const PAGE = 20;

export function Receive({ wallet }: WalletTab) {
  const { prefix, id, discovery } = wallet;
  return (
    <>
      {discovery === "random" && <MakeAddress id={id} />}
      <Next wallet={wallet} />
      <Addresses prefix={prefix} id={id} />
    </>
  );
}

function Next({ wallet: { prefix, id, status, total, reward } }: Pick<WalletTab, "wallet">) {
  // what outputs hold, since rewards are not received at an address; while a wallet is restored, it finds what is old
  const held = total - reward;
  const [before] = useState(status === "ready" ? held : undefined);
  const path = `/${prefix}/${id}/addresses/next-unused`;
  const data = useData((signal) => read<WalletAddress>(path, {}, signal), [path], { everyMs: EVERY_MS });
  const info = network.value;
  const isEmpty = data.value === undefined && data.error instanceof ApiError && data.error.code === "no_unused_address";
  return (
    <Panel title="Receive">
      <div role="status">
        {before !== undefined && held > before && (
          <p class="alert info">
            <Ada lovelace={held - before} /> came since you opened this view.{" "}
            <a href={hrefOf(walletPath({ prefix, id }, "history"))}>History</a>
          </p>
        )}
      </div>
      {isEmpty
        ? (
          <Empty title="No unused address">
            <p>Make one above.</p>
          </Empty>
        )
        : (
          <Loaded data={data} rows={6}>
            {({ id: address }) => (
              <div class="receive">
                <div class="qr-box">
                  <Qr key={address} text={address} label={`QR code of the address ${address}`} />
                </div>
                <div>
                  <p>Give this address to the person who pays you. After a payment, the next one appears here.</p>
                  <p class="address mono">
                    <bdi>{address}</bdi>
                  </p>
                  <div class="buttons">
                    <button type="button" class="primary" onClick={() => void copyText(address, "Copied the address")}>
                      Copy the address
                    </button>
                    {devnet() !== undefined && (
                      <Action
                        run={async () => {
                          try {
                            await askFaucet(address);
                            toast("The faucet has paid. The next block brings it.");
                          } catch (error) {
                            toast(sentenceOf(error), "bad");
                          }
                        }}
                      >
                        {`Get ${adaText(GIFT)} test ada`}
                      </Action>
                    )}
                  </div>
                  {info && info.network_info.network_id !== "mainnet" && (
                    <p class="note">
                      {`This is an address of ${networkName(info.network_info.protocol_magic)}: send test ada only.`}
                    </p>
                  )}
                  <p class="note">
                    All addresses of the wallet stay valid. A new one for each payer keeps payments apart.
                  </p>
                </div>
              </div>
            )}
          </Loaded>
        )}
    </Panel>
  );
}

/** A random wallet makes its addresses one by one, by a key. */
function MakeAddress({ id }: { readonly id: string }) {
  return (
    <Panel title="Make an address">
      <p class="note">A wallet of this kind makes each address with its key, which needs the passphrase.</p>
      <PassphraseForm
        verb="Make an address"
        label="Passphrase"
        optional
        run={async (passphrase) => {
          await send("POST", `/byron-wallets/${id}/addresses`, { passphrase });
          toast("The address is made");
        }}
      />
    </Panel>
  );
}

function Addresses({ prefix, id }: { readonly prefix: string; readonly id: string }) {
  const [state, setState] = useState<"unused" | "used" | "all">("unused");
  const pages = usePages(
    (after, signal) =>
      readPage<WalletAddress>(
        `/${prefix}/${id}/addresses`,
        { limit: PAGE, after, state: state === "all" ? undefined : state },
        signal,
      ),
    (page) => page.after,
    [prefix, id, state],
    { everyMs: EVERY_MS },
  );
  return (
    <Panel
      title="Addresses"
      aside={
        <Choice
          label="Which addresses"
          value={state}
          onChange={setState}
          options={[["unused", "Unused"], ["used", "Used"], ["all", "All"]]}
        />
      }
    >
      <p class="note">Labels are yours alone: they stay in this browser.</p>
      <Loaded data={pages.data} rows={5}>
        {({ entries }) =>
          entries.length === 0 ? <Empty title={`No ${state === "all" ? "" : state} addresses`} /> : (
            <>
              <Table
                caption="Addresses"
                rows={entries}
                keyOf={(one) => one.id}
                columns={[
                  { title: "Address", cell: (one) => <Id value={one.id} name="address" ends={9} /> },
                  { title: "Label", cell: (one) => <AddressLabel address={one.id} /> },
                  {
                    title: "State",
                    cell: (one) => <Badge tone={one.state === "used" ? "good" : "quiet"}>{one.state}</Badge>,
                  },
                  {
                    title: "Path",
                    cell: ({ derivation_path: path }) => <span class="mono note">{path.join("/")}</span>,
                  },
                ]}
              />
              <Pager
                label="Addresses"
                {...(pages.previous ?? pages.next ? { text: `Page ${count(pages.page + 1)}` } : {})}
                previous={pages.previous}
                next={pages.next}
              />
            </>
          )}
      </Loaded>
    </Panel>
  );
}
