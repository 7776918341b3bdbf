/**
 * `npm run model`: walks every state of one idempotency key breadth-first, over production's own decisions, and prints the
 * shortest trace to what does not hold. With `--literal`, each rule in turn is replaced by its first wording.
 */
import type { Provider } from "../../src/domain/mail/provider.ts"
import { explore } from "./explore.ts"
import type { Bounds } from "./moves.ts"
import { LITERAL, type Literal, PRODUCTION, rulesWith } from "./rules.ts"
import { keyModel } from "./world.ts"

/** A walk ends here: some hundred MB. */
const MAX_STATES = 1_500_000

const PRIMARIES: ReadonlyArray<Provider> = ["provider_a", "provider_b"]

const SMALL = {
  calls: 2,
  retries: 1,
  crashes: 0,
  outages: 0,
  lateAnswers: 0,
  moments: 2,
  flies: false,
  suppresses: false
} as const

/** In each of them leases pass, answers and requests are lost, and events come; a moment is half an hour, the next one a day later. */
const BOUNDS: ReadonlyArray<Omit<Bounds, "primary">> = [
  SMALL,
  { ...SMALL, outages: 1, moments: 0 },
  { ...SMALL, retries: 0, crashes: 1, outages: 1, flies: true },
  { ...SMALL, calls: 3, retries: 0, crashes: 1, flies: true },
  { ...SMALL, calls: 3, retries: 0, outages: 1, moments: 1 }
]

const walk = (name: string, literal: ReadonlyArray<Literal>, bounds: Bounds): boolean => {
  const rules = literal.length === 0 ? PRODUCTION : rulesWith(literal)
  const { depth, isWhole, milliseconds, states, violation } = explore(keyModel(rules, bounds), MAX_STATES)
  const { calls, crashes, moments, outages, retries } = bounds
  const end = isWhole ? "nothing is left" : violation === undefined ? "cut off" : "ended at a violation"
  console.log(
    `${name}, ${bounds.primary} first, ${calls} calls, ${retries} retries, ${crashes} crashes, ${outages} outages, ` +
      `${moments} moments later: ${states} states, depth ${depth}, ${Math.round(milliseconds)} ms, ${end}`
  )
  if (violation !== undefined) console.log(`  ${violation.text}\n    ${violation.trace.join("\n    ")}`)
  return isWhole
}

const names = process.argv.includes("--literal") ? (Object.keys(LITERAL) as ReadonlyArray<Literal>) : []
let holds = true
for (const primary of PRIMARIES)
  for (const bounds of BOUNDS) {
    if (names.length === 0) holds = walk("production", [], { ...bounds, primary }) && holds
    for (const name of names) walk(name, [name], { ...bounds, primary })
  }
process.exitCode = holds ? 0 : 1
