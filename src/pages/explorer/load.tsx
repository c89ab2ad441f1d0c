/** The load of the newest blocks or epochs, and their fees, as charts. */
import { useState } from "preact/hooks";
import { adaText, count } from "../kit/amounts.tsx";
import { Bars } from "../kit/charts.tsx";
import { useData } from "../kit/data.tsx";
import { Choice, Panel } from "../kit/parts.tsx";
import { get, type Load } from "./api.ts";
import { Thing } from "./lists.tsx";
import { moment } from "./live.ts";

/** Blocks and epochs of a chart. */
const COUNT = { block: 100, epoch: 20 } as const;
type By = keyof typeof COUNT;

export function LoadPanel() {
  const [by, setBy] = useState<By>("block");
  const data = useData((signal) => get<Load>(`/load?by=${by}&count=${COUNT[by]}`, signal), [by, moment.value], {
    keep: true,
  });
  return (
    <Panel
      title="Load and fees"
      aside={
        <Choice
          label="Intervals of the charts"
          options={[["block", "Blocks"], ["epoch", "Epochs"]]}
          value={by}
          onChange={setBy}
        />
      }
    >
      <Thing data={data} what="block" rows={4}>{(load) => <Charts load={load} by={by} />}</Thing>
    </Panel>
  );
}

function Charts({ load: { rows }, by }: { readonly load: Load; readonly by: By }) {
  if (rows.length === 0) return <p class="note">There is no block yet.</p>;
  const axis = by === "block" ? "Block" : "Epoch";
  const shared = { axis, labels: rows.map(({ of }) => count(of)), height: 110 };
  const of = `of the newest ${by === "block" ? "blocks" : "epochs"}`;
  return (
    <div class="load">
      <Bars
        {...shared}
        label={`Bytes ${of}`}
        unit="bytes"
        least={1_000}
        series={[{ name: "Bytes", values: rows.map(({ bytes }) => bytes), colour: 1 }]}
      />
      <Bars
        {...shared}
        label={`Steps of scripts ${of}`}
        unit="steps"
        least={1_000_000}
        series={[{ name: "Script steps", values: rows.map(({ steps }) => steps), colour: 3 }]}
      />
      <Bars
        {...shared}
        label={`Fees ${of}`}
        unit="lovelace"
        least={500_000}
        show={adaText}
        series={[{ name: "Fees", values: rows.map(({ fees }) => fees), colour: 0 }]}
      />
    </div>
  );
}
