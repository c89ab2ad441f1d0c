/** The response to a creation that failed. */
import { expect, it } from "vitest";
import { fail } from "#src/base/result.ts";
import { sendCommand } from "#src/wallets/http/createWallet.ts";

const there = () => Promise.resolve(true);
const absent = () => Promise.resolve(false);
const send = (code: string, isDone: () => Promise<boolean>) =>
  sendCommand({ ask: async () => fail(code, "no") }, { kind: "wallet", id: "w" }, { type: "DELETE" }, isDone);

it("takes longer than a call may and continues, or is refused", async () => {
  for (const code of ["deadline", "unavailable"]) {
    await send(code, there);
    await expect(send(code, absent)).rejects.toMatchObject({ status: 503 });
  }
  const code = "shared_wallet_key_already_exists";
  await expect(send(code, there)).rejects.toMatchObject({ status: 403, code });
  await expect(send("not_possible", there)).rejects.toMatchObject({ status: 404, code: "no_such_wallet" });
});
