/** The response to a creation that failed. */
import { expect, it } from "vitest";
import { refuseUnlessThere } from "#src/edge/wallets/createWallet.ts";

const there = () => Promise.resolve(true);
const absent = () => Promise.resolve(false);

it("takes longer than a call may and continues, or is refused", async () => {
  for (const code of ["deadline", "unavailable"]) {
    await refuseUnlessThere({ code, message: "late" }, there);
    await expect(refuseUnlessThere({ code, message: "late" }, absent)).rejects.toMatchObject({ status: 503 });
  }
  const failure = { code: "shared_wallet_key_already_exists", message: "no" };
  await expect(refuseUnlessThere(failure, there)).rejects.toMatchObject({ status: 403, code: failure.code });
});
