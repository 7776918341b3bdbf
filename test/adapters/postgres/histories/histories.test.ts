import { randomInt } from "node:crypto"

import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { documentsLane, playDocuments } from "./documents.ts"

/** How long each world goes on, milliseconds. Longer by hand: `MODEL_MS=300000`; again: `MODEL_SEED=…`. */
const TIME_MS = Number(process.env["MODEL_MS"] ?? 4_000)
const SEED = Number(process.env["MODEL_SEED"] ?? randomInt(1, 2 ** 31 - 1))

/** Databases at once: more than there are cores, since one waits for its connections most of the time. */
const LANES = 3

suiteLayer(Layer.empty, { excludeTestServices: true })("histories", (it) => {
  it.effect(
    "documents: what several connections are answered at once is what one after the other would have been",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const cpu = process.cpuUsage()
          const until = performance.now() + TIME_MS
          let [bursts, worlds] = [0, 0]
          yield* Effect.forEach(
            Array.from({ length: LANES }, (_, lane) => lane),
            () =>
              Effect.gen(function* () {
                const lane = yield* documentsLane
                while (performance.now() < until) {
                  const seed = SEED + worlds
                  worlds += 1
                  const played = yield* playDocuments(lane, seed)
                  bursts += played.bursts
                  assert.isUndefined(played.violation, played.violation)
                }
              }),
            { concurrency: "unbounded" }
          )
          const { system, user } = process.cpuUsage(cpu)
          console.log(
            `${Math.round((user + system) / 1000)} ms of CPU here; ` +
              `${worlds} worlds, ${bursts} histories (MODEL_SEED=${SEED})`
          )
        })
      ),
    TIME_MS * 10 + 60_000
  )
})
