/** What a text may name, where it is not exactly one thing. */
import { Loaded, useData } from "../kit/data.tsx";
import { Heading, Panel } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { shortId } from "../kit/Id.tsx";
import { Empty } from "../kit/states.tsx";
import { find } from "./finder.tsx";
import { pageOf } from "./names.ts";

export function SearchView({ query }: ViewProps) {
  const text = query.get("q") ?? "";
  const data = useData((signal) => find(text, signal), [text]);
  return (
    <>
      <Heading title={`Search: ${text.slice(0, 40)}`}>Search</Heading>
      <Panel title="Results">
        <p class="note searched">
          You searched for <bdi class="mono">{text}</bdi>
        </p>
        <Loaded data={data}>
          {({ hits, understood }) =>
            hits.length === 0
              ? (
                <Empty title="This devnet has nothing of this name.">
                  {understood === "" ? "" : `It looks like ${understood}. `}
                  You can search for a hash of a transaction, block, pool, policy, script or datum, an address, a stake
                  address or a pool's id, whole or by 6 characters or more of the beginning; for an asset's or a pool's
                  name, by 3 or more; for a height, slot or epoch ("slot 500"), a representative, a governance action,
                  and an asset's id or fingerprint.
                </Empty>
              )
              : (
                <ul class="hits">
                  {hits.map(({ kind, id, note }) => (
                    <li key={`${kind} ${id}`}>
                      <a href={hrefOf(pageOf(kind, id) ?? "/")}>{note}</a>
                      <bdi class="mono note" title={id}>{shortId(id, 14)}</bdi>
                    </li>
                  ))}
                </ul>
              )}
        </Loaded>
      </Panel>
    </>
  );
}
