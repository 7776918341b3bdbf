import { hostname } from "node:os"

/** What this process is called where several write of themselves: its machine and its number there. */
export const PROCESS = `${hostname()}:${process.pid}`
