import { readFileSync } from "node:fs"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { parseArgs } from "node:util"

import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted } from "effect"

import {
  EmbeddedPostgres,
  layer as layerEmbedded
} from "../../src/adapters/embedded-postgres/embedded-postgres.ts"
import { layerSingle, layerSqlClient } from "../../src/adapters/postgres/client.ts"
import { migrate } from "../../src/adapters/postgres/migrator.ts"
import { MIGRATIONS } from "../../src/runtime/process/package.ts"
import { makeFolder } from "../support/processes/child.ts"
import { crashRun } from "./run.ts"
import { query } from "./world.ts"

/**
 * `node test/crash/main.ts --rounds N --seed S [--database steady|cut|killed]`: N rounds of kills from seed S on, ten to a
 * run, each run judged by itself; every third run freezes a process, too. `cut` ends all database sessions now and then,
 * `killed` kills the database server; without the option the runs take turns. Prints a table; ends with 1 where a promise
 * was broken, with the command that replays the run's faults.
 */
const WEATHERS = ["steady", "cut", "killed"] as const
type Weather = (typeof WEATHERS)[number]

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
    database: { type: "string" },
    freeze: { type: "boolean", default: false }
  }
})
const rounds = Number(values.rounds)
const firstSeed = Number(values.seed)
const only = WEATHERS.find((name) => name === values.database)
if (
  !Number.isInteger(rounds) ||
  rounds < 1 ||
  !Number.isInteger(firstSeed) ||
  (values.database !== undefined && only === undefined)
) {
  console.error(
    `Usage: node test/crash/main.ts --rounds N --seed S [--database ${WEATHERS.join("|")}] [--freeze]`
  )
  process.exit(2)
}

const ROUNDS_A_RUN = 10
/** Kills a database server. One that its supervisor is just starting again has no process yet, or no file that names it. */
const killServer = (cluster: string): void => {
  try {
    const [pid] = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")
    process.kill(Number(pid), "SIGKILL")
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    if (code !== "ESRCH" && code !== "ENOENT") throw error
  }
}

const program = Effect.gen(function* () {
  const embedded = yield* EmbeddedPostgres
  const server = Redacted.value(embedded.url)
  const run = Effect.fnUntraced(function* (seed: number, size: number) {
    const weather: Weather = only ?? WEATHERS[seed % WEATHERS.length]!
    const url = new URL(server)
    url.pathname = `/crash_${seed}`
    yield* Effect.promise(() => query(server, `create database crash_${seed}`))
    yield* migrate(MIGRATIONS).pipe(
      Effect.provide([
        layerSqlClient.pipe(Layer.provide(layerSingle({ url: Redacted.make(url.href) }))),
        NodeServices.layer
      ])
    )
    const hurt: Readonly<Record<Weather, (() => Promise<void>) | undefined>> = {
      steady: undefined,
      cut: async () => {
        await query(
          server,
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'crash_${seed}' and application_name = 'postlane'`
        )
      },
      killed: async () => killServer(embedded.cluster)
    }
    const freeze = values.freeze || seed % 3 === 1
    const hurtDatabase = hurt[weather]
    const verdict = yield* Effect.promise(() =>
      crashRun({
        seed,
        rounds: size,
        databaseUrl: url.href,
        freeze,
        ...(hurtDatabase === undefined ? {} : { hurtDatabase })
      })
    )
    return { seed, size, weather, freeze, ...verdict }
  })

  const totals: Record<string, number> = {}
  let broken = 0
  for (let seed = firstSeed, left = rounds; left > 0; seed++, left -= ROUNDS_A_RUN) {
    const { counts, freeze, size, violations, weather } = yield* run(seed, Math.min(left, ROUNDS_A_RUN))
    for (const [what, times] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + times
    broken += violations.length
    const shown = `seed ${seed}, database ${weather}${freeze ? ", one process frozen" : ""}`
    console.log(
      `${shown}: ${violations.length === 0 ? "well" : `${violations.length} violations`}, ${JSON.stringify(counts)}`
    )
    for (const violation of violations.slice(0, 10)) console.error(`  ${violation}`)
    if (violations.length > 0) {
      console.error(
        `  replay: node test/crash/main.ts --rounds ${size} --seed ${seed} --database ${weather}${freeze ? " --freeze" : ""}`
      )
    }
  }
  console.table(totals)
  return broken
})

const folder = await makeFolder()
await chmod(folder.path, 0o755)
const broken = await Effect.runPromise(
  program.pipe(
    Effect.provide(layerEmbedded(folder.path)),
    Effect.ensuring(Effect.promise(() => folder.remove()))
  )
)
process.exit(broken > 0 ? 1 : 0)
