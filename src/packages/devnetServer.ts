/** Where the server of a devnet is: a module that runs in a process of its own. The package has it elsewhere. */
export const SERVER = new URL("./devnetProcess.ts", import.meta.url);
