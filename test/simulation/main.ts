import { parseArgs } from "node:util"

import { BUGS, type Bug } from "./bugs.ts"
import { simulateMail } from "./mail.ts"

/**
 * `npm run sim -- --seed N --runs M [--bug NAME] [--trace]`: M runs from seed N on, half of them with a database and a queue
 * that lose requests and answers, too. A failure prints the seed that replays it.
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "200" },
    bug: { type: "string" },
    trace: { type: "boolean", default: false }
  }
})

const first = Number(values.seed)
const runs = Number(values.runs)
const bug = BUGS.find((name): name is Bug => name === values.bug)
if (
  !Number.isInteger(first) ||
  !Number.isInteger(runs) ||
  runs < 1 ||
  (values.bug !== undefined && bug === undefined)
) {
  console.error(`Usage: npm run sim -- --seed N --runs M [--trace] [--bug ${BUGS.join("|")}]`)
  process.exit(2)
}

const started = process.hrtime.bigint()
const seen = new Map<string, number>()
let failed = 0
let extraCopies = 0
for (let seed = first; seed < first + runs; seed++) {
  const run = await simulateMail(seed, { storeFails: seed % 2 === 0, ...(bug === undefined ? {} : { bug }) })
  for (const [what, times] of run.seen) seen.set(what, (seen.get(what) ?? 0) + times)
  extraCopies += run.extraCopies
  if (values.trace) console.log(run.trace)
  if (run.violations.length === 0) continue
  failed++
  console.error(`seed ${seed}:\n${run.violations.map((violation) => `  ${violation}`).join("\n")}`)
  console.error(
    `  replay: npm run sim -- --seed ${seed} --runs 1 --trace${bug === undefined ? "" : ` --bug ${bug}`}`
  )
}
const seconds = Number(process.hrtime.bigint() - started) / 1e9
for (const [what, times] of [...seen].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(times).padStart(9)}  ${what}`)
console.log(
  `${runs} runs, ${failed} failed, ${extraCopies} extra copies from provider_b, ${(runs / seconds).toFixed(1)} runs/s`
)
process.exit(failed > 0 ? 1 : 0)
