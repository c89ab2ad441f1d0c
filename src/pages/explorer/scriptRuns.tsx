/** The scripts that a transaction ran. */
import { count } from "../kit/amounts.tsx";
import { Meter } from "../kit/charts.tsx";
import type { Data } from "../kit/data.tsx";
import { Badge, Facts, Panel } from "../kit/parts.tsx";
import { Failure, Loading } from "../kit/states.tsx";
import { LongText } from "../kit/values.tsx";
import type { ScriptRuns, Transaction } from "./api.ts";
import { Linked, Ref } from "./links.tsx";
import { More, MOST } from "./outputCards.tsx";
import { FoldedData } from "./plutus.tsx";

const PURPOSES: Readonly<Record<string, string>> = {
  spend: "Spend an output",
  mint: "Mint or burn",
  cert: "Certificate",
  reward: "Withdraw rewards",
  vote: "Vote",
  propose: "Propose",
};

/** The runs of the scripts: what each decides about, its units, and its argument. */
export function Scripts(
  { transaction: { redeemers, scripts }, runs }: { readonly transaction: Transaction; readonly runs: Data<ScriptRuns> },
) {
  const languages = new Map(scripts.map((script) => [script.hash, script]));
  return (
    <Panel
      title={`Scripts that ran (${redeemers.length})`}
      aside={<span class="note">spent: measured by this devnet; limit: what the transaction paid for</span>}
    >
      {runs.value === undefined && runs.error === undefined && <Loading rows={1} label="The scripts are run again" />}
      {runs.error !== undefined && <Failure error={runs.error} retry={runs.reload} />}
      {runs.value?.problem !== undefined && <p class="alert" dir="auto">{runs.value.problem}</p>}
      <ol class="runs">
        {redeemers.slice(0, MOST).map((redeemer) => {
          const { purpose, index, script, target, limit, data, contract } = redeemer;
          const run = runs.value?.runs.find((one) => one.purpose === purpose && one.index === index);
          const used = script === undefined ? undefined : languages.get(script);
          return (
            <li key={`${purpose} ${index}`} class="run">
              <div class="output-head">
                <b>{`${PURPOSES[purpose] ?? purpose} #${index}`}</b>
                {data.meaning && <span>{data.meaning.name}</span>}
                {contract !== undefined && <Badge tone="good">{contract}</Badge>}
                {run?.problem !== undefined && <Badge tone="bad">fails</Badge>}
              </div>
              <Facts
                pairs={[
                  [
                    "About",
                    target === undefined
                      ? undefined
                      : purpose === "mint"
                      ? <Ref kind="policy" id={target} />
                      : <Linked text={target} />,
                  ],
                  [
                    "Script",
                    script === undefined ? undefined : (
                      <span>
                        <Ref kind="script" id={script} />
                        {used && (
                          <span class="note">
                            {` ${used.language}, ${count(used.bytes)} bytes, ${
                              used.source === "reference" ? "from a referenced output" : "in the transaction"
                            }`}
                          </span>
                        )}
                      </span>
                    ),
                  ],
                  [
                    "Memory",
                    <Units spent={run?.spent?.memory} limit={limit.memory} name={`Memory of ${purpose} ${index}`} />,
                  ],
                  [
                    "CPU steps",
                    <Units spent={run?.spent?.steps} limit={limit.steps} name={`CPU steps of ${purpose} ${index}`} />,
                  ],
                ]}
              />
              {run?.problem !== undefined && (
                <div class="run-problem">
                  <LongText text={run.problem} />
                  {run.logs.length > 0 && (
                    <>
                      <p class="note">The script traced:</p>
                      <LongText text={run.logs.join("\n")} />
                    </>
                  )}
                </div>
              )}
              <FoldedData data={data} name="Redeemer" />
            </li>
          );
        })}
      </ol>
      <More count={redeemers.length} />
    </Panel>
  );
}

function Units(
  { spent, limit, name }: { readonly spent: number | undefined; readonly limit: number; readonly name: string },
) {
  if (spent === undefined) return <span>{`limit ${count(limit)}`}</span>;
  const over = BigInt(spent) > BigInt(limit);
  return (
    <span class="units">
      <Meter value={Number(spent)} max={Number(limit)} label={name} />
      <span class={over ? "over" : ""}>
        {`${count(spent)} of ${count(limit)}`}
        <span class="note">{limit === 0 ? "" : ` (${Math.round(Number(spent) * 100 / Number(limit))} %)`}</span>
        {over && " — over the limit"}
      </span>
    </span>
  );
}
