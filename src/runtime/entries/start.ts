import { keepCompiledCode } from "../process/node/compiled-code.ts"
import { keepHeapSmall } from "../process/node/small-heap.ts"
import { keepMallocSmall } from "../process/node/small-malloc.ts"

// Before anything else is loaded.
keepMallocSmall()
keepCompiledCode()
keepHeapSmall()
const { main } = await import("../process/main.ts")

const { argv } = process

/** `npm start`: everything on one machine. What is configured is real, what is not is embedded. */
main({ embedded: true, json: argv.includes("--json"), temporary: argv.includes("--temporary") })
