import { Cause, Effect, Layer, Result } from "effect"
import * as fc from "fast-check"

import type { Documents } from "../../../../src/adapters/memory/documents/state.ts"
import type { Table } from "../../../../src/adapters/memory/documents/table.ts"
import * as PostgresAccounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import * as PostgresBatch from "../../../../src/adapters/postgres/batch/batch-store.ts"
import * as PostgresBulk from "../../../../src/adapters/postgres/conversion/bulk-orders.ts"
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
import { type Connection, held, type Lane, makeLane, makeTicks, OPEN, timed } from "./lane.ts"
import { type Model, overlapsAny, type Timed, unexplained } from "./serial-order.ts"

export const documentsLane = makeLane(
  Layer.mergeAll(
    PostgresConversion.layer,
    PostgresBatch.layer,
    PostgresIntake.layer,
    PostgresBulk.layer,
    PostgresAccounts.layer
  ),
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

type Asked = Extract<Call, { readonly method: string }>

/** Claims of the next thing that is free, which pass over what another call has locked at the moment (`skip locked`), by table. */
const PASSING_OVER: ReadonlyMap<string, keyof Documents | undefined> = new Map([
  ["conversions.claimChunk", "chunks"],
  ["conversions.claimAssembly", "jobs"],
  ["conversions.claimInline", "files"],
  ["conversions.claimFlyer", "flyers"],
  ["conversions.recoverOrphan", undefined],
  ["batches.claim", "batches"],
  ["batches.claimPolls", "batches"],
  ["batches.releaseOverdue", undefined],
  ["bulk.claimMessage", "bulkOrders"],
  ["intake.claim", "mails"],
  ["intake.claimReply", "replies"]
])

const nameOf = ({ method, store }: Asked): string => `${store}.${method}`

const NOTHING = new Set([textOf(undefined), textOf(0), textOf([])])

const answerOf = (end: Result.Result<unknown, unknown>, ids: ReadonlyMap<string, string>): string =>
  Result.isSuccess(end) ? textOf(translated(end.success, ids)) : "refused"

/** The in-memory stores, which answer the calls in an order; `crowded`: another call was under way. */
const makeModel = (owners: ReadonlyArray<string>, crowded: (call: Call) => boolean): Model<Call> => {
  const db = modelWith(owners)
  const stores = modelStores(db)
  const ids = makeIds()

  const run = (call: Asked): Result.Result<unknown, unknown> => {
    const member: unknown = Reflect.get(stores[call.store], call.method)
    const args = call.args.map((one) => translated(one, ids.toModel))
    const effect: unknown =
      typeof member === "function" ? Reflect.apply(member, stores[call.store], args) : member
    return Effect.runSync(Effect.result(effect as Effect.Effect<unknown, unknown>))
  }

  const difference = (call: Asked, end: Result.Result<unknown, unknown>): string | undefined => {
    if (Result.isSuccess(end) && Result.isSuccess(call.end)) learn(ids, call.end.success, end.success)
    const [real, model] = [answerOf(call.end, new Map()), answerOf(end, ids.toReal)]
    return real === model ? undefined : `PostgreSQL answered ${real}, the model ${model}`
  }

  /** Runs a claim, again without the rows that it took in vain: others may have had them locked. */
  const claim = (call: Asked, name: keyof Documents | undefined): string | undefined => {
    if (Result.isSuccess(call.end) && NOTHING.has(textOf(call.end.success))) return undefined
    const hidden = new Map<string, object>()
    let why: string | undefined
    for (let tries = 0; tries < 4; tries++) {
      const before = { toModel: new Map(ids.toModel), toReal: new Map(ids.toReal) }
      const table = name === undefined ? undefined : (db[name] as unknown as Table<object>)
      let end: Result.Result<unknown, unknown> = Result.succeed(undefined)
      why = undoneIf(db, () => {
        for (const key of hidden.keys()) table?.remove(key)
        end = run(call)
        for (const row of hidden.values()) table?.insert(row)
        return difference(call, end)
      })
      if (why === undefined || table === undefined || Result.isFailure(end)) return why
      for (const map of ["toModel", "toReal"] as const) {
        ids[map].clear()
        for (const [from, to] of before[map]) ids[map].set(from, to)
      }
      const taken = [end.success].flat().map(keyIn(name))
      const rows = taken.flatMap((key) => table.get(key) ?? [])
      if (rows.length === 0) return why
      for (const [at, row] of rows.entries()) hidden.set(taken[at]!, row)
    }
    return why
  }

  return {
    apply: (call) => {
      if (call.store === "rest") {
        const found = differencesOf(call.tables, db)
        // Whose turn is next follows from how long each attempt took.
        setTurns(db, call.turns)
        return found.length === 0 ? undefined : found.join("\n")
      }
      return PASSING_OVER.has(nameOf(call)) && crowded(call)
        ? claim(call, PASSING_OVER.get(nameOf(call)))
        : difference(call, run(call))
    }
  }
}

/** The key in the table of what was claimed. */
const keyIn =
  (table: keyof Documents | undefined) =>
  (claimed: unknown): string => {
    const { bulkId, content, fileId, id, jobId, mailId } = Object(claimed) as Readonly<
      Record<string, unknown>
    >
    if (table === "replies") return `${String(mailId)} ${String(Object(content).kind)}`
    if (table === "bulkOrders") return String(bulkId)
    return String(table === "files" ? fileId : table === "batches" ? jobId : id)
  }

/** Changes the rows, unless something is wrong with it. */
const undoneIf = (db: Documents, change: () => string | undefined): string | undefined => {
  const undo = new Error("undone")
  let why: string | undefined
  try {
    db.atomically(() => {
      why = change()
      if (why !== undefined) throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  }
  return why
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
  const { accounts, batches, bulk, conversions, hand, intake } = connection.stores
  return {
    conversions: watch("conversions", conversions),
    batches: watch("batches", batches),
    intake: watch("intake", intake),
    bulk: watch("bulk", bulk),
    accounts: watch("accounts", accounts),
    hand: watch("hand", hand)
  }
}

type Step = readonly [name: string, a: number, b: number]

/** What is there, and steps that then meet each other in the same rows. */
interface Scenario {
  readonly before: ReadonlyArray<Step>
  readonly at: ReadonlyArray<string>
}

const PDF: ReadonlyArray<Step> = [
  ["addFile", 1, 2],
  ["request", 0, 1]
]
const JOB: ReadonlyArray<Step> = [...PDF, ["createJob", 0, 1], ["claimChunk", 0, 0]]
const ASSEMBLY: ReadonlyArray<Step> = [
  ["addFile", 1, 0],
  ["request", 0, 1],
  ["createJob", 0, 1],
  ["claimChunk", 0, 0],
  ["completeChunk", 0, 0]
]
const PARKED: ReadonlyArray<Step> = [...PDF, ["createJob", 0, 0]]
const CLAIMED_ROW: ReadonlyArray<Step> = [...PARKED, ["claimRow", 0, 1], ["uploaded", 0, 0]]
const INLINE: ReadonlyArray<Step> = [
  ["addFile", 1, 3],
  ["request", 0, 1],
  ["addFile", 1, 4],
  ["request", 0, 1]
]
const FLYER: ReadonlyArray<Step> = [
  ["addFile", 1, 2],
  ["requestFlyer", 0, 0],
  ["claimFlyer", 0, 0]
]
/** Five pages each, of the customer with ten free ones. */
const SCARCE: ReadonlyArray<Step> = [
  ["addFile", 0, 4],
  ["request", 0, 1],
  ["addFile", 0, 4],
  ["addFile", 0, 4]
]
const ORDERED: ReadonlyArray<Step> = [
  ["addFile", 1, 2],
  ["addFile", 1, 0],
  ["order", 1, 1],
  ["createJob", 0, 1],
  ["claimChunk", 0, 0]
]
const RECEIVED: ReadonlyArray<Step> = [
  ["receive", 0, 0],
  ["receive", 0, 0]
]
const READING: ReadonlyArray<Step> = [...RECEIVED, ["claimMail", 0, 0], ["claimMail", 0, 0]]
const ADMITTED: ReadonlyArray<Step> = [
  ...READING,
  ["identify", 0, 1],
  ["admit", 0, 2],
  ["identify", 1, 3],
  ["admit", 1, 2]
]
const CONVERTING: ReadonlyArray<Step> = [...ADMITTED, ["claimMail", 0, 1], ["claimMail", 0, 1]]

export const SCENARIOS = {
  asked: { before: PDF, at: ["request", "createJob", "createJob", "cancel", "deleteFile", "requestFlyer"] },
  asking: {
    before: [["addFile", 1, 2]],
    at: ["request", "request", "request", "requestFlyer", "deleteFile", "reflow"]
  },
  scarce: { before: SCARCE, at: ["request", "request", "request", "topUp", "sweep"] },
  waiting: {
    before: [...PDF, ["createJob", 0, 1]],
    at: ["claimChunk", "claimChunk", "claimChunk", "cancel", "budget"]
  },
  running: {
    before: [...JOB, ["claimChunk", 0, 0]],
    at: ["completeChunk", "completeChunk", "failChunk", "beatChunk"]
  },
  "handed on": {
    before: [...JOB, ["handBackChunk", 0, 0], ["claimChunk", 0, 0]],
    at: ["completeChunk", "completeChunk", "handBackChunk", "beatChunk", "cancel"]
  },
  "one chunk": {
    before: JOB,
    at: ["completeChunk", "recover", "claimChunk", "failJob", "cancel", "sweep", "budget"]
  },
  assembling: {
    before: ASSEMBLY,
    at: ["claimAssembly", "claimAssembly", "completeChunk", "cancel", "failJob"]
  },
  assembly: {
    before: [...ASSEMBLY, ["claimAssembly", 0, 0]],
    at: ["finishJob", "finishJob", "beatAssembly", "failJob", "deleteFile", "cancel", "recover"]
  },
  inline: { before: INLINE, at: ["claimInline", "claimInline", "claimInline", "deleteFile", "request"] },
  "inline at work": {
    before: [...INLINE, ["claimInline", 0, 0]],
    at: ["finishInline", "finishInline", "failInline", "claimInline", "deleteFile", "beatInline"]
  },
  flyer: {
    before: FLYER,
    at: ["finishFlyer", "finishFlyer", "failFlyer", "cancelFlyer", "request", "deleteFile"]
  },
  "flyer done": {
    before: [...FLYER, ["finishFlyer", 0, 1]],
    at: ["reflow", "reflow", "cancelFlyer", "deleteFile", "createJob", "cancel"]
  },
  ordering: {
    before: [
      ["addFile", 1, 2],
      ["addFile", 1, 0]
    ],
    at: ["order", "order", "request", "deleteFile", "close"]
  },
  ordered: {
    before: ORDERED,
    at: ["claimMessage", "cancel", "failJob", "completeChunk", "createJob", "deleteFile", "close"]
  },
  "order done": {
    before: [...ORDERED, ["cancel", 0, 0], ["cancel", 1, 0]],
    at: ["claimMessage", "claimMessage", "confirmMessage", "confirmMessage", "order", "close"]
  },
  parked: { before: PARKED, at: ["claimRow", "claimRow", "processNow", "processNow", "cancel", "release"] },
  preparing: {
    before: CLAIMED_ROW,
    at: ["submitted", "submitted", "processNow", "cancel", "giveUp", "dropRow", "orphan", "claimRow"]
  },
  submitted: {
    before: [...CLAIMED_ROW, ["submitted", 0, 0]],
    at: ["endRow", "endRow", "processNow", "polls", "giveUp", "stranded", "resume", "cancel", "release"]
  },
  collected: {
    before: [...CLAIMED_ROW, ["submitted", 0, 0], ["endRow", 0, 0]],
    at: ["stranded", "stranded", "resume", "processNow", "cancel", "deleteFile"]
  },
  received: { before: RECEIVED, at: ["claimMail", "claimMail", "claimMail", "receive"] },
  reading: {
    before: READING,
    at: ["identify", "identify", "identify", "endMail", "handBackMail", "deferMail"]
  },
  identified: {
    before: [...READING, ["identify", 0, 1], ["identify", 1, 3]],
    at: ["admit", "admit", "endMail", "claimMail", "beatMail", "request"]
  },
  admitted: { before: ADMITTED, at: ["claimReply", "claimReply", "claimMail", "cleanMails", "sweep"] },
  converting: {
    before: CONVERTING,
    at: ["finishMail", "finishMail", "finishMail", "endMail", "deferMail", "claimReply", "topUp"]
  },
  replying: {
    before: [...CONVERTING, ["finishMail", 0, 1], ["claimReply", 0, 0]],
    at: ["endReply", "retryReply", "claimReply", "cleanMails", "kept", "finishMail"]
  }
} as const satisfies Record<string, Scenario>

const SCENES: ReadonlyArray<Scenario> = Object.values(SCENARIOS)

const EVERYWHERE = Object.keys(STEPS).filter((name) => !["hoursPass", "daysPass", "lists"].includes(name))

const stepOf = (names: ReadonlyArray<string>, newest: number): fc.Arbitrary<Step> =>
  fc.tuple(fc.constantFrom(...names), fc.nat(newest), fc.oneof(fc.nat(6), fc.nat(59)))

/** What each of two or three connections does, at once with the others; a call is kept open for so many round trips. */
const burstOf = (names: ReadonlyArray<string>) =>
  fc
    .array(
      fc.array(fc.tuple(stepOf(names, 1), OPEN), {
        minLength: 1,
        maxLength: 2
      }),
      { minLength: 2, maxLength: 3 }
    )
    .filter((lines) => lines.flat().length >= 3)

interface Script {
  readonly begin: ReadonlyArray<Step>
  readonly bursts: ReadonlyArray<{
    readonly before: ReadonlyArray<Step>
    readonly lines: ReadonlyArray<ReadonlyArray<readonly [step: Step, open: number]>>
  }>
}

/** One burst on what is just there. */
const sceneOf = ({ at, before }: Scenario): fc.Arbitrary<Script> =>
  burstOf(at).map((lines) => ({ begin: before, bursts: [{ before: [], lines }] }))

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

/** Whatever comes about, with bursts in between. */
const wild: fc.Arbitrary<Script> = fc.record({
  begin: fc
    .array(stepOf([...EVERYWHERE, ...OFTEN, ...OFTEN], 59), { maxLength: 16, size: "max" })
    .map((steps) => [...FIRST, ...steps]),
  bursts: fc.array(
    fc.record({
      before: fc.array(stepOf(Object.keys(STEPS), 9), { maxLength: 6 }),
      lines: fc.constantFrom(EVERYWHERE, ...SCENES.map(({ at }) => at)).chain(burstOf)
    }),
    { minLength: 3, maxLength: 6, size: "max" }
  )
})

const anyScript = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...SCENES).chain(sceneOf) },
  { weight: 1, arbitrary: wild }
)

export const perform = (world: World, [name, a, b]: Step) =>
  Effect.catchTag(STEPS[name]!(world, a, b), "StoreUnavailable", () => Effect.void)

const textOfCall = (call: Call): string =>
  call.store === "rest"
    ? `${call.begun}-${call.ended} the tables at rest`
    : `${call.begun}-${call.ended} ${call.store}.${call.method}${JSON.stringify(call.args)} = ${answerOf(call.end, new Map())}`

/** Empties what a world writes to: for few rows faster than `truncate`. */
export const CLEAN = `with ${[
  "bulk_items",
  "bulk_orders",
  "conversion_batch_jobs",
  "cost_ledger",
  "credit_charges",
  "funds_holds",
  "chunk_jobs",
  "convert_queue",
  "flyer_jobs",
  "large_conversion_jobs",
  "inline_turns",
  "files",
  "conversion_jobs",
  "intake_replies",
  "intake_identities",
  "intake_mails",
  "intake_strangers"
]
  .map((table, at) => `t${at} as (delete from ${table})`)
  .join(", ")}, turns as (update work_turns set customer_id = default) delete from customers`

/** Plays a world of a seed, any or one of a scene; how many bursts there were, and what no serial order explains. */
export const playDocuments = (lane: Lane<Stores>, seed: number, scene?: keyof typeof SCENARIOS | "any") =>
  Effect.gen(function* () {
    const script = scene === undefined ? anyScript : scene === "any" ? wild : sceneOf(SCENARIOS[scene])
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
    for (const step of plan!.begin) yield* perform(world, step)
    for (const { before, lines } of plan!.bursts) {
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
    const crowded = new Set(calls.filter((call) => overlapsAny(call, calls)))
    const found = unexplained(calls, () => makeModel(owners, (call) => crowded.has(call)))
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
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.succeed({ bursts: 1, violation: `seed ${seed}: ${Cause.pretty(cause)}` })
    )
  )
