import { expect, it } from "vitest";
import { nextSteps } from "#src/app/greeting.ts";

it("names addresses that a browser opens, also where a service listens at all interfaces", () => {
  const lines = nextSteps([
    { name: "token service", at: "http://0.0.0.0:3001" },
    { name: "wallet service", at: "http://127.0.0.1:8090/v2" },
    { name: "operator service", at: "http://[::]:8091" },
    { name: "devnet and faucet", at: "http://10.0.0.1:10000" },
  ]).join("\n");
  expect(lines).toContain(
    "ARBOR_TOKENS_URL=http://localhost:3001 ARBOR_DEVNET_URL=http://10.0.0.1:10000 ARBOR_OPERATOR_URL=http://localhost:8091 ",
  );
  // what listens at loopback alone cannot be opened from outside a container
  expect(lines).toContain(
    "pages: http://localhost:8091 (its actor), http://localhost:3001 (its facts), http://10.0.0.1",
  );
  expect(lines).not.toContain("8090");
});

it("names the addresses of loopback where no service listens elsewhere", () => {
  const lines = nextSteps([
    { name: "token service", at: "http://127.0.0.1:3000" },
    { name: "wallet service", at: "http://[::1]:8090/v2" },
    { name: "operator service", at: "http://localhost:8091" },
    { name: "devnet and faucet", at: "http://127.0.0.1:10000" },
  ]).join("\n");
  expect(lines).toContain(
    "http://localhost:8091 (its actor), http://127.0.0.1:3000 (its facts), http://[::1]:8090 (wallets), http://127.0.0.1:10000",
  );
});
