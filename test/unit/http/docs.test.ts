/** The API page's document: each operation of each service is in a group. */
import { describe, expect, it } from "vitest";
import { API_GROUPS } from "#src/devnet/serve/blockfrost/groups.ts";
import { type Group, withGroups } from "#src/http/groups.ts";
import { edgesAlone } from "../../support/service/edges.ts";

interface Tagged {
  readonly tags?: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags?: readonly string[] }>>>>;
}

const operations = ({ paths }: Tagged) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).filter(([method]) => method !== "servers").map(([method, { tags }]) => ({
      name: `${method} ${path}`,
      tags,
    }))
  );

describe("groups of operations", () => {
  it.each(edgesAlone())("have every operation of $name, and each group has one", async ({ app, prefix, headers }) => {
    const document = await (await app.request(`${prefix}/openapi.json`, { headers })).json() as Tagged;
    const all = operations(document);
    expect(all.filter(({ tags }) => tags?.length !== 1)).toEqual([]);
    const named = document.tags?.map(({ name }) => name) ?? [];
    expect(new Set(named).size).toBe(named.length);
    expect(new Set(all.flatMap(({ tags }) => tags ?? []))).toEqual(new Set(named));
  });

  it("take a path in their order, and leave others as they are", () => {
    const groups: Group[] = [["One", /^\/a\/b/, "First."], ["Two", /^\/a/, "Second."], ["None", /^\/x/, "Third."]];
    const operation = { responses: {} };
    const paths = { "/a/b": { get: operation, servers: [] }, "/a": { post: operation }, "/c": { get: operation } };
    const document = { openapi: "3.1.0", info: { title: "", version: "" }, paths };
    expect(withGroups(document as never, groups)).toEqual({
      ...document,
      tags: [{ name: "One", description: "First." }, { name: "Two", description: "Second." }],
      paths: {
        "/a/b": { get: { ...operation, tags: ["One"] }, servers: [] },
        "/a": { post: { ...operation, tags: ["Two"] } },
        "/c": { get: operation },
      },
    });
  });

  it("of the Blockfrost API take each path once", () => {
    for (const path of ["/api/v1/accounts/{a}", "/api/v1/txs/{hash}", "/api/v1/tx/submit", "/api/v1/"]) {
      expect(API_GROUPS.filter(([, paths]) => paths.test(path))).toHaveLength(1);
    }
  });
});
