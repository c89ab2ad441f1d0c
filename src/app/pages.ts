/** Where the sources of pages and of the browsers' client are; a package has their bundles there. */

/** The folder with a folder for each page. */
export const PAGES = new URL("../pages/", import.meta.url);

/** URL of the entry file of the client for browsers. */
export const CLIENT = new URL("../client/browser.ts", import.meta.url).href;

/** The folder that `deno task docs:site` builds the documentation's site into. */
export const GUIDE = new URL("../../dist/docs/", import.meta.url);
