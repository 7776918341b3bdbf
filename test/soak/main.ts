import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"

import { makeChance } from "../simulation/kernel.ts"
import type { Client } from "./clients.ts"
import { type Evidence, gather, underWay } from "./evidence.ts"
import { type FaultLog, rollingRestart, storm, type Weather } from "./faults.ts"
import { makeJournal } from "./journal.ts"
import { CREDITS, loadDocuments, loadInbound, makeOwners } from "./load-documents.ts"
import { loadMail } from "./load-mail.ts"
import { loadQueue } from "./load-queue.ts"
import { makeOperator, redriveDeadLetters } from "./operator.ts"
import { judge } from "./oracle.ts"
import { report } from "./report.ts"
import { startWorld, type World } from "./world.ts"

/**
 * `npm run soak -- --minutes 30 [--seed N] [--kill-every MS] [--keep]`: six processes under load and faults, and then every vendor's own log held
 * against the tables. Prints a table; ends with 1 where a promise was broken, and says where the logs are. `--keep` keeps them in any case.
 */
const USAGE = "Usage: npm run soak -- --minutes M [--seed N] [--kill-every MS] [--keep]"

/** How long what is under way may take to end once nothing fails any more. */
const DRAIN_MS = 300_000
/** How long the clients may still wait for their answers then. */
const PATIENCE_MS = 150_000

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    "kill-every": { type: "string", default: "1400" },
    keep: { type: "boolean", default: false }
  }
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
const killEveryMs = Number(values["kill-every"])
if (!(minutes > 0) || !Number.isInteger(seed) || !(killEveryMs >= 100)) {
  console.error(USAGE)
  process.exit(2)
}

const commit = (): string => {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim()
  } catch {
    return "unknown"
  }
}

const say = (text: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`)

const allUp = async ({ processes }: World): Promise<void> => {
  while (processes.slots.some(({ current, isFrozen }) => current === undefined || isFrozen)) await sleep(200)
}

/** Until all is at rest; what died in the retry queue is put back, as an operator does. */
const drain = async (world: World, counts: Record<string, number>): Promise<void> => {
  await makeOperator(world)
  const deadline = Date.now() + DRAIN_MS
  for (;;) {
    const left = await underWay(world)
    if (left.length === 0 || Date.now() > deadline) return
    say(`still ${left.join(", ")}`)
    await redriveDeadLetters(world.processes.slot("api").current?.url, counts)
    await sleep(5_000)
  }
}

/** Tells how it goes, twice a minute. */
const progress = (world: World, log: FaultLog) =>
  setInterval(() => {
    const up = world.processes.slots.filter(({ current }) => current !== undefined).length
    say(`${log.counts["kills"] ?? 0} kills, ${up} of ${world.processes.slots.length} processes up`)
  }, 30_000)

/** Load and faults for as long as asked, a rolling restart under load, and then rest. */
const soak = async (world: World): Promise<Evidence> => {
  const [stops, givesUp, calm] = [new AbortController(), new AbortController(), new AbortController()]
  const journal = makeJournal()
  const log: FaultLog = { counts: {}, hurts: [], rolls: [] }
  await world.processes.start()
  const owners = await makeOwners(world)
  const client = (number: number): Client => ({
    world,
    journal,
    chance: makeChance(seed * 1_000 + number),
    stops: stops.signal,
    givesUp: givesUp.signal
  })
  const load = Promise.all([
    loadMail(client(1)),
    loadQueue(client(4)),
    loadDocuments(client(2), owners),
    loadInbound(client(3), owners)
  ])
  const ticker = progress(world, log)
  const weather: Weather = { world, chance: makeChance(seed), log, stops: calm.signal }
  setTimeout(() => calm.abort(), minutes * 60_000)
  await storm(weather, killEveryMs)
  clearInterval(ticker)
  say(`the storm is over: ${JSON.stringify(log.counts)}`)
  await allUp(world)
  await rollingRestart(weather)
  say("everything is up, and the load ends")
  stops.abort()
  setTimeout(() => givesUp.abort(), PATIENCE_MS).unref()
  await load
  await drain(world, log.counts)
  return gather(world, journal, log, CREDITS)
}

const folder = mkdtempSync(join(tmpdir(), "postlane-soak-"))
chmodSync(folder, 0o755)
say(`seed ${seed}, ${minutes} minutes, in ${folder}`)
const world = await startWorld(folder, seed)
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void world.close().finally(() => process.exit(130)))
}
const evidence = await soak(world)
await world.close()
const verdict = judge(evidence)
const run = { seed, minutes, commit: commit(), pooler: world.pooler.name, hasDisk: world.disk !== undefined }
console.log(report(run, evidence, verdict))
if (values.keep || verdict.violations.length > 0) {
  const file = join(folder, "violations.txt")
  writeFileSync(file, verdict.violations.map(({ promise, what }) => `${promise}: ${what}`).join("\n\n"))
  writeFileSync(
    join(folder, "evidence.json"),
    JSON.stringify(evidence, (_, value: unknown) => (value instanceof Set ? [...value] : value))
  )
  console.error(
    verdict.violations
      .slice(0, 20)
      .map(({ promise, what }) => `${promise}: ${what.slice(0, 600)}`)
      .join("\n")
  )
  console.error(`\n${verdict.violations.length} violations of seed ${seed}: ${file}, logs in ${world.logs}`)
} else rmSync(folder, { recursive: true, force: true })
process.exit(verdict.violations.length > 0 ? 1 : 0)
