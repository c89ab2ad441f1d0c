/// <reference lib="dom" />
/** How programs use this devnet: where its services are, and requests to copy. */
import { useData } from "../kit/data.tsx";
import { Ada } from "../kit/amounts.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { setting } from "../kit/setting.ts";
import { Facts, Heading, Panel } from "../kit/parts.tsx";
import { Table } from "../kit/Table.tsx";
import { get, type Network } from "./api.ts";
import { Ref } from "./links.tsx";
import { hasIndex } from "./lists.tsx";

/** Where Yaci DevKit's admin API says that the services are; 0 and null: off. */
interface Places {
  readonly socketPath: string | null;
  readonly yaciStorePort: number;
  readonly ogmiosPort: number;
  readonly kupoPort: number;
  readonly socatPort: number;
}

function Code({ text, name }: { readonly text: string; readonly name: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={name}>{text}</pre>
      <button type="button" class="small" aria-label={`Copy: ${name}`} onClick={() => void copyText(text)}>Copy</button>
    </div>
  );
}

export function DevelopersView() {
  return (
    <>
      <Heading title="For developers">For developers</Heading>
      <p class="subject">
        This is a Cardano network in one process, with mainnet's ledger rules and a faucet. It makes blocks, applies
        them, and rolls them back on request. Its ada has no value.
      </p>
      <div class="columns">
        <div>
          <WhereItIs />
          <LookAround />
        </div>
        <div>
          <FundedAccounts />
          <Requests />
          <WalletForPages />
        </div>
      </div>
    </>
  );
}

function WhereItIs() {
  const { origin, hostname, protocol } = location;
  const network = useData((signal) => get<Network>("/tip", signal), []);
  const places = useData(
    (signal) =>
      setting("admin") === "off" ? Promise.resolve(undefined) : get<Places>("/local-cluster/api/admin/devnet", signal),
    [],
  );
  const at = places.value;
  const url = (port = 0, path = "") =>
    port > 0 ? <Id value={`${protocol}//${hostname}:${port}${path}`} full name="URL" /> : undefined;
  return (
    <Panel title="Where it is">
      <Facts
        pairs={[
          ["This API", <Id value={origin} full name="URL" />],
          ["Network magic", network.value === undefined ? "…" : String(network.value.magic)],
          ["Blockfrost API", url(at?.yaciStorePort, "/api/v1")],
          ["Ogmios API", url(at?.ogmiosPort)],
          ["Kupo API", url(at?.kupoPort)],
          ["Node socket", at?.socketPath ? <Id value={at.socketPath} full name="path" /> : undefined],
          [
            "Node over TCP",
            at && at.socatPort > 0 ? <Id value={`${hostname}:${at.socatPort}`} full name="address" /> : undefined,
          ],
          ["Index", hasIndex() ? "kept" : "off (--devnet-without index)"],
        ]}
      />
    </Panel>
  );
}

function LookAround() {
  return (
    <Panel title="Look around">
      <ul class="links">
        <li>
          <a href="/docs">API reference</a>, from the <a href="/openapi.json">OpenAPI document</a>
        </li>
        <li>
          <a href="/docs/guide/">Guide</a>: concepts, tutorials and reference, where it was built
        </li>
        <li>
          <a href="/tip">Tip</a>: the newest block and the network's magic
        </li>
        <li>
          <a href="/parameters">Protocol parameters</a>
        </li>
        <li>
          <a href="/genesis">Genesis</a>, with the files for nodes and tools
        </li>
        <li>
          <a href="/mempool">Mempool</a> as JSON
        </li>
        <li>
          <a href="/health">Health</a> and <a href="/ready">readiness</a> of the process
        </li>
      </ul>
    </Panel>
  );
}

function FundedAccounts() {
  const { value: genesis } = useData(
    (signal) => get<{ accounts: readonly string[]; accountFunds: number }>("/genesis", signal),
    [],
  );
  if (genesis === undefined || genesis.accounts.length === 0) return null;
  return (
    <Panel title="Accounts with funds">
      <p class="note about">
        {`${genesis.accounts.length} accounts began with `}
        <Ada lovelace={genesis.accountFunds} />
        {` each. Their recovery phrase is public: the word "test" 23 times, then "sauce".`}
      </p>
      <Table
        caption="Accounts with funds"
        rows={genesis.accounts}
        keyOf={(address) => address}
        pageSize={5}
        columns={[{
          title: "Address",
          width: "100%",
          cell: (address) => <Ref kind="address" id={address} ends={8} />,
        }]}
      />
    </Panel>
  );
}

/** Requests to copy. */
function Requests() {
  const { origin } = location;
  const json = "-H 'content-type: application/json'";
  return (
    <>
      <Panel title="Send 100 ada to an address">
        <Code
          name="Send 100 ada"
          text={`curl -s ${origin}/faucet ${json} \\\n  -d '{"address": "addr_test1…", "lovelace": 100000000}'`}
        />
      </Panel>
      <Panel title="Make five blocks now, then undo two">
        <Code
          name="Make blocks and roll back"
          text={`curl -s ${origin}/blocks ${json} -d '{"count": 5}'\ncurl -s ${origin}/rollback ${json} -d '{"blocks": 2}'`}
        />
      </Panel>
      <Panel title="Find out why a transaction was refused">
        <Code
          name="A transaction"
          text={`curl -s ${origin}/transactions/refused\ncurl -s ${origin}/transactions/<hash>`}
        />
      </Panel>
    </>
  );
}

function WalletForPages() {
  return (
    <Panel title="A wallet for pages">
      {setting("wallet") === "off"
        ? (
          <p>
            This devnet was started with <code>--devnet-without wallet</code> and has none.
          </p>
        )
        : (
          <>
            <p class="about">
              This gives a page a funded wallet (CIP-30),{" "}
              <code>window.cardano.arbordevnet</code>. It is for development: its keys are public.
            </p>
            <Code name="The wallet's script" text={`<script src="${location.origin}/wallet-sdk.js"></script>`} />
          </>
        )}
    </Panel>
  );
}
