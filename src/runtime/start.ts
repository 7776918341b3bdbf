import { keepCompiledCode } from "./process/compiled-code.ts"
import { keepHeapSmall } from "./process/small-heap.ts"
import { keepMallocSmall } from "./process/small-malloc.ts"

// Before anything else is loaded.
keepMallocSmall()
keepCompiledCode()
keepHeapSmall()
const { main } = await import("./main.ts")

/** `npm start`: everything on one machine. What is configured is real, what is not is embedded. */
main({ embedded: true })
