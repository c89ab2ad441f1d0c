/** A transaction in full, and why it was refused. */
import { Ada, Amount, count } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Id, SiteLink } from "../kit/Id.tsx";
import { Badge, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Table } from "../kit/Table.tsx";
import { setting } from "../kit/setting.ts";
import { actorsOf } from "../kit/sites.ts";
import { Ago } from "../kit/time.tsx";
import { JsonTree } from "../kit/values.tsx";
import { get, part, type ScriptRuns, type Transaction } from "./api.ts";
import { STATUS } from "./departed.tsx";
import { causesFirst } from "./names.ts";
import { FlowPanel } from "./flow.tsx";
import { AssetLink, Ref, Sentence } from "./links.tsx";
import { Thing } from "./lists.tsx";
import { live, moment } from "./live.ts";
import { Inputs, More, MOST, OutputCard } from "./outputCards.tsx";
import { Scripts } from "./scriptRuns.tsx";
import { Details } from "./transactionDetails.tsx";
import { Parts } from "./transactionParts.tsx";

export function TransactionView({ params: { hash = "" } }: ViewProps) {
  const data = useData((signal) => get<Transaction>(`/transactions/${part(hash)}`, signal), [hash, moment.value], {
    keep: true,
  });
  const status = data.value?.status;
  const [name, tone] = status === undefined ? ["", "quiet" as const] : STATUS[status];
  return (
    <>
      <Heading title={`Transaction ${hash.slice(0, 8)}`} aside={status && <Badge tone={tone}>{name}</Badge>}>
        Transaction
      </Heading>
      <p class="subject">
        <Id value={data.value?.hash ?? hash} full name="transaction hash" />{" "}
        <SiteLink href={actorsOf(data.value?.hash ?? hash)}>Actors</SiteLink>
      </p>
      <Thing data={data} what="transaction" rows={10}>{(transaction) => <Whole transaction={transaction} />}</Thing>
    </>
  );
}

function Whole({ transaction }: { readonly transaction: Transaction }) {
  const { hash, departure, valid, problem, redeemers, metadata, mint, status } = transaction;
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
      {status !== "genesis" && problem === undefined && <Totals transaction={transaction} />}
      {status !== "genesis" && problem === undefined && <FlowPanel transaction={transaction} />}
      {problem === undefined && <InputsAndOutputs transaction={transaction} />}
      <div class="column parts">
        {redeemers.length > 0 && <Scripts transaction={transaction} runs={runs} />}
        {mint.length > 0 && <Minted mint={mint} />}
        <Parts transaction={transaction} />
        {metadata.length > 0 && <Metadata metadata={metadata} />}
        {status !== "genesis" && <Details transaction={transaction} />}
      </div>
    </>
  );
}

function Totals({ transaction }: { readonly transaction: Transaction }) {
  const { fee, inputs, outputs, size, redeemers } = transaction;
  const total = outputs.reduce((sum, { lovelace }) => sum + BigInt(lovelace), 0n);
  return (
    <Stats>
      <Stat name="Fee">
        <Ada lovelace={fee} />
      </Stat>
      <Stat name="Outputs" note={`${inputs.length} in, ${outputs.length} out`}>
        <Ada lovelace={total} />
      </Stat>
      <Stat name="Size" note="bytes">{count(size)}</Stat>
      <Stat name="Scripts" note={redeemers.length === 0 ? undefined : "runs"}>{count(redeemers.length)}</Stat>
    </Stats>
  );
}

function InputsAndOutputs({ transaction }: { readonly transaction: Transaction }) {
  const { inputs, outputs, departure, valid } = transaction;
  return (
    <div class="columns flow">
      <div>
        <Panel title={`Inputs (${inputs.length})`}>
          <Inputs of={inputs} label="Inputs" departed={departure !== undefined} />
        </Panel>
      </div>
      <div>
        <Panel title={`Outputs (${outputs.length})`}>
          <ol class="outputs" aria-label="Outputs">
            {outputs.slice(0, MOST).map((output, i) => (
              <li key={i}>
                <OutputCard
                  output={output}
                  head={<span class="note">{`#${i}`}</span>}
                  departed={departure !== undefined || !valid}
                />
              </li>
            ))}
          </ol>
          <More count={outputs.length} />
        </Panel>
      </div>
    </div>
  );
}

function Minted({ mint }: Pick<Transaction, "mint">) {
  return (
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
  );
}

function Metadata({ metadata }: Pick<Transaction, "metadata">) {
  return (
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
  );
}

/** Why a transaction is in no block. */
function Why({ transaction: { departure, inputs } }: { readonly transaction: Transaction }) {
  if (!departure) return null;
  const { kind, why, reasons, at, slot } = departure;
  const title =
    { refused: "Why it was refused", dropped: "Why it left the mempool", withdrawn: "Why it is in no block" }[kind];
  const spent = inputs.flatMap(({ txHash, index, output }) =>
    output?.spentBy === undefined ? [] : [{ txHash, index, spentBy: output.spentBy }]
  );
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
            {causesFirst(reasons).map(({ name, text }, i) => (
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
            {spent.slice(0, 20).map(({ txHash, index, spentBy }) => (
              <li key={`${txHash}#${index}`}>
                <span class="mono">{`${txHash.slice(0, 10)}…#${index}`}</span> was spent by{" "}
                <Ref kind="transaction" id={spentBy} />
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
