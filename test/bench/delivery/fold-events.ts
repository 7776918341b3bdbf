import { Effect, Layer, Redacted } from "effect"

import { layer as clients, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layer as layerLog } from "../../../src/adapters/postgres/delivery/delivery-log.ts"
import { DeliveryLog } from "../../../src/ports/delivery/delivery-log.ts"
import { withTargets } from "../run.ts"

/** Memory of this process after so many events. */
export interface FoldSample {
  readonly events: number
  readonly rss: number
  readonly heap: number
}

/** What folding came to. */
export interface Fold {
  readonly sends: number
  readonly events: number
  readonly seconds: number
  readonly samples: ReadonlyArray<FoldSample>
}

const KINDS = ["sent", "delivery_delayed", "delivered", "opened", "clicked"] as const

/** A number below `size` for each number below it, each once, in an order that looks random: a step that shares no factor. */
const scattered = (size: number): ((index: number) => number) => {
  const greatest = (a: number, b: number): number => (b === 0 ? a : greatest(b, a % b))
  let step = Math.floor(size * 0.618) | 1
  while (greatest(step, size) !== 1) step += 2
  return (index) => (index * step + 13) % size
}

const AT_ONCE = 256
const SAMPLES = 10

/** Folds five events of each of `sends` mails in random order, and checks that every mail ends where it should. */
export const foldEvents = (options: {
  readonly sends: number
  readonly databaseUrl?: string
}): Promise<Fold> =>
  withTargets({ ...options, suppressions: 1, eventRows: 1 }, ({ databaseUrl }) => {
    const events = options.sends * KINDS.length
    const at = scattered(events)
    const one = (index: number) => {
      const n = at(index)
      const [send, kind] = [Math.floor(n / KINDS.length), n % KINDS.length]
      return {
        provider: "provider_a" as const,
        providerMessageId: `fold-${send}`,
        event: KINDS[kind] ?? "sent",
        occurredAt: 1_790_000_000_000 + kind * 1000,
        recipients: [`user${send}@example.com`],
        from: "noreply@postlane.test",
        subject: "Your order has shipped",
        reason: undefined,
        keyTag: undefined,
        bounceType: undefined,
        suppress: undefined,
        alertable: true,
        tags: {},
        raw: { type: `email.${KINDS[kind]}`, data: { email_id: `fold-${send}` } }
      }
    }
    const fold = Effect.gen(function* () {
      const log = yield* DeliveryLog
      const sql = yield* WriteSql
      const samples: Array<FoldSample> = []
      const started = performance.now()
      for (let part = 0; part < SAMPLES; part++) {
        const [from, to] = [part, part + 1].map((each) => Math.floor((events * each) / SAMPLES))
        const indexes = Array.from({ length: to! - from! }, (_, index) => from! + index)
        yield* Effect.forEach(indexes, (index) => log.record(one(index)), {
          concurrency: AT_ONCE,
          discard: true
        })
        globalThis.gc?.()
        const { heapUsed, rss } = process.memoryUsage()
        samples.push({ events: to!, rss, heap: heapUsed })
      }
      const seconds = (performance.now() - started) / 1000
      const ends = yield* sql`select status, last_event, count(*)::int as count from email_log
          where provider_message_id like 'fold-%' group by 1, 2`
      const wanted = JSON.stringify([{ status: "clicked", last_event: "clicked", count: options.sends }])
      if (JSON.stringify(ends) !== wanted) throw new Error(`the mails end as ${JSON.stringify(ends)}`)
      return { sends: options.sends, events, seconds, samples }
    })
    return Effect.runPromise(
      Effect.provide(fold, Layer.provideMerge(layerLog, clients({ url: Redacted.make(databaseUrl) })))
    )
  })
