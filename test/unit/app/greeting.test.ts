import { expect, it } from "vitest";
import { nextSteps } from "#src/app/greeting.ts";

it("names addresses that a browser opens, also where a service listens at all interfaces", () => {
  const lines = nextSteps([
    { name: "token service", at: "http://0.0.0.0:3001" },
    { name: "wallet service", at: "http://127.0.0.1:8090/v2" },
    { name: "operator service", at: "http://[::]:8091" },
    { name: "devnet and faucet", at: "http://10.0.0.1:10000" },
  ]).join("\n");
  expect(lines).toContain("ARBOR_TOKENS_URL=http://localhost:3001 ARBOR_DEVNET_URL=http://10.0.0.1:10000 ");
  expect(lines).toContain(
    "http://localhost:8091 (its actor), http://localhost:3001 (its facts), http://127.0.0.1:8090",
  );
});
