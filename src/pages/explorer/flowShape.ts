/** The flow of a transaction's ada as a picture: what comes in at the left, what goes out at the right. */
import type { Transaction } from "./api.ts";

/** One end of a flow. */
export interface FlowEnd {
  readonly name: string;
  /** Its address, where it is an output. */
  readonly address?: string;
  /** Undefined: the output is not known. */
  readonly lovelace: bigint | undefined;
  /** Number of assets beside ada. */
  readonly assets: number;
}

export interface Flow {
  readonly from: readonly FlowEnd[];
  readonly to: readonly FlowEnd[];
}

/** Most ends of a side; the last one stands for the rest. */
const MOST = 8;

/** What a transaction takes and gives. Where a script failed, that is its collateral. */
export function flowOf(transaction: Transaction): Flow {
  const { inputs, outputs, collateral, collateralReturn, fee, deposit = 0, withdrawals, valid, donation = 0 } =
    transaction;
  const taken = (valid ? inputs : collateral).map(({ output, index, txHash }): FlowEnd => ({
    name: `${txHash.slice(0, 8)}…#${index}`,
    ...(output === undefined ? {} : { address: output.address }),
    lovelace: output && BigInt(output.lovelace),
    assets: output === undefined ? 0 : Object.keys(output.assets).length,
  }));
  const given = (valid ? outputs : collateralReturn === undefined ? [] : [collateralReturn])
    .map(({ address, lovelace, assets }, i): FlowEnd => ({
      name: valid ? `#${i}` : "Returned collateral",
      address,
      lovelace: BigInt(lovelace),
      assets: Object.keys(assets).length,
    }));
  const part = (name: string, lovelace: bigint): FlowEnd[] => lovelace > 0n ? [{ name, lovelace, assets: 0 }] : [];
  if (!valid) {
    const sum = (ends: readonly FlowEnd[]) => ends.reduce((total, end) => total + (end.lovelace ?? 0n), 0n);
    const known = taken.every(({ lovelace }) => lovelace !== undefined);
    return {
      from: shortened(taken),
      to: [...shortened(given), ...part("Fee", known ? sum(taken) - sum(given) : BigInt(fee))],
    };
  }
  const locked = BigInt(deposit);
  const withdrawn = withdrawals.reduce((total, { lovelace }) => total + BigInt(lovelace), 0n);
  return {
    from: [...shortened(taken), ...part("Withdrawn rewards", withdrawn), ...part("Returned deposits", -locked)],
    to: [
      ...shortened(given),
      ...part("Deposits", locked),
      ...part("Donation", BigInt(donation)),
      ...part("Fee", BigInt(fee)),
    ],
  };
}

function shortened(ends: readonly FlowEnd[]): readonly FlowEnd[] {
  if (ends.length <= MOST) return ends;
  const rest = ends.slice(MOST - 1);
  const known = rest.every(({ lovelace }) => lovelace !== undefined);
  return [...ends.slice(0, MOST - 1), {
    name: `${rest.length} more`,
    lovelace: known ? rest.reduce((total, { lovelace = 0n }) => total + lovelace, 0n) : undefined,
    assets: 0,
  }];
}

/** Height of an end, and of the picture's unit, in pixels. */
export const ROW = 48;
/** Widest and narrowest band, in pixels. */
const WIDEST = 34;
const NARROWEST = 1.5;

/** Bands from each end to the middle, as SVG paths in a picture that is 100 wide; they are as wide as their amount. */
export function bandsOf({ from, to }: Flow): { readonly height: number; readonly paths: readonly string[] } {
  const height = Math.max(from.length, to.length, 1) * ROW;
  const amounts = (ends: readonly FlowEnd[]) => ends.map(({ lovelace = 0n }) => Number(lovelace));
  const [left, right] = [amounts(from), amounts(to)];
  const most = Math.max(...left, ...right, 1);
  const total = Math.max(left.reduce((a, b) => a + b, 0), right.reduce((a, b) => a + b, 0), 1);
  const scale = Math.min(WIDEST / most, height * 0.8 / total);
  const side = (values: readonly number[], edge: number) => {
    const widths = values.map((value) => Math.max(NARROWEST, value * scale));
    let middle = (height - widths.reduce((a, b) => a + b, 0)) / 2;
    const top = (height - values.length * ROW) / 2;
    return widths.map((width, i) => {
      const start = top + (i + 0.5) * ROW - width / 2;
      const end = middle;
      middle += width;
      const half = (edge + 50) / 2;
      const at = (n: number) => n.toFixed(1);
      return `M${edge} ${at(start)}C${half} ${at(start)} ${half} ${at(end)} 50 ${at(end)}V${at(end + width)}` +
        `C${half} ${at(end + width)} ${half} ${at(start + width)} ${edge} ${at(start + width)}Z`;
    });
  };
  return { height, paths: [...side(left, 0), ...side(right, 100)] };
}
