/** The services' responses when a statement has no database. */
import { describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { publicApp, serviceApp } from "#src/http/service.ts";
import { newWalletApp } from "#src/wallets/http/route.ts";

const apps = {
  "the token service": () => publicApp("tokens", silentLog),
  "the operator service": () => serviceApp("operator", silentLog),
  "the wallet service": () => newWalletApp(silentLog),
};

/** An error in the form of the PostgreSQL client. */
const failed = (code: string) => Object.assign(new Error(`secret of ${code}`), { code });

describe.each(Object.entries(apps))("%s", (_, make) => {
  const answer = async (code: string) => {
    const app = make();
    app.get("/", () => Promise.reject(failed(code)));
    const response = await app.request("/");
    return { status: response.status, retry: response.headers.get("retry-after"), text: await response.text() };
  };

  it.each([
    ["refused", "ECONNREFUSED"],
    ["reset", "ECONNRESET"],
    ["closed", "CONNECTION_CLOSED"],
    ["ended", "CONNECTION_ENDED"],
    ["not made in time", "CONNECT_TIMEOUT"],
    ["ended by an administrator", "57P01"],
    ["ended by a crash", "57P02"],
    ["refused by a server that starts", "57P03"],
    ["one too many", "53300"],
    ["used for a statement that took too long", "57014"],
    ["used for a statement that waited for a lock", "55P03"],
  ])("answers 503 with Retry-After if the connection is %s", async (_, code) => {
    const { status, retry, text } = await answer(code);
    expect(status).toBe(503);
    expect(Number(retry)).toBeGreaterThan(0);
    expect(JSON.parse(text).code).toBe("unavailable");
    expect(text).not.toContain("secret");
  });

  it.each(["23505", "42P01", "22P02", "EACCES"])(
    "answers 500 for an error that a retry cannot fix: %s",
    async (code) => {
      const { status, retry, text } = await answer(code);
      expect(status).toBe(500);
      expect(retry).toBeNull();
      expect(text).not.toContain("secret");
    },
  );
});
