/** Scripts and datums by their hashes. */
import { ApiError } from "#src/client/http.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Facts, Heading, Panel } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { JsonTree, LongText } from "../kit/values.tsx";
import { index, part, type PlutusData } from "./api.ts";
import { Ref } from "./links.tsx";
import { transactionColumn } from "./indexTables.tsx";
import { IndexTable, Thing, useIndexPages } from "./lists.tsx";
import { moment } from "./live.ts";
import { pageOf } from "./names.ts";
import { PlutusView } from "./plutus.tsx";

interface ScriptInfo {
  readonly type: string;
  readonly serialised_size: number | null;
}

const TYPES: Readonly<Record<string, string>> = {
  timelock: "Native script",
  plutusV1: "Plutus V1",
  plutusV2: "Plutus V2",
  plutusV3: "Plutus V3",
};

export function ScriptView({ params: { hash = "" } }: ViewProps) {
  const path = `/scripts/${part(hash)}`;
  const data = useData((signal) => index<ScriptInfo>(path, signal), [hash]);
  return (
    <>
      <Heading title={`Script ${hash.slice(0, 8)}`}>Script</Heading>
      <p class="subject">
        <Id value={hash} full name="script hash" />
      </p>
      <Thing data={data} what="script" rows={4}>
        {({ type, serialised_size: size }) => (
          <div class="column">
            <Panel title="Facts">
              <Facts
                pairs={[
                  ["Language", TYPES[type] ?? type],
                  ["Size", size === null ? undefined : `${count(size)} bytes`],
                  ["As a policy", <a href={hrefOf(pageOf("policy", hash))}>Assets minted under it</a>],
                ]}
              />
              {type === "timelock" ? <Native path={path} /> : <Code path={path} />}
            </Panel>
            <Panel title="Runs" aside={<span class="note">newest first</span>}>
              <Runs path={path} />
            </Panel>
            <Panel title="Outputs that hold it" aside={<span class="note">as a reference script</span>}>
              <Holders path={path} />
            </Panel>
          </div>
        )}
      </Thing>
    </>
  );
}

function Native({ path }: { readonly path: string }) {
  const data = useData((signal) => index<{ json: object }>(`${path}/json`, signal), [path]);
  return <Thing data={data} what="script">{({ json }) => <JsonTree value={json} />}</Thing>;
}

function Code({ path }: { readonly path: string }) {
  const data = useData((signal) => index<{ cbor: string }>(`${path}/cbor`, signal), [path]);
  return (
    <details class="folded">
      <summary>Code</summary>
      <Thing data={data} what="script">{({ cbor }) => <LongText text={cbor} mono />}</Thing>
    </details>
  );
}

interface Run {
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly purpose: string;
  readonly unit_mem: string;
  readonly unit_steps: string;
  readonly fee: string;
  readonly redeemer_data_hash: string;
}

function Runs({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<Run>(`${path}/redeemers`, [moment.value], { order: "desc" })}
      caption="Runs of the script, newest first"
      keyOf={({ tx_hash, purpose, tx_index }) => `${tx_hash} ${purpose} ${tx_index}`}
      empty="It has not run yet."
      columns={[
        transactionColumn(5, "30%"),
        { title: "Purpose", cell: ({ purpose, tx_index }) => `${purpose} #${tx_index}` },
        { title: "Redeemer", cell: ({ redeemer_data_hash: hash }) => <Ref kind="datum" id={hash} ends={3} /> },
        { title: "Limit of memory", align: "right", cell: ({ unit_mem }) => count(BigInt(unit_mem)) },
        { title: "Price", align: "right", cell: ({ fee }) => <Ada lovelace={fee} /> },
      ]}
    />
  );
}

function Holders({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<{ readonly tx_hash: string; readonly output_index: number; readonly address: string }>(
        `${path}/utxos`,
        [moment.value],
      )}
      caption="Unspent outputs that hold the script"
      keyOf={({ tx_hash, output_index }) => `${tx_hash}#${output_index}`}
      empty="No unspent output holds it."
      columns={[
        {
          title: "Output",
          cell: ({ tx_hash: hash, output_index: at }) => (
            <span class="from">
              <Ref kind="transaction" id={hash} ends={6} />
              <span class="mono">{`#${at}`}</span>
            </span>
          ),
        },
        { title: "Address", cell: ({ address }) => <Ref kind="address" id={address} /> },
      ]}
    />
  );
}

/** A datum that is nested too deeply has bytes only. */
function tooDeep(error: unknown): { json_value: null } {
  if (error instanceof ApiError && error.status === 400) return { json_value: null };
  throw error;
}

export function DatumView({ params: { hash = "" } }: ViewProps) {
  const data = useData(async (signal) => {
    const [{ json_value: json }, { cbor }] = await Promise.all([
      index<{ json_value: PlutusData["json"] }>(`/scripts/datum/${part(hash)}`, signal).catch(tooDeep),
      index<{ cbor: string }>(`/scripts/datum/${part(hash)}/cbor`, signal),
    ]);
    return { json, cbor };
  }, [hash]);
  return (
    <>
      <Heading title={`Datum ${hash.slice(0, 8)}`}>Datum</Heading>
      <p class="subject">
        <Id value={hash} full name="datum hash" />
      </p>
      <Panel title="Plutus data">
        <Thing data={data} what="datum">
          {({ json, cbor }) => <PlutusView data={{ hash, cbor, json }} />}
        </Thing>
      </Panel>
    </>
  );
}
