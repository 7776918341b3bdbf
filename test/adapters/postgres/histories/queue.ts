import { createHash } from "node:crypto"

import { Effect, Layer } from "effect"

import { makeMailDatabase } from "../../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../../src/adapters/memory/mail/send-queue.ts"
import { layer as layerStore } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { layer as layerQueue } from "../../../../src/adapters/postgres/mail/send-queue.ts"
import { type IdempotencyKey, KeyHash, LeaseId, QueueId } from "../../../../src/domain/ids.ts"
import { fixedRate } from "../../../../src/domain/mail/rate.ts"
import { MailStore } from "../../../../src/ports/mail/mail-store.ts"
import { type QueueLease, type QueueMove, SendQueue } from "../../../../src/ports/mail/send-queue.ts"
import { attempt, mail, resultOf } from "../../../contracts/mail/mail-store/mails.ts"
import { anyId } from "../../../support/any-id.ts"
import { makeLane } from "./lane.ts"
import { playScenes, type Scenario, type Scenes, type SceneStep } from "./scenes.ts"

/** The send queue, and the store that direct sends use. */
export interface Queueing {
  readonly queue: SendQueue["Service"]
  readonly store: MailStore["Service"]
}

const stores = Effect.gen(function* () {
  return { queue: yield* SendQueue, store: yield* MailStore }
})

export const queueLane = makeLane(Layer.mergeAll(layerQueue, layerStore), stores)

const memoryQueueing = (): Queueing => {
  const database = makeMailDatabase()
  return { queue: makeSendQueue(database).queue, store: database.store }
}

/** What the steps before a burst have made. */
interface Made {
  readonly ids: Array<QueueId>
  readonly taken: Array<QueueLease>
}

type Step = SceneStep<Queueing, Made>

const KEY: IdempotencyKey = anyId("order-1")
const HASH = KeyHash.make(createHash("sha256").update(KEY).digest("hex"))
const LEASE_MS = 60_000
const PACES = [
  { provider: "provider_a", ...fixedRate(0) },
  { provider: "provider_b", ...fixedRate(0) }
] as const

/** Nobody's: a step that has nothing to work on. */
const NOBODY: QueueLease = {
  id: QueueId.make("00000000-0000-7000-8000-000000000001"),
  lease: LeaseId.make("00000000-0000-7000-8000-000000000002")
}

const claim = (owner: string) => ({
  payloadHash: "payload",
  provider: "provider_a" as const,
  owner,
  leaseMs: LEASE_MS,
  tag: undefined,
  known: undefined
})

const requestOf = (n: number) => ({
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: n % 2 === 0 ? "transactional" : "marketing",
  source: "api:test"
})

const KEYED = { ...requestOf(0), idempotencyKey: KEY, category: "auth" }

const ENDS = ["sent", "failed", "queued"] as const

/** How the request that was taken first ends, or goes back. */
const endOf = (n: number, { id, lease }: QueueLease): QueueMove => {
  const state = ENDS[n % ENDS.length]!
  const status = state === "queued" ? "failed" : state
  const record = attempt(mail({ idempotencyKey: KEY, keyHash: HASH }), status, {
    rowId: anyId(id),
    providerMessageId: state === "sent" ? "m-1" : null,
    errorKind: status === "failed" ? "unavailable" : null,
    settle: {
      owner: lease,
      state: state === "sent" ? "accepted" : "refused",
      ambiguous: false,
      result: resultOf(status, KEY)
    }
  })
  return {
    id,
    lease,
    state,
    dueMs: state === "queued" ? 3_600_000 : undefined,
    tried: [],
    refusals: 0,
    error: null,
    result: state === "queued" ? null : resultOf(status, KEY),
    frees: state === "failed",
    record,
    writesRow: state !== "queued"
  }
}

const STEPS: Readonly<Record<string, Step>> = {
  // With the same mail each time: another one is an error, which ends a transaction of its caller's.
  enqueue: ({ queue }, _, made) =>
    Effect.map(queue.enqueue([{ request: KEYED, payloadHash: "payload" }]), ([queued]) => {
      if (queued !== undefined && !made.ids.includes(queued.id)) made.ids.push(queued.id)
      return queued?.state
    }),
  enqueueOther: ({ queue }, n, made) =>
    Effect.map(queue.enqueue([{ request: requestOf(n), payloadHash: "payload" }]), ([queued]) => {
      if (queued !== undefined) made.ids.push(queued.id)
      return queued?.state
    }),
  cancel: ({ queue }, n, made) =>
    Effect.map(
      queue.cancel(made.ids[n % Math.max(1, made.ids.length)] ?? NOBODY.id),
      (state) => state ?? null
    ),
  take: ({ queue }, _, made) =>
    Effect.map(
      queue.take({ paces: PACES, primary: "provider_a", limit: 1, leaseMs: LEASE_MS }),
      ({ mails }) =>
        mails.map(({ deaths, id, lease }) => {
          made.taken.push({ id, lease })
          const place = made.ids.indexOf(id)
          return { request: place === -1 ? "new" : place, deaths }
        })
    ),
  renew: ({ queue }, _, made) =>
    Effect.map(queue.renew([made.taken[0] ?? NOBODY], LEASE_MS), (held) => held.size),
  begin: ({ queue }, _, made) => {
    const held = made.taken[0] ?? NOBODY
    return Effect.map(
      queue.begin({ keyHash: HASH, addresses: [], claim: claim(held.lease), held }),
      ({ decision }) => decision._tag
    )
  },
  end: ({ queue }, n, made) =>
    Effect.map(queue.move(endOf(n, made.taken[0] ?? NOBODY)), (moved) => moved !== undefined),
  direct: ({ store }, n) =>
    Effect.map(
      store.begin({ keyHash: HASH, addresses: [], claim: claim(`a call ${n}`) }),
      ({ decision }) => decision._tag
    ),
  pause: ({ queue }, n) =>
    queue.pause({ category: n % 2 === 0 ? undefined : "auth", actor: "desk", isPaused: n % 3 !== 0 })
}

/** The states of the requests that are known, in the order in which they were made, and what waits. */
const rest: Step = ({ queue }, _, made) =>
  Effect.all([
    Effect.forEach(made.ids, (id) =>
      Effect.map(queue.find(id), (found) => found && [found.state, found.attempts, found.result?.status])
    ),
    Effect.map(queue.overview, ({ categories, paused }) => [
      categories.map(({ category, due, later, sending }) => ({ category, due, later, sending })),
      paused.map(({ scope }) => scope)
    ])
  ])

export const SCENARIOS = {
  "one key": { before: [], at: ["enqueue", "enqueue", "direct", "cancel"] },
  "one key queued": {
    before: [["enqueue", 0]],
    at: ["take", "take", "cancel", "cancel", "enqueue", "direct"]
  },
  "several queued": {
    before: [
      ["enqueueOther", 1],
      ["enqueue", 0],
      ["enqueueOther", 0]
    ],
    at: ["take", "take", "cancel", "enqueueOther", "pause"]
  },
  taken: {
    before: [
      ["enqueue", 0],
      ["take", 0]
    ],
    at: ["begin", "cancel", "end", "renew", "direct", "enqueue"]
  },
  "under way": {
    before: [
      ["enqueue", 0],
      ["take", 0],
      ["begin", 0]
    ],
    at: ["end", "end", "cancel", "direct", "enqueue", "renew"]
  }
} as const satisfies Record<string, Scenario>

const CLEAN = `with ${[
  "email_queue_pauses",
  "email_pace",
  "email_send_claims",
  "email_log",
  "admin_audit_log"
]
  .map((table, at) => `t${at} as (delete from ${table})`)
  .join(", ")} delete from email_send_queue`

export const QUEUE = {
  steps: STEPS,
  rest,
  scenarios: SCENARIOS,
  memory: memoryQueueing,
  none: (): Made => ({ ids: [], taken: [] }),
  clean: CLEAN,
  // A request that another transaction has locked is passed over.
  passesOver: { take: "[]" }
} satisfies Scenes<Queueing, Made, keyof typeof SCENARIOS>

export const playQueue = playScenes(QUEUE)
