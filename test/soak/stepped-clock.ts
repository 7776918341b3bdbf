import { readFileSync } from "node:fs"

/**
 * Loaded before a process's own code (`--import`): its time of day is off by as many milliseconds as a file says, and steps when the
 * file changes. Timers and the monotonic clock run on, as they do where a machine's clock is set.
 */
const LOOK_EVERY_MS = 50

const file = process.env["SOAK_CLOCK_FILE"] ?? ""
const real = Date.now.bind(Date)
let offsetMs = 0
let lookAt = -Infinity

const now = (): number => {
  if (performance.now() >= lookAt) {
    offsetMs = Number(readFileSync(file, "utf8"))
    lookAt = performance.now() + LOOK_EVERY_MS
  }
  return real() + offsetMs
}

// Readers of hostile input are given no environment, and keep the machine's clock.
if (file !== "") {
  Date.now = now
  globalThis.Date = new Proxy(Date, {
    construct: (date, values, made) => Reflect.construct(date, values.length === 0 ? [now()] : values, made),
    apply: () => new Date(now()).toString()
  })
}
