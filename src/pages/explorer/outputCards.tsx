/** Inputs and outputs of a transaction. */
import type { ComponentChildren } from "preact";
import { Badge } from "../kit/parts.tsx";
import { Id } from "../kit/Id.tsx";
import { hrefOf } from "../kit/router.ts";
import type { Input, Output } from "./api.ts";
import { assetsIn, Holding, Ref } from "./links.tsx";
import { pageOf } from "./names.ts";
import { FoldedData } from "./plutus.tsx";

/** Inputs and outputs that are shown; a transaction has 16 kB. */
export const MOST = 200;
/** Says how many are not shown. */
export const More = ({ count: n }: { readonly count: number }) =>
  n > MOST ? <p class="note">{`and ${n - MOST} more, in the bytes below`}</p> : null;

export function Inputs(
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

/** An output: where it is, what it holds, and what spent it. */
export function OutputCard({ output, head, departed = false, input = false }: {
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
          Datum hash <Id value={datumHash} href={hrefOf(pageOf("datum", datumHash))} name="datum hash" />
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
