/** Values that the set-up of a run provides to its test files. */
declare module "vitest" {
  export interface ProvidedContext {
    /** A database on the run's server, through which `sharedInfra` creates others. */
    databaseUrl: string;
  }
}

export {};
