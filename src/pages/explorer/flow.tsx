/** The flow of a transaction's ada from its inputs to its outputs. The lists beside the bands say the same in words. */
import { Ada } from "../kit/amounts.tsx";
import { shortId } from "../kit/Id.tsx";
import { Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import type { Transaction } from "./api.ts";
import { bandsOf, type FlowEnd, flowOf, ROW } from "./flowShape.ts";
import { pageOf } from "./names.ts";

export function FlowPanel({ transaction }: { readonly transaction: Transaction }) {
  const flow = flowOf(transaction);
  const { height, paths } = bandsOf(flow);
  return (
    <Panel title="Flow of ada" class="flow-panel">
      <div class="flow-picture">
        <Ends label="Comes from" ends={flow.from} />
        <svg viewBox={`0 0 100 ${height}`} height={height} preserveAspectRatio="none" aria-hidden="true">
          {paths.map((path, i) => <path key={i} class={i < flow.from.length ? "c1" : "c0"} d={path} />)}
        </svg>
        <Ends label="Goes to" ends={flow.to} />
      </div>
    </Panel>
  );
}

function Ends({ label, ends }: { readonly label: string; readonly ends: readonly FlowEnd[] }) {
  return (
    <ol class="flow-ends" aria-label={label}>
      {ends.map(({ name, address, lovelace, assets }, i) => (
        <li key={i} style={{ height: `${ROW}px` }}>
          {lovelace === undefined ? <span class="note">unknown</span> : <Ada lovelace={lovelace} />}
          <span class="note">
            {address === undefined ? name : (
              <a class="mono" href={hrefOf(pageOf("address", address))} title={address}>
                <bdi>{shortId(address.replace(/^addr(_test)?1/, ""), 6)}</bdi>
              </a>
            )}
            {assets > 0 && ` + ${assets} ${assets === 1 ? "asset" : "assets"}`}
          </span>
        </li>
      ))}
    </ol>
  );
}
