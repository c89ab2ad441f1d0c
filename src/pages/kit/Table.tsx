/// <reference lib="dom" />
/** Tables with paging; on a narrow screen each row becomes a card. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count } from "./amounts.tsx";
import { Empty } from "./states.tsx";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  /** Numbers are aligned to the right. */
  readonly align?: "right";
  /** Width as a share of the table or in pixels: `20%`, `120px`. With one column's width given, the layout is fixed. */
  readonly width?: string;
  /** Makes the heading a button that sorts by this order. */
  readonly compare?: (a: Row, b: Row) => number;
}

interface Sorting {
  readonly column: number;
  readonly down: boolean;
}

/** Rows on a page by default. */
const PAGE = 50;

/** A table of rows that are all here. It shows a page of them at a time, so that 10,000 rows cost no more than 50. */
export function Table<Row>({ caption, rows, keyOf, columns, pageSize = PAGE, empty, showCaption = false }: {
  /** What the rows are, for screen readers (and above the table with `showCaption`). */
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly pageSize?: number;
  /** What is said when there are no rows; of a text, the first sentence is the title. */
  readonly empty?: ComponentChildren;
  readonly showCaption?: boolean;
}) {
  const [wanted, setPage] = useState(0);
  const [sorting, setSorting] = useState<Sorting>();
  const pages = Math.max(1, Math.ceil(rows.length / pageSize));
  const page = Math.min(wanted, pages - 1);
  useEffect(() => {
    if (wanted !== page) setPage(page);
  }, [wanted, page]);
  if (rows.length === 0) {
    if (typeof empty === "object") return <>{empty}</>;
    const [first = "", ...rest] = String(empty ?? "Nothing here yet.").split(/(?<=\.) /);
    return <Empty title={first}>{rest.length === 0 ? undefined : rest.join(" ")}</Empty>;
  }
  const { column = 0, down = false } = sorting ?? {};
  const compare = sorting && columns[column]?.compare;
  const sorted = compare === undefined ? rows : [...rows].sort((a, b) => down ? compare(b, a) : compare(a, b));
  const first = page * pageSize;
  const visible = sorted.slice(first, first + pageSize);
  const fixed = columns.some(({ width }) => width !== undefined);
  return (
    <>
      <div class="scroll">
        <table class={fixed ? "cards fixed" : "cards"}>
          <caption class={showCaption ? "" : "sr"}>{caption}</caption>
          <thead>
            <tr>
              {columns.map((column, i) => (
                <HeadCell
                  key={column.title}
                  column={column}
                  down={sorting?.column === i ? sorting.down : undefined}
                  sort={(down) => setSorting({ column: i, down })}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {visible.map((row, i) => (
              <tr key={keyOf(row)}>
                {columns.map((column) => (
                  <td key={column.title} data-label={column.title} class={column.align ?? ""}>
                    {column.cell(row, first + i)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <Pager
          text={`${count(first + 1)}–${count(first + visible.length)} of ${count(rows.length)}`}
          label={caption}
          previous={page > 0 ? () => setPage(page - 1) : undefined}
          next={page < pages - 1 ? () => setPage(page + 1) : undefined}
          first={page > 1 ? () => setPage(0) : undefined}
          last={page < pages - 2 ? () => setPage(pages - 1) : undefined}
        />
      )}
    </>
  );
}

/** The heading of a column. */
function HeadCell<Row>({ column, down, sort }: {
  readonly column: Column<Row>;
  /** The direction that the rows are sorted in by this column; undefined where they are not. */
  readonly down: boolean | undefined;
  readonly sort: (down: boolean) => void;
}) {
  return (
    <th
      scope="col"
      class={column.align ?? ""}
      style={column.width === undefined ? {} : { width: column.width }}
      {...(down === undefined ? {} : { "aria-sort": down ? "descending" as const : "ascending" as const })}
    >
      {column.compare === undefined ? column.title : (
        <button
          type="button"
          class="sort"
          onClick={() => sort(down === false)}
        >
          {column.title}
          {down !== undefined && <span aria-hidden="true">{down ? "↓" : "↑"}</span>}
        </button>
      )}
    </th>
  );
}

/** Buttons to the pages beside the one that is shown. */
export function Pager({ text, label, previous, next, first, last }: {
  /** Which rows are shown. */
  readonly text?: string;
  readonly label: string;
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
  readonly first?: (() => void) | undefined;
  readonly last?: (() => void) | undefined;
}) {
  if (text === undefined && previous === undefined && next === undefined) return null;
  const button = (name: string, call: (() => void) | undefined) => (
    <button
      type="button"
      class="small"
      disabled={call === undefined}
      onClick={() => call?.()}
    >
      {name}
    </button>
  );
  return (
    <nav class="pager" aria-label={`Pages of: ${label}`}>
      {text !== undefined && <span class="note" role="status">{text}</span>}
      <span class="buttons">
        {(first ?? last) && button("First", first)}
        {button("Previous", previous)}
        {button("Next", next)}
        {(first ?? last) && button("Last", last)}
      </span>
    </nav>
  );
}
