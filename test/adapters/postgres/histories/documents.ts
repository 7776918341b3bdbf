import { Cause, Effect, Exit, Layer, Result } from "effect"
import * as fc from "fast-check"

import type { Documents } from "../../../../src/adapters/memory/documents/state.ts"
import * as PostgresBatch from "../../../../src/adapters/postgres/batch/batch-store.ts"
import * as PostgresConversion from "../../../../src/adapters/postgres/conversion/conversion-store.ts"
import * as PostgresIntake from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { learn, makeIds, textOf, translated } from "../documents-model/pair.ts"
import { FIRST, STEPS } from "../documents-model/steps.ts"
import { differencesOf, type Tables, tablesOf } from "../documents-model/tables.ts"
import {
  addOwners,
  modelStores,
  modelWith,
  realStores,
  setTurns,
  type Stores,
  type Turns,
  turnsOf,
  type World,
  worldOf
} from "../documents-model/world.ts"
import { type Connection, held, type Lane, makeLane, makeTicks, timed } from "./lane.ts"
import { type Model, overlapsAny, type Timed, unexplained } from "./serial-order.ts"

export const documentsLane = makeLane(
  Layer.mergeAll(PostgresConversion.layer, PostgresBatch.layer, PostgresIntake.layer),
  realStores
)

/** A call of a store, or what the tables held at a moment of rest. */
type Call = Timed &
  (
    | {
        readonly store: keyof Stores
        readonly method: string
        readonly args: ReadonlyArray<unknown>
        readonly end: Result.Result<unknown, unknown>
      }
    | { readonly store: "rest"; readonly tables: Tables; readonly turns: Turns }
  )

/** Claims of the next thing that is free: they pass over what another call has locked at the moment (`skip locked`). */
const PASSING_OVER = new Set([
  ...[
    "conversions.claimChunk",
    "conversions.claimAssembly",
    "conversions.claimInline",
    "conversions.claimFlyer"
  ],
  ...["conversions.recoverOrphan", "batches.claim", "batches.claimPolls", "batches.releaseOverdue"],
  ...["intake.claim", "intake.claimReply"]
])

/** Whether a call answered that nothing was free, at a moment when another call may have held what was. */
const passedOver = (call: Call, calls: ReadonlyArray<Call>): boolean =>
  call.store !== "rest" &&
  PASSING_OVER.has(`${call.store}.${call.method}`) &&
  Result.isSuccess(call.end) &&
  (call.end.success === undefined || call.end.success === 0) &&
  overlapsAny(call, calls)

const answerOf = (end: Result.Result<unknown, unknown>, ids: ReadonlyMap<string, string>): string =>
  Result.isSuccess(end) ? textOf(translated(end.success, ids)) : "refused"

/** The in-memory stores, which answer the calls in an order. */
const makeModel = (owners: ReadonlyArray<string>, busy: ReadonlySet<Call>): Model<Call> => {
  const db: Documents = modelWith(owners)
  const stores = modelStores(db)
  const ids = makeIds()
  return {
    apply: (call) => {
      if (call.store === "rest") {
        const found = differencesOf(call.tables, db)
        // Whose turn is next follows from how long each attempt took.
        setTurns(db, call.turns)
        return found.length === 0 ? undefined : found.join("\n")
      }
      if (busy.has(call)) return undefined
      const member: unknown = Reflect.get(stores[call.store], call.method)
      const effect: unknown =
        typeof member === "function"
          ? Reflect.apply(
              member,
              stores[call.store],
              call.args.map((one) => translated(one, ids.toModel))
            )
          : member
      const exit = Effect.runSyncExit(Effect.result(effect as Effect.Effect<unknown, unknown>))
      if (Exit.isFailure(exit)) return Cause.pretty(exit.cause)
      if (Result.isSuccess(exit.value) && Result.isSuccess(call.end))
        learn(ids, call.end.success, exit.value.success)
      const [real, model] = [answerOf(call.end, new Map()), answerOf(exit.value, ids.toReal)]
      return real === model ? undefined : `PostgreSQL answered ${real}, the model ${model}`
    }
  }
}

/** Stores whose calls are written down, each kept open for a while. */
const recorded = (
  connection: Connection<Stores>,
  calls: Array<Call>,
  tick: () => number,
  rounds: () => number
): Stores => {
  const watch = <S extends object>(store: keyof Stores, real: S): S =>
    new Proxy(real, {
      get: (target, method) => {
        const member: unknown = Reflect.get(target, method)
        const call = (args: ReadonlyArray<unknown>, effect: Effect.Effect<unknown, unknown>) =>
          Effect.gen(function* () {
            const { begun, end, ended } = yield* timed(tick, held(connection, rounds(), effect))
            calls.push({ store, method: String(method), args, begun, end, ended })
            return yield* Effect.fromResult(end)
          })
        if (Effect.isEffect(member)) return call([], member as Effect.Effect<unknown, unknown>)
        return typeof member !== "function"
          ? member
          : (...args: ReadonlyArray<unknown>) =>
              call(
                args,
                Effect.suspend(() => Reflect.apply(member, target, args) as Effect.Effect<unknown, unknown>)
              )
      }
    })
  const { batches, conversions, hand, intake } = connection.stores
  return {
    conversions: watch("conversions", conversions),
    batches: watch("batches", batches),
    intake: watch("intake", intake),
    hand: watch("hand", hand)
  }
}

type Step = readonly [name: string, a: number, b: number]

/** Steps that meet each other in the same rows. */
const THEMES: ReadonlyArray<ReadonlyArray<string>> = [
  ["claimChunk", "completeChunk", "completeChunk", "failChunk", "handBackChunk", "beatChunk", "cancel"],
  ["claimChunk", "recover", "budget", "failJob", "completeChunk", "claimAssembly", "cancel", "sweep"],
  ["claimAssembly", "beatAssembly", "finishJob", "finishJob", "cancel", "failJob", "deleteFile", "request"],
  ["request", "request", "createJob", "createJob", "cancel", "deleteFile", "requestFlyer", "reflow"],
  ["claimInline", "claimInline", "finishInline", "failInline", "beatInline", "deleteFile", "request"],
  ["requestFlyer", "claimFlyer", "finishFlyer", "failFlyer", "cancelFlyer", "reflow", "deleteFile"],
  ["claimRow", "claimRow", "uploaded", "submitted", "processNow", "cancel", "giveUp", "dropRow"],
  ["submitted", "endRow", "endRow", "giveUp", "release", "stranded", "resume", "processNow", "polls"],
  ["receive", "claimMail", "claimMail", "identify", "admit", "beatMail", "handBackMail", "deferMail"],
  ["identify", "identify", "admit", "admit", "finishMail", "finishMail", "endMail", "claimMail"],
  ["claimReply", "claimReply", "endReply", "retryReply", "cleanMails", "finishMail", "kept"],
  ["request", "admit", "finishMail", "finishJob", "finishInline", "topUp", "cancel", "sweep"],
  Object.keys(STEPS).filter((name) => !["hoursPass", "daysPass", "lists"].includes(name))
]

const stepOf = (names: ReadonlyArray<string>, newest: number): fc.Arbitrary<Step> =>
  fc.tuple(fc.constantFrom(...names), fc.nat(newest), fc.nat(59))

/** What each connection does at once with the others; a call is kept open for so many round trips. */
const burst = fc.constantFrom(...THEMES).chain((names) =>
  fc.tuple(
    fc.array(stepOf(names, 9), { minLength: 0, maxLength: 5 }),
    fc
      .array(fc.array(fc.tuple(stepOf(names, 1), fc.nat(4)), { minLength: 1, maxLength: 2 }), {
        minLength: 2,
        maxLength: 3
      })
      .filter((lines) => lines.flat().length >= 3)
  )
)

const OFTEN = [
  "addFile",
  "request",
  "createJob",
  "claimChunk",
  "completeChunk",
  "claimRow",
  "claimMail",
  "identify"
]

/** A world: what it begins with, then bursts, with steps of one connection between them. */
const script = fc.record({
  begin: fc.array(stepOf([...Object.keys(STEPS), ...OFTEN, ...OFTEN], 59), {
    minLength: 4,
    maxLength: 24,
    size: "max"
  }),
  bursts: fc.array(burst, { minLength: 4, maxLength: 8, size: "max" })
})

const perform = (world: World, [name, a, b]: Step) =>
  Effect.catchTag(STEPS[name]!(world, a, b), "StoreUnavailable", () => Effect.void)

const textOfCall = (call: Call): string =>
  call.store === "rest"
    ? `${call.begun}-${call.ended} the tables at rest`
    : `${call.begun}-${call.ended} ${call.store}.${call.method}${JSON.stringify(call.args)} = ${answerOf(call.end, new Map())}`

/** Empties what a world writes to: for few rows faster than `truncate`. */
const CLEAN = `with ${[
  ...[
    "conversion_batch_jobs",
    "cost_ledger",
    "credit_charges",
    "funds_holds",
    "chunk_jobs",
    "convert_queue",
    "flyer_jobs"
  ],
  ...[
    "large_conversion_jobs",
    "inline_turns",
    "files",
    "conversion_jobs",
    "intake_replies",
    "intake_identities"
  ],
  ...["intake_mails", "intake_strangers"]
]
  .map((table, at) => `t${at} as (delete from ${table})`)
  .join(", ")} delete from customers`

/** Plays a world of a seed; how many bursts there were, and what no serial order explains. */
export const playDocuments = (lane: Lane<Stores>, seed: number) =>
  Effect.gen(function* () {
    const [plan] = fc.sample(script, { seed, numRuns: 1 })
    const [first] = lane.connections
    const { sql } = first!
    yield* sql.unsafe(CLEAN)
    const owners = [anyId(), anyId()]
    yield* addOwners(sql, owners)
    const calls: Array<Call> = []
    const tick = makeTicks()
    const rounds = lane.connections.map(() => 0)
    const world = worldOf(
      recorded(first!, calls, tick, () => rounds[0]!),
      owners
    )
    const worlds = lane.connections.map((connection, at) => ({
      ...world,
      ...recorded(connection, calls, tick, () => rounds[at]!)
    }))
    const rest = Effect.gen(function* () {
      const begun = tick()
      const [tables, turns] = [yield* tablesOf(sql), yield* turnsOf(sql)]
      calls.push({ store: "rest", tables, turns, begun, ended: tick() })
    })
    for (const step of [...FIRST, ...plan!.begin]) yield* perform(world, step)
    for (const [before, lines] of plan!.bursts) {
      for (const step of before) yield* perform(world, step)
      yield* rest
      yield* Effect.forEach(
        lines,
        (steps, at) =>
          Effect.forEach(steps, ([step, open]) => {
            rounds[at] = open
            return perform(worlds[at]!, step)
          }),
        { concurrency: "unbounded" }
      )
      rounds.fill(0)
      yield* rest
    }
    const busy = new Set(calls.filter((call) => passedOver(call, calls)))
    const found = unexplained(calls, () => makeModel(owners, busy))
    return {
      bursts: plan!.bursts.length,
      violation:
        found === undefined
          ? undefined
          : [
              `seed ${seed}: no serial order gives these answers`,
              ...found.order.slice(-12).map(textOfCall),
              "then none of",
              ...found.next.map(({ call, why }) => `${textOfCall(call)}: ${why}`)
            ].join("\n")
    }
  }).pipe(Effect.orDie)
