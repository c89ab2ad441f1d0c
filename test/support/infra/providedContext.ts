/** Values that the set-up of a run provides to its test files. */
declare module "vitest" {
  export interface ProvidedContext {
    /** A database on the run's server, through which `sharedInfra` creates others. */
    databaseUrl: string;
    /** Name of a database on it with the program's tables, to copy. */
    databaseTemplate: string;
    /** Folder of the package `cli` for Node, with `bin/arbor.js`; undefined where there is no Node. */
    programs: string | undefined;
    /** URL that answers with the address of the run's browser, as `sharedBrowser` reads it. */
    browser: string;
  }
}

export {};
