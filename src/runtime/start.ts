import { keepCompiledCode } from "./process/compiled-code.ts"
import { keepArenasFew } from "./process/few-arenas.ts"
import { keepHeapSmall } from "./process/small-heap.ts"

// Before anything else is loaded.
keepArenasFew()
keepCompiledCode()
keepHeapSmall()
const { main } = await import("./main.ts")

/** `npm start`: everything on one machine. What is configured is real, what is not is embedded. */
main({ embedded: true })
