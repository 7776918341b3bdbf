import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

import {
  crowdOn,
  DEAREST,
  dearestOf,
  LARGE_CROWD,
  type Outcome,
  prepare,
  routes,
  table
} from "../hostile/crowd.ts"
import { type Attacked, startAttacked } from "../hostile/server.ts"
import { MAX_STALL_MS } from "../hostile/stalls.ts"
import { type Order, read, USAGE } from "./arguments.ts"
import { type Finding, fuzz, type Report } from "./fuzz.ts"
import { serverSettings } from "./server.ts"
import type { Target } from "./target.ts"
import { TARGETS } from "./targets.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const CORPUS = fileURLToPath(new URL("corpus", import.meta.url))

const pathOf = (target: Target, { input }: Finding): string =>
  join(CORPUS, target.name, createHash("sha256").update(input).digest("hex").slice(0, 16))

/** Writes a finding to the corpus; a smaller one takes the place of the one before. */
const keep = (target: Target, found: Finding, before: Finding | undefined): void => {
  if (before !== undefined) rmSync(pathOf(target, before), { force: true })
  const path = pathOf(target, found)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, found.input)
  console.error(
    `${before === undefined ? "found" : "smaller"}: ${relative(root, path)}, ${found.input.length} bytes: ${found.what}`
  )
}

const tell = (target: Target, report: Report, seconds: number): void => {
  const { classes, covered, findings, inputs, longestAnswerMs, longestStallMs, peakMb, pool } = report
  const most = [...classes].sort(([, a], [, b]) => b - a).slice(0, 12)
  for (const [name, times] of most) console.log(`${String(times).padStart(9)}  ${name}`)
  console.log(
    `${target.name}: ${inputs} inputs in ${Math.round(seconds)} s, ${classes.size} classes of answers, ` +
      `${target.guided ? `${covered} blocks of code, ` : ""}${pool} inputs kept, ` +
      `longest stall ${longestStallMs.toFixed(0)} ms, longest answer ${longestAnswerMs.toFixed(0)} ms, ` +
      `peak memory ${peakMb.toFixed(0)} MB of ${target.memoryMb}, ${findings.length} found`
  )
}

const fuzzOne = async (target: Target, minutes: number, seed: number): Promise<boolean> => {
  let server: Promise<Attacked> | undefined
  console.log(`${target.name}: ${target.about}; seed ${seed}`)
  const began = performance.now()
  // From the first answer on: a server takes its time to start.
  let end: number | undefined
  const report = await fuzz(
    target,
    () => {
      server ??= startAttacked(serverSettings).then((running) => {
        void running.gone.then(() => (server = undefined))
        return running
      })
      return server
    },
    {
      seed,
      enough: (inputs) => inputs > 0 && performance.now() > (end ??= performance.now() + minutes * 60_000),
      onFound: (found, before) => keep(target, found, before)
    }
  )
  await (await server)?.stop()
  tell(target, report, (performance.now() - began) / 1000)
  return report.findings.length === 0
}

/** Each in a process of its own: what ends one does not end the others. */
const fuzzAll = ({ minutes, seed }: Order): boolean => {
  const failed = TARGETS.filter(({ name }) => {
    const plan = ["--minutes", `${minutes}`, "--seed", `${seed}`, "--target", name]
    const args = [fileURLToPath(import.meta.url), ...plan]
    return spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0
  })
  if (failed.length > 0) console.error(`failed: ${failed.map(({ name }) => name).join(", ")}`)
  return failed.length === 0
}

/** Every route by the large crowd, with what stalls and memory each took. */
const crowd = async (): Promise<boolean> => {
  const server = await startAttacked(serverSettings)
  const secrets = {
    proxy: serverSettings.PROXY_SHARED_SECRET,
    admin: serverSettings.ADMIN_TOKEN,
    owner: serverSettings.OWNER_TOKEN
  }
  await prepare(server, secrets)
  const outcomes: Array<Outcome> = []
  for (const route of routes()) outcomes.push(await crowdOn(server, secrets, route, LARGE_CROWD))
  for (const dear of DEAREST) outcomes.push(await dearestOf(server, secrets, dear, 20))
  await server.stop()
  console.log(table(outcomes))
  return outcomes.every(({ stall, wrong }) => stall < MAX_STALL_MS && wrong.length === 0)
}

const order = read(process.argv.slice(2))
if (order === "help") console.log(USAGE)
else if ("refused" in order) {
  console.error(`${order.refused}\n\n${USAGE}`)
  process.exitCode = 2
} else {
  const { minutes, seed, target } = order
  const held = order.crowd
    ? await crowd()
    : target === undefined
      ? fuzzAll(order)
      : await fuzzOne(target, minutes, seed)
  process.exit(held ? 0 : 1)
}
