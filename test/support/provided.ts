/** What the run's set-up hands to its test files. */
declare module "vitest" {
  export interface ProvidedContext {
    /** A database on the run's server, through which `sharedInfra` makes others. */
    databaseUrl: string;
  }
}

export {};
