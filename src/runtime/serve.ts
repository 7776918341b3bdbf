import { enableCompileCache } from "node:module"

// Before anything else is loaded: compiled code is kept between starts, which makes the next one three times as fast.
enableCompileCache()
const { main } = await import("./main.ts")

/** `npm run serve`: production. Nothing is embedded or simulated; where something is missing it says so and exits. */
main({ embedded: false })
