import { Clock, Context, Effect } from "effect"

import { claimable, HookEvents, makeEventHooks } from "../../../src/adapters/memory/delivery/event-hooks.ts"
import { makeHookTables } from "../../../src/adapters/memory/delivery/hook-tables.ts"
import type { MailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { dispatchDueEventHooks, dispatchEventHooks } from "../../../src/application/delivery/event-hooks.ts"
import { RECEIPT_WITHIN_SECONDS, type WantedType, wants } from "../../../src/domain/delivery/event-hooks.ts"
import {
  type ClaimRequest,
  EventHooks,
  type HookAnswer,
  HookSender
} from "../../../src/ports/delivery/event-hooks.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { type Chance, makeChance, type SimClock } from "../kernel.ts"
import { call, orNowAndThen, repeatedly, type Road, type SimProcess } from "../process.ts"
import { simCrypto } from "../sim-crypto.ts"
import type { Chronicle } from "../world.ts"
import type { Bug } from "./bugs.ts"

/** A delivery that is due waits no longer than this once nothing fails any more: a look, and the tries of those before it. */
const TAKEN_UP_MS = 15 * 60_000

/** The claim of a process that tries nothing yet. */
const NOT_BUSY = { busy: new Map<string, number>(), each: 1, limit: 1 }

const OK: HookAnswer = { status: 200, answer: "ok", error: undefined }
const UNANSWERED: HookAnswer = { status: undefined, answer: undefined, error: "no answer" }

/** How a receiver is while things go wrong, and whether it recovers. */
interface Receiver {
  readonly url: string
  /** Of which events it wants to hear. */
  readonly types: ReadonlyArray<WantedType>
  readonly refuses: number
  readonly hangs: number
  /** It answers nobody, ever. */
  readonly isGone: boolean
}

const RECEIVERS: ReadonlyArray<Receiver> = [
  { url: "https://calm.test/", types: ["*"], refuses: 0.1, hangs: 0.1, isGone: false },
  { url: "https://rough.test/", types: ["*"], refuses: 0.4, hangs: 0.3, isGone: false },
  {
    url: "https://gone.test/",
    types: ["email.bounced", "email.complained", "email.failed", "email.suppressed"],
    refuses: 0,
    hangs: 1,
    isGone: true
  }
]

/** What the database recorded, in its order: every hook is to hear of it. */
interface Told {
  readonly subject: string
  readonly type: string
}

export interface HookOptions {
  readonly seed: number
  readonly bug: Bug | undefined
  readonly clock: SimClock
  readonly chronicle: Chronicle
  readonly isOn: boolean
  readonly calm: { readonly now: boolean }
  readonly roadToStore: () => Road
  readonly lost: () => StoreUnavailable
}

/**
 * Event hooks of this world: the database tells of every send and every event as it records it; processes deliver to three receivers, one
 * of which never answers. It has a chance of its own.
 */
export const makeHooks = ({ bug, calm, chronicle, clock, isOn, lost, roadToStore, seed }: HookOptions) => {
  const chance: Chance = makeChance(seed + 7_000_003)
  const { note, saw } = chronicle
  const tables = makeHookTables()
  const services = makeEventHooks(tables)
  const inner = Context.get(services, EventHooks)
  const { tell } = Context.get(services, HookEvents)
  const truth: Array<Told> = []
  /** When each receiver first had a message, by its id. */
  const received = new Map<string, number>()
  const onDatabase = <A, E>(work: Effect.Effect<A, E>) => Effect.provideService(work, Clock.Clock, clock)
  const hooks = Effect.runSync(
    onDatabase(Effect.forEach(RECEIVERS, ({ types, url }) => inner.add({ url, types, enabled: true })))
  )
  let strangers = 0
  const told = (type: string, subject: string) =>
    tell(type, bug === "hooks-out-of-order" ? `${subject} ${strangers++}` : subject)

  /** Who waits until something can be claimed. */
  const waiting = new Set<() => void>()
  const changed = () => {
    for (const look of waiting) look()
    waiting.clear()
  }
  const mayClaim = (request: Pick<ClaimRequest, "busy" | "each" | "limit">) =>
    claimable(tables, request, clock.currentTimeMillisUnsafe()).length > 0
  const nextDue = () => {
    const now = clock.currentTimeMillisUnsafe()
    let next = Infinity
    for (const { dueAt, state } of tables.deliveries.values())
      if (state === "pending" && dueAt > now && dueAt < next) next = dueAt
    return next
  }
  /** Most of a run would be claims that find nothing: they wait here until one would find something. */
  const untilClaimable = (process: SimProcess, request: ClaimRequest) =>
    Effect.callback<void>((resume) => {
      let isOver = false
      let wakesAt = Infinity
      const wakeAt = (at: number) => {
        if (at >= wakesAt) return
        wakesAt = at
        process.clock.after(at - clock.currentTimeMillisUnsafe(), () => {
          if (isOver || at !== wakesAt) return
          wakesAt = Infinity
          look()
        })
      }
      // Within a second, as a dispatcher looks that is idle. By then a place whose try has ended is free.
      const soon = () => wakeAt(clock.currentTimeMillisUnsafe() + chance.int(1, 1_000))
      const look = () => {
        isOver = mayClaim(request)
        if (isOver) return resume(Effect.void)
        waiting.add(soon)
        return wakeAt(nextDue() + chance.int(1, 1_000))
      }
      look()
      return Effect.sync(() => void (isOver = true))
    })

  /** Tells of what the database has recorded of a send. At once: the record and its event are one transaction. */
  const recorded = (database: MailDatabase, type: string, sendId: string) => {
    if (!isOn) return
    const subject = database.rows().find(({ id }) => id === sendId)?.keyHash ?? sendId
    truth.push({ type, subject })
    // The bug: a transaction of its own, which a process that dies leaves out.
    if (bug !== "hook-after-commit" || !chance.bool(0.05)) Effect.runSync(onDatabase(told(type, subject)))
    changed()
  }

  /** The database with what it tells: in the transaction of what it is about. */
  const telling = (database: MailDatabase): MailDatabase => {
    if (!isOn) return database
    const after = (type: string, sendId: string) => Effect.sync(() => recorded(database, type, sendId))
    /** The bug: the event is not the transaction's, which is rolled back. */
    const before = (type: string, sendId: string) =>
      bug === "hook-before-commit" && chance.bool(0.05)
        ? Effect.andThen(onDatabase(told(type, sendId)), Effect.fail(lost()))
        : Effect.void
    return {
      ...database,
      store: {
        ...database.store,
        record: (entry) =>
          before(`email.${entry.outcome}`, entry.rowId).pipe(
            Effect.andThen(database.store.record(entry)),
            Effect.tap(({ sendId }) => after(`email.${entry.outcome}`, sendId))
          )
      },
      recordEvent: (entry) =>
        Effect.tap(database.recordEvent(entry), ({ sendId }) => after(`email.${entry.event}`, sendId))
    }
  }

  const answerOf = ({ hangs, isGone, refuses }: Receiver): HookAnswer => {
    if (isGone || (!calm.now && chance.bool(hangs))) return UNANSWERED
    return !calm.now && chance.bool(refuses) ? { ...OK, status: 500 } : OK
  }

  const senderOf = (process: SimProcess) =>
    HookSender.of({
      post: ({ messageId, url }) =>
        Effect.suspend(() => {
          const receiver = RECEIVERS.find((one) => one.url === url) ?? RECEIVERS[0]!
          const road: Road = {
            requestLost: calm.now ? 0 : 0.05,
            responseLost: calm.now ? 0 : 0.1,
            slow: 0.1,
            slowMs: 2_000,
            lostAfterMs: RECEIPT_WITHIN_SECONDS * 1_000,
            onLost: () => saw("receiver lost")
          }
          const takes = Effect.sync(() => {
            const answer = answerOf(receiver)
            saw(`receiver answers ${answer.status ?? "nothing"}`)
            if (answer === OK && !received.has(messageId)) {
              received.set(messageId, clock.currentTimeMillisUnsafe())
              note(() => `${url} has ${messageId} of ${process.id}`)
            }
            return answer
          })
          const heard = call(process, chance, road, takes, () => "lost" as const)
          return Effect.flatMap(
            Effect.orElseSucceed(heard, () => UNANSWERED),
            (answer) =>
              answer === UNANSWERED && chance.bool(receiver.isGone ? 0.1 : 0.5)
                ? Effect.as(Effect.sleep(RECEIPT_WITHIN_SECONDS * 1_000), answer)
                : Effect.succeed(answer)
          )
        })
    })

  const rowsOf = (hookId: string) =>
    Effect.map(
      inner.deliveries({ hookId, limit: Number.MAX_SAFE_INTEGER, state: undefined, cursor: undefined }),
      ({ rows }) => rows.toReversed()
    )
  /** A process that delivers, until it dies. */
  const dispatch = (process: SimProcess) => {
    if (!isOn) return Effect.void
    const road = <A>(operation: string, apply: Effect.Effect<A, StoreUnavailable>) =>
      Effect.suspend(() =>
        call(process, chance, roadToStore(), apply, () => {
          saw(`hook ${operation} lost`)
          return lost()
        })
      )
    const service = EventHooks.of({
      ...inner,
      claim: (request) =>
        Effect.suspend(() =>
          chance.bool(0.1)
            ? road("claim", inner.claim(request))
            : Effect.andThen(untilClaimable(process, request), road("claim", inner.claim(request)))
        ),
      end: (id, lease, answer) =>
        road(
          "end",
          inner.end(id, lease, bug === "hook-ends-unreceived" && chance.bool(0.3) ? OK : answer)
        ).pipe(Effect.ensuring(Effect.sync(changed)))
    })
    const outside = simCrypto(chance).pipe(
      Context.add(EventHooks, service),
      Context.add(HookSender, senderOf(process))
    )
    // Half of them as a schedule calls them.
    const dispatcher = chance.bool(0.5) ? dispatchEventHooks : dispatchDueEventHooks(30_000)
    return repeatedly(
      process,
      () => (calm.now ? 60_000 : 10_000) + chance.int(0, 10_000),
      Effect.provideContext(dispatcher, outside),
      orNowAndThen(() => mayClaim(NOT_BUSY))
    ).pipe(Effect.provideService(Clock.Clock, process.clock), Effect.forkDetach, Effect.asVoid)
  }

  /** O1: every hook hears of everything at least once, in order for one mail, or it is dead. O2: also where another one does not answer. */
  const violations = Effect.gen(function* () {
    const now = clock.currentTimeMillisUnsafe()
    const found: Array<string> = []
    for (const [index, { id }] of hooks.entries()) {
      const { types, url } = RECEIVERS[index]!
      const rows = yield* onDatabase(rowsOf(id))
      const wanted = truth.filter(({ type }) => wants(types, type))
      if (rows.length !== wanted.length)
        found.push(`O1: ${url} is to hear of ${rows.length} events, and ${wanted.length} were recorded`)
      const lastOf = new Map<string, number>()
      /** Mails with an event whose receipt or death is not known, and those with one that the receiver has not had. */
      const [waits, unheard] = [new Set<string>(), new Set<string>()]
      for (const [at, row] of rows.entries()) {
        const { subject, type } = wanted[at] ?? { subject: row.id, type: row.type }
        const first = received.get(row.messageId)
        if (row.state === "delivered" && first === undefined)
          found.push(`O1: ${type} of ${subject} counts as received at ${url}, which never had it`)
        if (first !== undefined && first < (lastOf.get(subject) ?? 0))
          found.push(`O1: ${type} of ${subject} was received at ${url} before an earlier event`)
        if (first !== undefined && unheard.has(subject))
          found.push(`O1: ${type} of ${subject} was received at ${url}, and an earlier event still waits`)
        if (row.state === "pending") {
          const isLate = Date.parse(row.nextAt ?? "") < now - TAKEN_UP_MS
          if (isLate && !waits.has(subject))
            found.push(`O2: nobody tries to tell ${url} of ${type} of ${subject}`)
          waits.add(subject)
          if (first === undefined) unheard.add(subject)
        }
        if (first !== undefined) lastOf.set(subject, first)
      }
    }
    return isOn ? found : []
  })

  return { telling, recorded, dispatch, violations }
}
export type Hooks = ReturnType<typeof makeHooks>
