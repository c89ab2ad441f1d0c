import { expect, it } from "vitest";
import { blockfrostOperations } from "#src/devnet/serve/blockfrost/app.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { describedOperations, describedQuery } from "../../../../support/blockfrost/blockfrostDescription.ts";

// declaring the operations reads nothing but the network
const network = { id: 0 };
const service = { devnet: { network, genesis: { network, terms: {} } }, store: {} } as unknown as BlockfrostService;
const operations = blockfrostOperations(service);

it("serves every operation that is described, except IPFS, NutLink and metrics", () => {
  const described = describedOperations().filter((one) => !/\/(ipfs|nutlink|metrics)/.test(one));
  expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(described.sort());
  expect(operations).toHaveLength(117);
});

it("takes the parameters of lists that are described", () => {
  const parameters = { paged: ["count", "page"], ordered: ["count", "order", "page"], store: [] };
  const ranged = ["count", "from", "order", "page", "to"];
  for (const { method, path, list, filters = {} } of operations) {
    if (method !== "GET") continue;
    const paging = list === undefined ? [] : list === "ranged" ? ranged : parameters[list];
    const expected = [...paging, ...Object.keys(filters)].sort();
    expect([path, describedQuery(path).sort()]).toEqual([path, expected]);
  }
});
