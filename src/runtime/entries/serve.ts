import { keepCompiledCode } from "../process/node/compiled-code.ts"
import { collectOften } from "../process/node/small-heap.ts"

// Before anything else is loaded.
keepCompiledCode()
collectOften(40)
const { main } = await import("../process/main.ts")

/** `npm run serve`: production. Nothing is embedded or simulated; where something is missing it says so and exits. */
main({ embedded: false })
