/** A transaction in full, and why it was refused. */
import type { ComponentChildren } from "preact";
import { Ada, Amount, count } from "../kit/amounts.tsx";
import { Meter } from "../kit/charts.tsx";
import { type Data, useData } from "../kit/data.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { Badge, Facts, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Failure, Loading } from "../kit/states.tsx";
import { Table } from "../kit/Table.tsx";
import { setting } from "../kit/setting.ts";
import { Ago, DateTime } from "../kit/time.tsx";
import { JsonTree, LongText } from "../kit/values.tsx";
import { get, type Input, type Output, part, type ScriptRuns, type Transaction } from "./api.ts";
import { STATUS } from "./departed.tsx";
import { AssetLink, assetsIn, Holding, Linked, Ref, Sentence } from "./links.tsx";
import { Thing } from "./lists.tsx";
import { live, moment } from "./live.ts";
import { pageOf } from "./names.ts";
import { FoldedData } from "./plutus.tsx";

export function TransactionView({ params: { hash = "" } }: ViewProps) {
  const data = useData((signal) => get<Transaction>(`/transactions/${part(hash)}`, signal), [hash, moment.value], {
    keep: true,
  });
  const status = data.value?.status;
  const [name, tone] = status === undefined ? ["", "quiet" as const] : STATUS[status]!;
  return (
    <>
      <Heading title={`Transaction ${hash.slice(0, 8)}`} aside={status && <Badge tone={tone}>{name}</Badge>}>
        Transaction
      </Heading>
      <p class="subject">
        <Id value={data.value?.hash ?? hash} full name="transaction hash" />
      </p>
      <Thing data={data} what="transaction" rows={10}>{(transaction) => <Whole transaction={transaction} />}</Thing>
    </>
  );
}

function Whole({ transaction }: { readonly transaction: Transaction }) {
  const { hash, departure, valid, problem, redeemers, metadata, mint, status } = transaction;
  const total = transaction.outputs.reduce((sum, { lovelace }) => sum + BigInt(lovelace), 0n);
  const runs = useData<ScriptRuns>(
    (signal) => redeemers.length === 0 ? Promise.resolve({ runs: [] }) : get(`/transactions/${hash}/runs`, signal),
    [hash, status],
    { keep: true },
  );
  return (
    <>
      {departure && <Why transaction={transaction} />}
      {status === "in_mempool" && <WaitingNote transaction={transaction} />}
      {problem !== undefined && (
        <p class="alert" role="alert" dir="auto">{`These bytes cannot be decoded: ${problem}`}</p>
      )}
      {!valid && (
        <p class="alert">
          A script of this transaction fails, so the ledger took only its collateral. Its inputs were not spent and its
          outputs were not created.
        </p>
      )}
      {status !== "genesis" && problem === undefined && (
        <Stats>
          <Stat name="Fee">
            <Ada lovelace={transaction.fee} />
          </Stat>
          <Stat name="Outputs" note={`${transaction.inputs.length} in, ${transaction.outputs.length} out`}>
            <Ada lovelace={total} />
          </Stat>
          <Stat name="Size" note="bytes">{count(transaction.size)}</Stat>
          <Stat name="Scripts" note={redeemers.length === 0 ? undefined : "runs"}>{count(redeemers.length)}</Stat>
        </Stats>
      )}
      {problem === undefined && (
        <div class="columns flow">
          <div>
            <Panel title={`Inputs (${transaction.inputs.length})`}>
              <Inputs of={transaction.inputs} label="Inputs" departed={departure !== undefined} />
            </Panel>
          </div>
          <div>
            <Panel title={`Outputs (${transaction.outputs.length})`}>
              <ol class="outputs" aria-label="Outputs">
                {transaction.outputs.slice(0, MOST).map((output, i) => (
                  <li key={i}>
                    <OutputCard
                      output={output}
                      head={<span class="note">{`#${i}`}</span>}
                      departed={departure !== undefined || !valid}
                    />
                  </li>
                ))}
              </ol>
              <More count={transaction.outputs.length} />
            </Panel>
          </div>
        </div>
      )}
      <div class="column parts">
        {redeemers.length > 0 && <Scripts transaction={transaction} runs={runs} />}
        {mint.length > 0 && (
          <Panel title="Minted and burned">
            <Table
              caption="Minted and burned assets"
              rows={mint}
              keyOf={({ unit }) => unit}
              columns={[
                { title: "Asset", cell: ({ unit }) => <AssetLink unit={unit} /> },
                { title: "Fingerprint", cell: ({ fingerprint }) => <Id value={fingerprint} name="fingerprint" /> },
                { title: "Quantity", align: "right", cell: ({ quantity }) => <Amount amount={quantity} signed /> },
              ]}
            />
          </Panel>
        )}
        <Parts transaction={transaction} />
        {metadata.length > 0 && (
          <Panel title="Metadata">
            {metadata.map(({ label, json }) => (
              <div key={label} class="metadata">
                <p class="note">{`Label ${label}`}</p>
                {json === null
                  ? <p class="note">It is nested too deeply to be shown; its bytes are in those of the transaction.</p>
                  : <JsonTree value={typeof json === "object" ? json : { value: json }} />}
              </div>
            ))}
          </Panel>
        )}
        {status !== "genesis" && <Details transaction={transaction} />}
      </div>
    </>
  );
}

/** Inputs and outputs that are shown; a transaction has 16 kB. */
const MOST = 200;
const More = ({ count: n }: { readonly count: number }) =>
  n > MOST ? <p class="note">{`and ${n - MOST} more, in the bytes below`}</p> : null;

/** Why a transaction is in no block. */
function Why({ transaction: { departure, inputs } }: { readonly transaction: Transaction }) {
  if (!departure) return null;
  const { kind, why, reasons, at, slot } = departure;
  const title =
    { refused: "Why it was refused", dropped: "Why it left the mempool", withdrawn: "Why it is in no block" }[kind];
  const spent = inputs.filter(({ output }) => output?.spentBy !== undefined);
  const unknown = inputs.filter(({ output }) => output === undefined);
  return (
    <section class="panel why" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        <span class="note">
          <Ago at={at} />
          {`, slot ${count(slot)}`}
        </span>
      </div>
      {reasons.length === 0 ? <p>{`${why}. Submit it again to put it back into the mempool.`}</p> : (
        <>
          {kind === "dropped" && <p class="note">{`${why}:`}</p>}
          <ul class="reasons">
            {reasons.map(({ name, text }, i) => (
              <li key={i}>
                <p>
                  <Sentence text={text} />
                </p>
                <p class="note">
                  Rule of the ledger: <bdi class="mono">{name}</bdi>
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
      {spent.length > 0 && (
        <div class="hint">
          <p>{spent.length === 1 ? "One input is spent already:" : `${spent.length} inputs are spent already:`}</p>
          <ul>
            {spent.slice(0, 20).map(({ txHash, index, output }) => (
              <li key={`${txHash}#${index}`}>
                <span class="mono">{`${txHash.slice(0, 10)}…#${index}`}</span> was spent by{" "}
                <Ref kind="transaction" id={output!.spentBy!} />
              </li>
            ))}
          </ul>
          <p class="note">Build the transaction again from outputs that are unspent now.</p>
        </div>
      )}
      {unknown.length > 0 && (
        <p class="hint">
          {`${
            unknown.length === 1 ? "One input is" : `${unknown.length} inputs are`
          } of no transaction that this devnet has. `}
          It may have been removed by a rollback, or belongs to another network.
        </p>
      )}
    </section>
  );
}

/** What a waiting transaction waits for. */
function WaitingNote({ transaction: { validity: { from, before } } }: { readonly transaction: Transaction }) {
  const slot = live.value?.currentSlot;
  if (slot === undefined) return null;
  if (from !== undefined && slot < from) {
    return (
      <p class="alert warn">
        {`It can be in a block from slot ${count(from)} on; the current slot is ${count(slot)}.`}
      </p>
    );
  }
  if (setting("block-ms") === "0") {
    return (
      <p class="alert info">
        <span>
          It waits for a block. This devnet makes blocks only on request: <a href={hrefOf("/tools")}>make one</a>.
        </span>
      </p>
    );
  }
  if (before === undefined) return null;
  return (
    <p class="alert info">
      {slot < before
        ? `It waits for a block, for ${count(before - slot)} more slots at most.`
        : `Its validity ended in slot ${count(before)}: the next block drops it.`}
    </p>
  );
}

function Inputs(
  { of, label, departed = false }: {
    readonly of: readonly Input[];
    readonly label: string;
    readonly departed?: boolean;
  },
) {
  return (
    <>
      <ol class="outputs" aria-label={label}>
        {of.slice(0, MOST).map(({ txHash, index, output }) => {
          const head = (
            <span class="from">
              <span class="note">from</span> <Ref kind="transaction" id={txHash} ends={6} />
              <span class="mono">{`#${index}`}</span>
            </span>
          );
          return (
            <li key={`${txHash}#${index}`}>
              {output === undefined
                ? (
                  <div class="output">
                    {head}
                    <p class="note">Unknown output: this devnet has no such transaction.</p>
                  </div>
                )
                : <OutputCard output={output} head={head} departed={departed} input />}
            </li>
          );
        })}
      </ol>
      <More count={of.length} />
    </>
  );
}

function OutputCard({ output, head, departed = false, input = false }: {
  readonly output: Output;
  readonly head: ComponentChildren;
  readonly departed?: boolean;
  readonly input?: boolean;
}) {
  const { address, contract, datum, datumHash, script, spentBy, inline } = output;
  return (
    <div class="output">
      <div class="output-head">
        {head}
        {contract !== undefined && <Badge tone="good">{contract}</Badge>}
        {!departed && !input && (spentBy === undefined ? <Badge>unspent</Badge> : (
          <span class="note">
            spent by <Ref kind="transaction" id={spentBy} ends={4} />
          </span>
        ))}
        {input && spentBy !== undefined && <span class="badge bad">spent by another</span>}
      </div>
      <Ref kind="address" id={address} ends={12} />
      <Holding lovelace={output.lovelace} assets={assetsIn(output.assets)} />
      {datum !== undefined && <FoldedData data={datum} name={inline ? "Datum" : "Datum (given by its hash)"} />}
      {datum === undefined && datumHash !== undefined && (
        <p class="note">
          Datum hash <Id value={datumHash} href={hrefOf(pageOf("datum", datumHash)!)} name="datum hash" />
        </p>
      )}
      {script !== undefined && (
        <p class="note">
          {`Holds the ${script.language} script `}
          <Ref kind="script" id={script.hash} ends={6} />
        </p>
      )}
    </div>
  );
}

const PURPOSES: Readonly<Record<string, string>> = {
  spend: "Spend an output",
  mint: "Mint or burn",
  cert: "Certificate",
  reward: "Withdraw rewards",
  vote: "Vote",
  propose: "Propose",
};

/** The runs of the scripts: what each decides about, its units, and its argument. */
function Scripts(
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

/** Lovelace among the members of a certificate or a proposal. */
const LOVELACE = new Set(["deposit", "refund", "pledge", "cost"]);

function Members({ of }: { readonly of: Readonly<Record<string, string | number>> }) {
  return (
    <Facts
      pairs={Object.entries(of).map(([name, value]) => [
        name.length > 40 ? `${name.slice(0, 16)}…${name.slice(-6)}` : name,
        typeof value === "string"
          ? <Linked text={value} />
          : LOVELACE.has(name) || name.startsWith("stake")
          ? <Ada lovelace={value} />
          : String(value),
      ])}
    />
  );
}

function Parts({ transaction }: { readonly transaction: Transaction }) {
  const {
    certificates,
    withdrawals,
    votes,
    proposals,
    references,
    collateral,
    collateralReturn,
    totalCollateral,
    valid,
  } = transaction;
  return (
    <>
      {certificates.length > 0 && (
        <Panel title="Certificates">
          <ol class="runs">
            {certificates.slice(0, MOST).map(({ kind, members }, i) => (
              <li key={i} class="run">
                <b>{sentenceCase(kind)}</b>
                <Members of={members} />
              </li>
            ))}
          </ol>
          <More count={certificates.length} />
        </Panel>
      )}
      {withdrawals.length > 0 && (
        <Panel title="Withdrawals of rewards">
          <Table
            caption="Withdrawals"
            rows={withdrawals}
            keyOf={({ address }) => address}
            columns={[
              { title: "Stake address", cell: ({ address }) => <Ref kind="account" id={address} /> },
              { title: "Amount", align: "right", cell: ({ lovelace }) => <Ada lovelace={lovelace} /> },
            ]}
          />
        </Panel>
      )}
      {votes.length > 0 && (
        <Panel title="Votes">
          <Table
            caption="Votes"
            rows={votes}
            keyOf={({ voter, action }) => `${voter} ${action.txHash}#${action.index}`}
            columns={[
              {
                title: "Voter",
                cell: ({ voter, role }) => (
                  <span>
                    {`${role} `}
                    <Linked text={voter} />
                  </span>
                ),
              },
              {
                title: "Action",
                cell: ({ action }) => (
                  <span>
                    <Ref kind="transaction" id={action.txHash} ends={6} />
                    {`#${action.index}`}
                  </span>
                ),
              },
              {
                title: "Vote",
                cell: ({ vote }) => (
                  <Badge tone={vote === "yes" ? "good" : vote === "no" ? "bad" : "quiet"}>{vote}</Badge>
                ),
              },
            ]}
          />
        </Panel>
      )}
      {proposals.length > 0 && (
        <Panel title="Proposals">
          <ol class="runs">
            {proposals.map(({ kind, deposit, account, members }, i) => (
              <li key={i} class="run">
                <b>{sentenceCase(kind)}</b>
                <Facts
                  pairs={[["Deposit", <Ada lovelace={deposit} />], ["Returns to", <Ref kind="account" id={account} />]]}
                />
                <Members of={members} />
              </li>
            ))}
          </ol>
        </Panel>
      )}
      {(references.length > 0 || collateral.length > 0) && (
        <div class="columns flow">
          {collateral.length > 0 && (
            <div>
              <Panel
                title={`Collateral (${collateral.length})`}
                aside={<span class="note">{valid ? "not taken: all scripts agree" : "taken"}</span>}
              >
                <Inputs of={collateral} label="Collateral" />
                {totalCollateral !== undefined && (
                  <p class="note">
                    At most <Ada lovelace={totalCollateral} /> can be taken.
                  </p>
                )}
                {collateralReturn !== undefined && (
                  <>
                    <p class="note">What would return:</p>
                    <OutputCard output={collateralReturn} head={null} departed />
                  </>
                )}
              </Panel>
            </div>
          )}
          {references.length > 0 && (
            <div>
              <Panel
                title={`Reference inputs (${references.length})`}
                aside={<span class="note">read, not spent</span>}
              >
                <Inputs of={references} label="Reference inputs" departed />
              </Panel>
            </div>
          )}
        </div>
      )}
    </>
  );
}

const sentenceCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function Details({ transaction }: { readonly transaction: Transaction }) {
  const { block, validity, deposit, requiredSigners, signatures, donation, cbor } = transaction;
  const until = (slot: number | undefined, time: number | undefined) =>
    slot === undefined ? "no limit" : (
      <span>
        {`slot ${count(slot)}`}
        {time !== undefined && (
          <span class="note">
            {` (`}
            <DateTime at={time} />
            {`)`}
          </span>
        )}
      </span>
    );
  const hashes = (list: readonly string[]) =>
    list.length === 0 ? undefined : (
      <ul>
        {list.slice(0, 50).map((one) => (
          <li key={one}>
            <Id value={one} name="key hash" />
          </li>
        ))}
      </ul>
    );
  return (
    <Panel title="Details">
      <Facts
        pairs={[
          [
            "Block",
            block && (
              <span>
                <a href={hrefOf(pageOf("block", block.hash)!)}>{count(block.height)}</a>
                <span class="note">
                  {`, transaction ${block.index} of it, ${count(block.confirmations)} blocks after it`}
                </span>
              </span>
            ),
          ],
          [
            "Time",
            block && (
              <span>
                <DateTime at={block.time} />{" "}
                <span class="note">
                  <Ago at={block.time} />
                </span>
              </span>
            ),
          ],
          ["Valid from", until(validity.from, validity.fromTime)],
          ["Valid until", until(validity.before, validity.beforeTime)],
          ["Deposit", deposit === undefined || BigInt(deposit) === 0n ? undefined : <Ada lovelace={deposit} signed />],
          ["Donation", donation === undefined ? undefined : <Ada lovelace={donation} />],
          ["Signed by", hashes(signatures)],
          ["Required signers", hashes(requiredSigners)],
        ]}
      />
      <details class="folded">
        <summary>{`Bytes (CBOR, ${count(cbor.length / 2)} bytes)`}</summary>
        <div class="value-bar">
          <button type="button" class="small" onClick={() => void copyText(cbor, "Copied the bytes")}>Copy</button>
        </div>
        <LongText text={cbor} mono />
      </details>
    </Panel>
  );
}
