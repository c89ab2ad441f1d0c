/// <reference lib="dom" />
/** The log of tokens: its size, its newest checkpoint, and what its witnesses last said. */
import { count } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Facts, Panel } from "../kit/parts.tsx";
import { span } from "../kit/span.ts";
import { Ago } from "../kit/time.tsx";
import { get } from "./service.ts";
import type { TokenLog } from "./types.ts";

type Log = NonNullable<TokenLog["log"]>;

export function LogPanel() {
  const { value } = useData((signal) => get<TokenLog>("/log", signal), [], { everyMs: 10_000, remember: "log" });
  const log = value?.log;
  if (!log) return null;
  const { origin, size, checkpointMs, unlogged, witnesses } = log;
  return (
    <Panel title="Log of tokens" class="log">
      <Facts
        pairs={[
          ["Name", origin],
          ["Entries", count(size)],
          ["Newest checkpoint", checkpointMs === null ? "none yet" : `${span(checkpointMs)} ago`],
          ["Final states to append", count(unlogged)],
        ]}
      />
      {witnesses.length === 0 ? <p class="note">No witnesses are configured.</p> : (
        <ul class="lags witnesses">
          {witnesses.map((witness) => <Witness key={witness.url} size={size} witness={witness} />)}
        </ul>
      )}
    </Panel>
  );
}

function Witness({ size, witness }: { readonly size: number; readonly witness: Log["witnesses"][number] }) {
  const { url, signedAt, refusedAt, refusal } = witness;
  const refuses = refusedAt !== null && (signedAt === null || refusedAt > signedAt);
  return (
    <li class={refuses ? "warn" : "good"}>
      <span class="what">{url}</span>
      <span class="note">
        {signedAt === null ? "never signed" : (
          <>
            signed <Ago at={signedAt} />
          </>
        )}
        {refusedAt !== null && (
          <>
            ; refused <Ago at={refusedAt} />: {refusal}
          </>
        )}
      </span>
      <span class="number">{witness.size >= size ? "all signed" : `${count(size - witness.size)} to sign`}</span>
    </li>
  );
}
