import { createHash } from "node:crypto"

import { Clock, Context, Effect, Layer } from "effect"

import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../src/adapters/memory/mail/send-queue.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layer as layerMailStore } from "../../../src/adapters/postgres/mail/mail-store.ts"
import { layer as layerSendQueue } from "../../../src/adapters/postgres/mail/send-queue.ts"
import { KeyHash } from "../../../src/domain/ids.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { SendQueue } from "../../../src/ports/mail/send-queue.ts"
import type { QueueStoreWorld } from "../../contracts/mail/send-queue.ts"
import { clockAhead } from "../later.ts"
import { layerPostgres } from "../postgres/postgres.ts"

const hashOf = (key: string): KeyHash => KeyHash.make(createHash("sha256").update(key).digest("hex"))

/** The queue in memory, on a clock of its own. */
export const makeMemoryQueueWorld: Effect.Effect<QueueStoreWorld> = Effect.gen(function* () {
  const database = makeMailDatabase()
  const real = yield* Clock.Clock
  let offsetMs = 0
  const clock = clockAhead(real, () => offsetMs)
  return {
    queue: makeSendQueue(database).queue,
    store: database.store,
    advance: (ms) =>
      Effect.sync(() => {
        offsetMs += ms
      }),
    inItsTime: Effect.provideService(Clock.Clock, clock),
    hashOf
  }
})

/** The columns that hold times. */
const TIMES = {
  email_send_queue: ["send_at", "expires_at", "due_at", "first_taken_at", "ended_at", "created_at"],
  email_pace: ["free_at", "reserved_at", "held_until"],
  email_send_claims: ["lease_until", "first_attempt_at", "last_attempt_at"],
  email_log: ["created_at"]
} as const

/** The queue on a database of its own. Time passes by moving what is stored into the past. */
export const makePostgresQueueWorld = Effect.gen(function* () {
  const context = yield* Layer.build(
    Layer.fresh(Layer.mergeAll(layerMailStore, layerSendQueue).pipe(Layer.provideMerge(layerPostgres)))
  )
  const sql = Context.get(context, WriteSql)
  const world: QueueStoreWorld = {
    queue: Context.get(context, SendQueue),
    store: Context.get(context, MailStore),
    advance: (ms) =>
      Effect.forEach(
        Object.entries(TIMES),
        ([table, columns]) =>
          sql.unsafe(
            `update ${table} set ${columns.map((column) => `${column} = ${column} - make_interval(secs => ${ms / 1000})`).join(", ")}`
          ),
        { discard: true }
      ).pipe(Effect.orDie),
    inItsTime: (effect) => effect,
    hashOf
  }
  return world
})
