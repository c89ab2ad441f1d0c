/** Assets: all of them, those of a policy, and one with its history and holders. */
import { Amount, count } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Facts, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Ago } from "../kit/time.tsx";
import { JsonTree } from "../kit/values.tsx";
import { index, part, type Place } from "./api.ts";
import { AssetLink, Ref } from "./links.tsx";
import { transactionColumn } from "./indexTables.tsx";
import { IndexTable, Parts, Thing, useIndexPages } from "./lists.tsx";
import { moment } from "./live.ts";
import { assetParts, pageOf } from "./names.ts";

interface Listed {
  readonly asset: string;
  readonly quantity: string;
}

export function AssetsView() {
  return (
    <>
      <Heading title="Assets">Assets</Heading>
      <Panel title="All assets" aside={<span class="note">newest first</span>}>
        <AssetList path="/assets" empty="No asset was minted on this devnet." />
      </Panel>
    </>
  );
}

function AssetList({ path, empty }: { readonly path: string; readonly empty: string }) {
  return (
    <IndexTable
      pages={useIndexPages<Listed>(path, [moment.value], { order: "desc", count: 50 })}
      caption="Assets"
      keyOf={({ asset }) => asset}
      empty={empty}
      columns={[
        { title: "Asset", width: "45%", cell: ({ asset }) => <AssetLink unit={asset} withPolicy={false} /> },
        { title: "Policy", cell: ({ asset }) => <Ref kind="policy" id={asset.slice(0, 56)} ends={6} /> },
        { title: "Quantity", width: "20%", align: "right", cell: ({ quantity }) => <Amount amount={quantity} /> },
      ]}
    />
  );
}

export function AssetView({ params: { unit = "" }, query }: ViewProps) {
  return unit.length === 56 ? <Policy policy={unit} /> : <Asset unit={unit} tab={query.get("tab") ?? ""} />;
}

function Policy({ policy }: { readonly policy: string }) {
  return (
    <>
      <Heading title={`Policy ${policy.slice(0, 8)}`}>Policy</Heading>
      <p class="subject">
        <Id value={policy} full name="policy" />
      </p>
      <p class="subject">
        <a href={hrefOf(pageOf("script", policy))}>The script that decides about minting</a>
      </p>
      <Panel title="Assets of this policy">
        <AssetList path={`/assets/policy/${part(policy)}`} empty="Nothing was minted under this policy." />
      </Panel>
    </>
  );
}

interface AssetInfo {
  readonly policy_id: string;
  readonly asset_name: string | null;
  readonly fingerprint: string;
  readonly quantity: string;
  readonly initial_mint_tx_hash: string;
  readonly mint_or_burn_count: number;
  readonly onchain_metadata: object | null;
  readonly onchain_metadata_standard: string | null;
}

function Asset({ unit, tab }: { readonly unit: string; readonly tab: string }) {
  const path = `/assets/${part(unit)}`;
  const data = useData((signal) => index<AssetInfo>(path, signal), [unit, moment.value], { keep: true });
  const { name, role } = assetParts(unit);
  const at = pageOf("asset", unit);
  const tabs = [["", "Holders"], ["history", "Minted and burned"], ["transactions", "Transactions"]] as const;
  return (
    <>
      <Heading title={`Asset ${name}`} aside={role && <Badge>{role}</Badge>}>
        {name === "" ? "Asset without a name" : (
          <>
            Asset <bdi>{name.length > 40 ? `${name.slice(0, 20)}…` : name}</bdi>
          </>
        )}
      </Heading>
      <p class="subject">
        <Id value={unit} full name="asset id" />
      </p>
      <Thing data={data} what="asset" rows={5}>
        {(asset) => (
          <>
            <Stats>
              <Stat name="In circulation">
                <Amount amount={asset.quantity} />
              </Stat>
              <Stat name="Times minted or burned">{count(asset.mint_or_burn_count)}</Stat>
            </Stats>
            <div class="column">
              <Panel title="Facts">
                <Facts
                  pairs={[
                    ["Policy", <Ref kind="policy" id={asset.policy_id} full />],
                    [
                      "Name in bytes",
                      asset.asset_name === null ? "none" : <Id value={asset.asset_name} full name="asset name" />,
                    ],
                    ["Fingerprint", <Id value={asset.fingerprint} full name="fingerprint" />],
                    ["First minted in", <Ref kind="transaction" id={asset.initial_mint_tx_hash} />],
                  ]}
                />
              </Panel>
              {asset.onchain_metadata !== null && (
                <Panel
                  title="Metadata on the chain"
                  aside={asset.onchain_metadata_standard && <Badge>{asset.onchain_metadata_standard}</Badge>}
                >
                  <JsonTree value={asset.onchain_metadata} />
                </Panel>
              )}
              <div>
                <Parts label="Parts of the asset" at={at} tab={tab} tabs={tabs}>
                  {tab === "history"
                    ? <History path={path} />
                    : tab === "transactions"
                    ? <Transactions path={path} />
                    : <Holders path={path} />}
                </Parts>
              </div>
            </div>
          </>
        )}
      </Thing>
    </>
  );
}

function Holders({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<{ readonly address: string; readonly quantity: string }>(`${path}/addresses`, [
        moment.value,
      ])}
      caption="Holders"
      keyOf={({ address }) => address}
      empty="No address holds it: all of it was burned."
      columns={[
        { title: "Address", width: "65%", cell: ({ address }) => <Ref kind="address" id={address} ends={14} /> },
        { title: "Quantity", align: "right", cell: ({ quantity }) => <Amount amount={quantity} /> },
      ]}
    />
  );
}

function History({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<{ readonly tx_hash: string; readonly amount: string; readonly action: string }>(
        `${path}/history`,
        [moment.value],
        { order: "desc" },
      )}
      caption="Minted and burned, newest first"
      keyOf={({ tx_hash }) => tx_hash}
      empty="Nothing was minted."
      columns={[
        transactionColumn(10, "55%"),
        { title: "Action", cell: ({ action }) => action },
        { title: "Quantity", align: "right", cell: ({ amount }) => <Amount amount={amount} signed /> },
      ]}
    />
  );
}

/** Transactions with an output that holds the asset, newest first. */
function Transactions({ path }: { readonly path: string }) {
  const pages = useIndexPages<Place>(`${path}/transactions`, [moment.value], { order: "desc" });
  return (
    <IndexTable
      pages={pages}
      caption="Transactions, newest first"
      keyOf={({ tx_hash }) => tx_hash}
      empty="No transaction."
      columns={[
        transactionColumn(10, "55%"),
        {
          title: "Block",
          cell: ({ block_height: height }) => <a href={hrefOf(`/block/${height}`)}>{count(height)}</a>,
        },
        { title: "Age", width: "20%", cell: ({ block_time: time }) => <Ago at={time * 1_000} /> },
      ]}
    />
  );
}
