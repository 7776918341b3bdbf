/**
 * `npm run model`: walks every state of one idempotency key breadth-first, over production's own decisions, and prints the
 * shortest trace to what does not hold. With `--literal`, each rule in turn is replaced by its first wording.
 */
import type { Provider } from "../../src/domain/mail/failover.ts"
import { explore } from "./explore.ts"
import type { Bounds } from "./moves.ts"
import { LITERAL, type Literal, PRODUCTION, rulesWith } from "./rules.ts"
import { keyModel } from "./world.ts"

/** A walk ends here: some hundred MB. */
const MAX_STATES = 1_000_000

const PRIMARIES: ReadonlyArray<Provider> = ["provider_a", "provider_b"]

const SMALL = {
  calls: 2,
  retries: 1,
  crashes: 0,
  outages: 0,
  lateAnswers: 0,
  moments: 2,
  flies: false
} as const

const BOUNDS: ReadonlyArray<Omit<Bounds, "primary">> = [
  SMALL,
  { ...SMALL, retries: 0, crashes: 1, outages: 1, flies: true },
  { ...SMALL, calls: 3, retries: 0, flies: true }
]

const walk = (name: string, literal: ReadonlyArray<Literal>, bounds: Bounds): boolean => {
  const rules = literal.length === 0 ? PRODUCTION : rulesWith(literal)
  const { depth, isWhole, milliseconds, states, violation } = explore(keyModel(rules, bounds), MAX_STATES)
  console.log(
    `${name}, ${bounds.primary} first, ${bounds.calls} calls, ${bounds.outages} outages: ${states} states, depth ${depth}, ` +
      `${Math.round(milliseconds)} ms${isWhole ? "" : violation === undefined ? ", cut off" : ""}`
  )
  if (violation !== undefined) console.log(`  ${violation.text}\n    ${violation.trace.join("\n    ")}`)
  return violation === undefined
}

const names = process.argv.includes("--literal") ? (Object.keys(LITERAL) as ReadonlyArray<Literal>) : []
let holds = true
for (const primary of PRIMARIES)
  for (const bounds of BOUNDS) {
    if (names.length === 0) holds = walk("production", [], { ...bounds, primary }) && holds
    for (const name of names) walk(name, [name], { ...bounds, primary })
  }
process.exitCode = holds ? 0 : 1
