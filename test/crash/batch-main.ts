import { chmod } from "node:fs/promises"
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
import { makeChance } from "../simulation/kernel.ts"
import { makeFolder } from "../support/processes/child.ts"
import { makeBatchWorld, roundBy, summaryOf } from "./batch-run.ts"

/**
 * `node test/crash/batch-main.ts --rounds N --seed S`: N conversions through the batch lane, the leader of each killed or frozen
 * at a step that the seed names (seed S for the first, S + 1 for the second …). Ends with 1 where a promise was broken, with
 * the command that does the round again.
 */
const { values } = parseArgs({
  options: { rounds: { type: "string", default: "40" }, seed: { type: "string", default: "1" } }
})
const rounds = Number(values.rounds)
const firstSeed = Number(values.seed)
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(firstSeed)) {
  console.error("Usage: node test/crash/batch-main.ts --rounds N --seed S")
  process.exit(2)
}

const play = async (url: string): Promise<number> => {
  const world = await makeBatchWorld(url)
  let broken = 0
  const counts: Record<string, number> = {}
  try {
    for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
      const round = roundBy(makeChance(seed))
      const { hurts, violations } = await world.round(round)
      const wanted = round.next === undefined ? 1 : 2
      const what = `${round.how}, ${hurts} of ${wanted} hurt`
      counts[what] = (counts[what] ?? 0) + 1
      broken += violations.length
      const short = hurts < wanted ? `, hurt ${hurts} of ${wanted} times` : ""
      console.log(`seed ${seed}: ${summaryOf(round)}${short}: ${violations.length === 0 ? "well" : "BROKEN"}`)
      for (const violation of violations) console.error(`  ${violation}`)
      if (violations.length > 0)
        console.error(`  again: node test/crash/batch-main.ts --rounds 1 --seed ${seed}`)
    }
  } catch (error) {
    console.error(world.said())
    throw error
  } finally {
    await world.close()
  }
  console.table(counts)
  return broken
}

const program = Effect.gen(function* () {
  const { url } = yield* EmbeddedPostgres
  yield* migrate(MIGRATIONS).pipe(
    Effect.provide([layerSqlClient.pipe(Layer.provide(layerSingle({ url }))), NodeServices.layer])
  )
  return yield* Effect.promise(() => play(Redacted.value(url)))
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
