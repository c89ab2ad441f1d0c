/** An address with its outputs and transactions; of a stake address its account. */
import { toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { queryText } from "#src/client/http.ts";
import { useData, usePages } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Facts, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Table } from "../kit/Table.tsx";
import { Ago } from "../kit/time.tsx";
import { type AddressTransactions, type Amount, get, type HeldOutput, index, part } from "./api.ts";
import { Amounts, AssetLink, assetsIn, Holding, Ref } from "./links.tsx";
import { IndexTable, Parts, Thing, useIndexPages } from "./lists.tsx";
import { live, moment } from "./live.ts";
import { pageOf } from "./names.ts";

/** The hash of the script that locks an address; undefined where a key does. */
function scriptOf(address: string): string | undefined {
  const { prefix = "", bytes = new Uint8Array() } = fromBech32(address) ?? {};
  const [header = 0] = bytes;
  return /^addr(_test)?$/.test(prefix) && (header & 0x90) === 0x10 ? toHex(bytes.slice(1, 29)) : undefined;
}

const isStake = (text: string) => /^stake/i.test(text);

export function AddressView({ params: { id = "" }, query }: ViewProps) {
  return isStake(id)
    ? <Account id={id} tab={query.get("tab") ?? ""} />
    : <Address id={id} tab={query.get("tab") ?? ""} />;
}

interface AddressInfo {
  readonly stake_address: string | null;
  readonly type: string;
  readonly script: boolean;
  readonly amount: readonly Amount[];
}

interface Total {
  readonly received_sum: readonly Amount[];
  readonly sent_sum: readonly Amount[];
  readonly tx_count: number;
}

const lovelaceIn = (amounts: readonly Amount[]) => amounts.find(({ unit }) => unit === "lovelace")?.quantity ?? "0";

function Address({ id, tab }: { readonly id: string; readonly tab: string }) {
  const key = moment.value;
  const path = `/addresses/${part(id)}`;
  const info = useData((signal) => index<AddressInfo>(path, signal), [id, key], { keep: true });
  const total = useData((signal) => index<Total>(`${path}/total`, signal), [id, key], { keep: true });
  const scriptHash = scriptOf(id);
  const at = pageOf("address", id);
  const tabs = [["", "Transactions"], ["outputs", "Unspent outputs"], ["assets", "Assets"]] as const;
  return (
    <>
      <Heading title={`Address ${id.slice(0, 16)}`}>
        {/^addr_vkh/.test(id) ? "Addresses of a payment key" : "Address"}
      </Heading>
      <p class="subject">
        <Id value={id} full name="address" />
      </p>
      <Thing data={info} what="address that was ever used" rows={4}>
        {({ amount, stake_address: stake, script, type }) => (
          <>
            <Stats>
              <Stat
                name="Balance"
                note={amount.length === 1
                  ? undefined
                  : amount.length === 2
                  ? "and one asset"
                  : `and ${amount.length - 1} assets`}
              >
                <Ada lovelace={lovelaceIn(amount)} />
              </Stat>
              <Stat name="Transactions">{total.value === undefined ? "…" : count(total.value.tx_count)}</Stat>
              <Stat name="Received">
                {total.value === undefined ? "…" : <Ada lovelace={lovelaceIn(total.value.received_sum)} />}
              </Stat>
              <Stat name="Sent">
                {total.value === undefined ? "…" : <Ada lovelace={lovelaceIn(total.value.sent_sum)} />}
              </Stat>
            </Stats>
            <p class="row subject">
              {script && <Badge>script address</Badge>}
              {scriptHash !== undefined && (
                <span>
                  Script <Ref kind="script" id={scriptHash} />
                </span>
              )}
              {type === "byron" && <Badge>Byron address</Badge>}
              {stake !== null && (
                <span>
                  Stake account <Ref kind="account" id={stake} />
                </span>
              )}
            </p>
            <Parts label="Parts of the address" at={at} tab={tab} tabs={tabs}>
              {tab === "outputs"
                ? <Outputs path={path} />
                : tab === "assets"
                ? <Assets of={amount} />
                : <Transactions of={id} />}
            </Parts>
          </>
        )}
      </Thing>
    </>
  );
}

function Assets({ of }: { readonly of: readonly Amount[] }) {
  const assets = of.filter(({ unit }) => unit !== "lovelace");
  return <AssetTable rows={assets} />;
}

/** Assets with quantities. */
export function AssetTable({ rows }: { readonly rows: readonly Amount[] }) {
  return (
    <Table
      caption="Assets"
      rows={rows}
      keyOf={({ unit }) => unit}
      empty="No assets, only ada."
      columns={[
        { title: "Asset", width: "60%", cell: ({ unit }) => <AssetLink unit={unit} /> },
        { title: "Quantity", align: "right", cell: ({ quantity }) => count(BigInt(quantity)) },
      ]}
    />
  );
}

/** Transactions of an address or an account, newest first, with what each changed there. */
function Transactions({ of }: { readonly of: string }) {
  const pages = usePages<{ readonly rows: AddressTransactions["transactions"]; readonly next: string | undefined }>(
    async (before, signal) => {
      const query = queryText({ before });
      const { transactions, next } = await get<AddressTransactions>(
        `/addresses/${part(of)}/transactions${query}`,
        signal,
      );
      return { rows: transactions, next };
    },
    ({ next }) => next,
    [of, moment.value],
  );
  return (
    <IndexTable
      pages={pages}
      caption="Transactions, newest first"
      keyOf={({ hash }) => hash}
      empty="No transaction."
      columns={[
        { title: "Transaction", width: "32%", cell: ({ hash }) => <Ref kind="transaction" id={hash} ends={6} /> },
        {
          title: "Change",
          align: "right",
          cell: ({ lovelace, assets }) => <Holding lovelace={lovelace} assets={assetsIn(assets)} signed />,
        },
        {
          title: "Block",
          width: "14%",
          cell: ({ height }) =>
            height === undefined ? "genesis" : <a href={hrefOf(`/block/${height}`)}>{count(height)}</a>,
        },
        { title: "Age", width: "16%", cell: ({ time }) => <Ago at={time} /> },
      ]}
    />
  );
}

function Outputs({ path }: { readonly path: string }) {
  const pages = useIndexPages<HeldOutput>(`${path}/utxos`, [moment.value], { order: "desc" });
  return (
    <IndexTable
      pages={pages}
      caption="Unspent outputs, newest first"
      keyOf={({ tx_hash, output_index }) => `${tx_hash}#${output_index}`}
      empty="No unspent output: all of them were spent."
      columns={[
        {
          title: "Output",
          width: "40%",
          cell: ({ tx_hash: hash, output_index: at }) => (
            <span class="from">
              <Ref kind="transaction" id={hash} ends={6} />
              <span class="mono">{`#${at}`}</span>
            </span>
          ),
        },
        {
          title: "Holds",
          align: "right",
          cell: ({ amount, inline_datum, data_hash, reference_script_hash: script }) => (
            <div>
              <Amounts of={amount} />
              {data_hash !== null && (
                <p class="note">
                  {inline_datum === null ? "datum by hash " : "datum "}
                  <Ref kind="datum" id={data_hash} ends={4} />
                </p>
              )}
              {script !== null && (
                <p class="note">
                  script <Ref kind="script" id={script} ends={4} />
                </p>
              )}
            </div>
          ),
        },
      ]}
    />
  );
}

interface AccountInfo {
  readonly active: boolean;
  readonly registered: boolean;
  readonly controlled_amount: string;
  readonly rewards_sum: string;
  readonly withdrawals_sum: string;
  readonly withdrawable_amount: string;
  readonly pool_id: string | null;
  readonly drep_id: string | null;
}

interface Reward {
  readonly epoch: number;
  readonly amount: string;
  readonly pool_id: string;
  readonly type: string;
}

interface Stake {
  readonly active_epoch: number;
  readonly amount: string;
  readonly pool_id: string;
}

function Account({ id, tab }: { readonly id: string; readonly tab: string }) {
  const path = `/accounts/${part(id)}`;
  const info = useData((signal) => index<AccountInfo>(path, signal), [id, moment.value], { keep: true });
  const at = pageOf("account", id);
  const tabs = [["", "Rewards"], ["stake", "Stake by epoch"], ["addresses", "Addresses"], ["assets", "Assets"], [
    "transactions",
    "Transactions",
  ]] as const;
  return (
    <>
      <Heading title={`Stake account ${id.slice(0, 16)}`}>Stake account</Heading>
      <p class="subject">
        <Id value={id} full name="stake address" />
      </p>
      <Thing data={info} what="stake account" rows={4}>
        {(account) => (
          <>
            <Stats>
              <Stat name="Balance with rewards">
                <Ada lovelace={account.controlled_amount} />
              </Stat>
              <Stat name="Rewards to withdraw">
                <Ada lovelace={account.withdrawable_amount} />
              </Stat>
              <Stat name="Rewards earned">
                <Ada lovelace={account.rewards_sum} />
              </Stat>
            </Stats>
            <Panel title="Delegation">
              <Facts
                pairs={[
                  [
                    "Account",
                    account.registered ? <Badge tone="good">registered</Badge> : <Badge>not registered</Badge>,
                  ],
                  ["Stake pool", account.pool_id === null ? "none" : <Ref kind="pool" id={account.pool_id} />],
                  [
                    "Votes through",
                    account.drep_id === null ? "no representative" : <Ref kind="drep" id={account.drep_id} />,
                  ],
                ]}
              />
            </Panel>
            <div class="tabs-below">
              <Parts label="Parts of the account" at={at} tab={tab} tabs={tabs}>
                <AccountPart id={id} path={path} tab={tab} />
              </Parts>
            </div>
          </>
        )}
      </Thing>
    </>
  );
}

function AccountPart({ id, path, tab }: { readonly id: string; readonly path: string; readonly tab: string }) {
  switch (tab) {
    case "stake":
      return <StakeHistory path={path} />;
    case "addresses":
      return <AccountAddresses path={path} />;
    case "assets":
      return <AccountAssets path={path} />;
    case "transactions":
      return <Transactions of={id} />;
    default:
      return <Rewards path={path} />;
  }
}

function Rewards({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<Reward>(`${path}/rewards`, [live.value?.epoch], { order: "desc" })}
      caption="Rewards, newest first"
      keyOf={({ epoch, pool_id, type }) => `${epoch} ${pool_id} ${type}`}
      empty="No rewards yet. Blocks of an epoch are rewarded two epochs later."
      columns={[
        { title: "For epoch", width: "18%", cell: ({ epoch }) => <a href={hrefOf(`/epoch/${epoch}`)}>{epoch}</a> },
        { title: "Pool", cell: ({ pool_id: pool }) => <Ref kind="pool" id={pool} ends={6} /> },
        { title: "Kind", cell: ({ type }) => type.replaceAll("_", " ") },
        { title: "Amount", align: "right", cell: ({ amount }) => <Ada lovelace={amount} /> },
      ]}
    />
  );
}

function StakeHistory({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<Stake>(`${path}/history`, [live.value?.epoch], { order: "desc" })}
      caption="Stake that counted, newest epoch first"
      keyOf={({ active_epoch }) => String(active_epoch)}
      empty="No stake counted yet. A delegation counts from the second epoch after it."
      columns={[
        {
          title: "Epoch",
          width: "18%",
          cell: ({ active_epoch: epoch }) => <a href={hrefOf(`/epoch/${epoch}`)}>{epoch}</a>,
        },
        { title: "Pool", cell: ({ pool_id: pool }) => <Ref kind="pool" id={pool} ends={6} /> },
        { title: "Stake", align: "right", cell: ({ amount }) => <Ada lovelace={amount} /> },
      ]}
    />
  );
}

function AccountAddresses({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<{ readonly address: string }>(`${path}/addresses`, [moment.value])}
      caption="Addresses"
      keyOf={({ address }) => address}
      empty="No address with this stake key was used."
      columns={[{
        title: "Address",
        width: "100%",
        cell: ({ address }) => <Ref kind="address" id={address} ends={16} />,
      }]}
    />
  );
}

function AccountAssets({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<Amount>(`${path}/addresses/assets`, [moment.value])}
      caption="Assets"
      keyOf={({ unit }) => unit}
      empty="No assets, only ada."
      columns={[
        { title: "Asset", width: "60%", cell: ({ unit }) => <AssetLink unit={unit} /> },
        { title: "Quantity", align: "right", cell: ({ quantity }) => count(BigInt(quantity)) },
      ]}
    />
  );
}
