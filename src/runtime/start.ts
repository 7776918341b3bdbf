import { enableCompileCache } from "node:module"

// Before anything else is loaded: compiled code is kept between starts, which makes the next one three times as fast.
enableCompileCache()
const { main } = await import("./main.ts")

/** `npm start`: everything on one machine. What is configured is real, what is not is embedded. */
main({ embedded: true })
