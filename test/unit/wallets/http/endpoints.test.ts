/** Which endpoints of other wallet servers are served, and which are not yet. */
import { expect, test } from "vitest";
import { edgeAlone } from "../../../support/service/walletEdge.ts";
import { ENDPOINTS } from "../../../support/wallets/walletEndpoints.ts";

/** Not served yet. Remove an endpoint from this list when it is served. */
const MISSING: readonly string[] = [];

interface Operation {
  readonly operationId?: string;
  readonly responses: Record<string, unknown>;
  readonly requestBody?: unknown;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

const document = await (await edgeAlone().request("/v2/openapi.json")).json() as {
  paths: Record<string, Record<string, Operation>>;
};
const served: ReadonlyMap<string, Operation> = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)
  ),
);

test("there are 96 of them", () => {
  expect(ENDPOINTS).toHaveLength(96);
});

test("each is served under its name and with its status, or is on the list of missing ones", () => {
  const missing = ENDPOINTS.filter(({ name }) => !served.has(name)).map(({ name }) => name);
  expect(missing.sort()).toEqual([...MISSING].sort());
  for (const { name, operation, status } of ENDPOINTS) {
    const found = served.get(name);
    if (found === undefined) continue;
    expect(found.operationId, name).toBe(operation);
    expect(Object.keys(found.responses), name).toContain(status);
  }
});

/** Operations that change the ledger. */
const SPENDING = [
  "castVotes",
  "consolidateByronWallet",
  "consolidateWallet",
  "deregisterOwnDRep",
  "joinDRep",
  "joinStakePool",
  "migrateByronWallet",
  "migrateShelleyWallet",
  "postByronTransaction",
  "postExternalTransaction",
  "postTransaction",
  "quitStakePool",
  "registerOwnDRep",
  "submitSharedTransaction",
  "submitTransaction",
  "updateOwnDRep",
];

test("every operation that spends accepts an Idempotency-Key, and no other does", () => {
  const taking = [...served.values()].filter(({ parameters = [] }) =>
    parameters.some((one) => one.in === "header" && one.name === "idempotency-key")
  );
  expect(taking.map(({ operationId }) => operationId).sort()).toEqual(SPENDING);
  for (const { responses } of taking) expect(Object.keys(responses)).toContain("409");
});

test("every operation has its own name", () => {
  const names = [...served.values()].flatMap(({ operationId }) => operationId ?? []);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toHaveLength(served.size);
});
