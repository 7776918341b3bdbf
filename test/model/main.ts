/**
 * `npm run model`: walks every state of one idempotency key breadth-first, over production's own decisions, and prints the
 * shortest trace to what does not hold; then those of a queued request, of the transactions that queue, of the pace and of event hooks
 * (`--beside`: these alone). With `--literal`, each rule in turn is replaced by its first wording.
 */
import type { Provider } from "../../src/domain/mail/provider.ts"
import { explore, type Model, namesOf, type Walk } from "./explore.ts"
import { HOOK_LITERAL, HOOK_RULES, hookModel, hookRulesWith } from "./hooks.ts"
import type { Bounds } from "./moves.ts"
import { PACE_BOUNDS, PACE_LITERAL, PACE_RULES, paceModel, paceRulesWith } from "./pace.ts"
import { LITERAL as QUEUE_LITERAL } from "./queue/rules.ts"
import { LARGE_BOUNDS, QUEUE_FAILS, walkQueue } from "./queue/walks.ts"
import { LITERAL, type Literal, PRODUCTION, rulesWith } from "./rules.ts"
import { VISIBILITY_LITERAL, VISIBILITY_RULES, visibilityModel, visibilityRulesWith } from "./visibility.ts"
import { keyModel } from "./world.ts"

/** A walk ends here: some hundred MB. */
const MAX_STATES = 1_500_000

const PRIMARIES: ReadonlyArray<Provider> = ["provider_a", "provider_b"]

const SMALL = {
  calls: 2,
  retries: 1,
  crashes: 0,
  outages: 0,
  losses: 0,
  moments: 2,
  flies: false,
  suppresses: false
} as const

/** In each of them leases pass, answers and requests are lost, and events come; a moment is half an hour, the next one a day later. */
const BOUNDS: ReadonlyArray<Omit<Bounds, "primary">> = [
  SMALL,
  { ...SMALL, outages: 1, moments: 0 },
  { ...SMALL, losses: 1, moments: 0 },
  { ...SMALL, calls: 3, moments: 0 },
  { ...SMALL, retries: 0, crashes: 1, outages: 1, flies: true },
  { ...SMALL, calls: 3, retries: 0, crashes: 1, flies: true },
  { ...SMALL, calls: 3, retries: 0, outages: 1, moments: 1 }
]

const print = (name: string, { depth, isWhole, milliseconds, states, violation }: Walk): boolean => {
  const end = isWhole ? "nothing is left" : violation === undefined ? "cut off" : "ended at a violation"
  console.log(`${name}: ${states} states, depth ${depth}, ${Math.round(milliseconds)} ms, ${end}`)
  if (violation !== undefined) console.log(`  ${violation.text}\n    ${violation.trace.join("\n    ")}`)
  return isWhole
}

const walk = (name: string, literal: ReadonlyArray<Literal>, bounds: Bounds): boolean => {
  const rules = literal.length === 0 ? PRODUCTION : rulesWith(literal)
  const { calls, crashes, losses, moments, outages, primary, retries } = bounds
  const words = `${name}, ${primary} first, ${calls} calls, ${retries} retries, ${crashes} crashes, ${outages} outages, ${losses} losses, ${moments} moments later`
  return print(words, explore(keyModel(rules, bounds), MAX_STATES))
}

const happens = (bounds: object): string =>
  Object.entries(bounds)
    .filter(([, much]) => much !== 0 && much !== "none")
    .map(([what, much]) => `${what} ${much}`)
    .join(", ")

const HOOK_BOUNDS = { mails: ["a", "a", "b", "b"], crashes: 0, leases: 1, redeliveries: 0 }
const KEYS = [["a", "b"], ["b", "a"], ["c"]]

/** What lies beside one key, by production's rules. */
const walkBeside = (): ReadonlyArray<boolean> => {
  const of = <S>(name: string, model: Model<S>) => print(name, explore(model, MAX_STATES))
  return [
    ...LARGE_BOUNDS.map((bounds) => print(`a queued request, ${happens(bounds)}`, walkQueue(bounds))),
    of("transactions that queue mail", visibilityModel(VISIBILITY_RULES, KEYS)),
    ...Object.entries(PACE_BOUNDS).map(([name, bounds]) =>
      of(`pace, ${name}`, paceModel(PACE_RULES, bounds))
    ),
    of("event hooks", hookModel(HOOK_RULES, HOOK_BOUNDS))
  ]
}

/** And with each rule as it was worded at first. */
const walkLiterals = (): void => {
  for (const name of namesOf(QUEUE_LITERAL)) print(name, walkQueue(QUEUE_FAILS[name][1], name))
  for (const name of namesOf(VISIBILITY_LITERAL))
    print(name, explore(visibilityModel(visibilityRulesWith(name), KEYS)))
  for (const name of namesOf(PACE_LITERAL))
    for (const bounds of Object.values(PACE_BOUNDS))
      print(name, explore(paceModel(paceRulesWith(name), bounds)))
  for (const name of namesOf(HOOK_LITERAL))
    print(name, explore(hookModel(hookRulesWith(name), { ...HOOK_BOUNDS, mails: ["a", "a", "b"] })))
}

const isLiteral = process.argv.includes("--literal")
const names = isLiteral ? namesOf<Literal>(LITERAL) : []
let holds = true
if (!process.argv.includes("--beside"))
  for (const primary of PRIMARIES)
    for (const bounds of BOUNDS) {
      if (!isLiteral) holds = walk("production", [], { ...bounds, primary }) && holds
      for (const name of names) walk(name, [name], { ...bounds, primary })
    }
if (isLiteral) walkLiterals()
else holds = walkBeside().every(Boolean) && holds
process.exitCode = holds ? 0 : 1
