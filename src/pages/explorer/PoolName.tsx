/** Pools by their names, which are read once for the whole page. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hrefOf } from "../kit/router.ts";
import { get, type Pool } from "./api.ts";
import { Ref } from "./links.tsx";
import { pageOf } from "./names.ts";

const names = signal<ReadonlyMap<string, string>>(new Map());
let asked = false;

async function readNames(): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    const { pools } = await get<{ pools: readonly Pool[] }>("/pools");
    names.value = new Map(pools.flatMap(({ id, name, ticker }) => {
      const shown = ticker ?? name;
      return shown === undefined ? [] : [[id, String(shown)]];
    }));
  } catch {
    // without names the ids are shown
    asked = false;
  }
}

/** A pool as a link: its ticker or name, else its id. */
export function PoolName({ id }: { readonly id: string }) {
  useEffect(() => void readNames(), []);
  const name = names.value.get(id);
  if (name === undefined) return <Ref kind="pool" id={id} ends={4} />;
  return (
    <a href={hrefOf(pageOf("pool", id))} title={id}>
      <bdi>{name}</bdi>
    </a>
  );
}
