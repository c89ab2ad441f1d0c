/**
 * System tests that need nothing of a service but its defaults, and leave it as a next one can use it: one service runs
 * for many of their files, since it takes longer to start one than most of these tests take.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { Arbor } from "./arbor.ts";
import { sharedInfra, shareInfra } from "../infra/infra.ts";
import { type Group, TOGETHER } from "./togetherFiles.ts";

/** Runs the files of a group, in their order, on one service. */
export function together(group: keyof typeof TOGETHER): void {
  const { blockMs, files }: Group = TOGETHER[group];
  describe("on one service", async () => {
    let end: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      const infra = await sharedInfra();
      const arbor = await Arbor.share({ infra, ...(blockMs === undefined ? {} : { blockMs }) });
      shareInfra(infra);
      end = async () => {
        shareInfra(undefined);
        await arbor.end();
        await infra.stop();
      };
    });
    afterAll(() => end?.());
    for (const file of files) {
      await import(/* @vite-ignore */ fileURLToPath(new URL(`../../system/${file}.test.ts`, import.meta.url)));
    }
  });
}
