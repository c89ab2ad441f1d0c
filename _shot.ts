import { chromium } from "playwright-core";
const token = Deno.args[0]!, only = Deno.args[1];
const base = "http://127.0.0.1:3110";
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const shots = [["list", "#/"], ["token", `#/token/${token}`], ["accept", "#/accept"], ["none", `#/token/${"0".repeat(64)}`]] as const;
for (const [name, hash] of shots) {
  if (only && only !== name) continue;
  for (const [width, scheme] of [[1280, "light"], [390, "dark"]] as const) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme });
    const page = await context.newPage();
    page.on("console", (m) => m.type() === "error" && console.log(name, m.text()));
    page.on("pageerror", (e) => console.log(name, e.stack));
    await page.goto(`${base}/${hash}`);
    await page.waitForTimeout(1200);
    await page.screenshot({ path: `/tmp/tokshots/${name}-${width}.png`, fullPage: true });
    console.log(name, width, await page.evaluate(() => document.documentElement.scrollWidth));
    await context.close();
  }
}
await browser.close();
Deno.exit(0);
