/** Lists and things of the index, with pages, and what is said where they are missing. */
import { elementAt } from "#src/base/present.ts";
import type { ComponentChildren } from "preact";
import { ApiError, type Query } from "#src/client/http.ts";
import { type Data, Loaded, type Pages, usePages } from "../kit/data.tsx";
import { Panel, Tabs } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { setting } from "../kit/setting.ts";
import { Empty } from "../kit/states.tsx";
import { type Column, Pager, Table } from "../kit/Table.tsx";
import { index } from "./api.ts";

/** Whether the devnet keeps an index of its chain. */
export const hasIndex = (): boolean => setting("index") !== "off";

/** Says that the index is off, and what that means. */
export function IndexOff() {
  return (
    <Empty title="The index of this devnet is off.">
      It was started with{" "}
      <code>--devnet-without index</code>, so blocks, addresses, assets, pools and epochs cannot be looked up. Start it
      without this option to see them. Transactions, the mempool and the tools work all the same.
    </Empty>
  );
}

/** The parts of a thing as tabs, and the one that the address names: the first one where it names none of them. */
export function Parts({ label, at, tab, tabs, children }: {
  readonly label: string;
  /** Address of the thing's view. */
  readonly at: string;
  readonly tab: string;
  /** Names by their value of `tab` in the query; that of the first one is "". */
  readonly tabs: readonly (readonly [id: string, name: string])[];
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <Tabs
        label={label}
        current={tab}
        tabs={tabs.map(([id, name]) => ({ id, name, href: hrefOf(id === "" ? at : `${at}?tab=${id}`) }))}
      />
      <Panel title={(tabs.find(([id]) => id === tab) ?? elementAt(tabs, 0))[1]}>{children}</Panel>
    </>
  );
}

/** A thing that may not be on the chain: what `children` makes of it, or that there is none. */
export function Thing<T>({ data, what, rows, children }: {
  readonly data: Data<T>;
  /** `transaction`, `block`. */
  readonly what: string;
  readonly rows?: number;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { error, value } = data;
  if (value === undefined && error instanceof ApiError) {
    if (error.code === "index_off") return <IndexOff />;
    // an id of another form is refused before it is looked for
    if (error.status === 404 || error.status === 400) {
      return (
        <Empty title={`This devnet has no such ${what}.`}>
          It may belong to another network, or a rollback or a reset removed it. Check the id, or search for another one
          above.
        </Empty>
      );
    }
  }
  return <Loaded data={data} {...(rows === undefined ? {} : { rows })}>{children}</Loaded>;
}

interface NumberedPage<T> {
  readonly rows: readonly T[];
  readonly page: number;
}

/** A list in the paths of Blockfrost, which are paged by numbers. */
export function useIndexPages<T>(
  path: string,
  dependencies: readonly unknown[],
  { count = 20, ...query }: Query & { readonly count?: number } = {},
): Pages<NumberedPage<T>> {
  return usePages<NumberedPage<T>>(
    async (cursor, signal) => {
      const page = Number(cursor ?? "1");
      return { rows: await index<T[]>(path, signal, { ...query, count, page }), page };
    },
    ({ rows, page }) => rows.length === count ? String(page + 1) : undefined,
    [path, ...dependencies],
  );
}

/** A table of a list that is read by pages. */
export function IndexTable<T>({ pages, caption, columns, keyOf, empty, reversed = false }: {
  readonly pages: Pages<{ readonly rows: readonly T[] }>;
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly empty: string;
  /** Whether the rows of a page are shown last first. */
  readonly reversed?: boolean;
}) {
  const { data, page, previous, next } = pages;
  return (
    <Thing data={data} what="list">
      {({ rows }) => (
        <>
          <Table
            caption={caption}
            rows={reversed ? rows.toReversed() : rows}
            keyOf={keyOf}
            columns={columns}
            pageSize={100}
            empty={empty}
          />
          {(previous !== undefined || next !== undefined) && (
            <Pager label={caption} text={`Page ${page + 1}`} previous={previous} next={next} />
          )}
        </>
      )}
    </Thing>
  );
}
