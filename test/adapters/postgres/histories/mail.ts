import { Cause, Effect } from "effect"
import * as fc from "fast-check"

import { layer } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { makeMemoryWorld, makePostgresWorld, type MailWorld } from "../../../support/worlds/mail-world.ts"
import { canonicalRows, canonicalSuppressions, names, perform, step, type Step } from "../mail/steps.ts"
import { type Connection, held, type Lane, makeLane, makeTicks, OPEN, timed } from "./lane.ts"
import { type Model, overlapsAny, type Timed, unexplained } from "./serial-order.ts"

export const mailLane = makeLane(layer, makePostgresWorld)

/** A step and its answer, or what the tables held at a moment of rest. */
type Call = Timed & { readonly step: Step | "rest"; readonly answer: string }

/** Of one world at a time: a lane is emptied before each. */
export const NAMES = names(1)

/** The members in one order. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))

const textOf = (value: unknown): string => JSON.stringify(value, inOrder) ?? "nothing"

const stateOf = (world: MailWorld): Effect.Effect<string> =>
  Effect.map(Effect.all([world.rows, world.suppressions]), ([rows, suppressions]) =>
    textOf([canonicalRows(rows, NAMES), canonicalSuppressions(suppressions, NAMES)])
  )

const run = (world: MailWorld, asked: Step | "rest"): Effect.Effect<string> =>
  asked === "rest" ? stateOf(world) : Effect.map(perform(world, NAMES, asked), textOf)

/** The in-memory store, which answers the steps in an order; a due alert may be passed over while another call has it locked. */
const makeModel = (crowded: (call: Call) => boolean): Model<Call> => {
  const world = Effect.runSync(makeMemoryWorld)
  return {
    apply: (call) => {
      if (call.step !== "rest" && call.step._tag === "due" && call.answer === "nothing" && crowded(call))
        return undefined
      const answer = Effect.runSync(run(world, call.step))
      return answer === call.answer ? undefined : `PostgreSQL: ${call.answer}\nthe model: ${answer}`
    }
  }
}

type Tag = Step["_tag"]

/** What is there, and kinds of steps that then meet each other in the same rows. */
interface Scenario {
  readonly before: ReadonlyArray<Step>
  readonly at: ReadonlyArray<Tag>
  /** Which of those steps, if not all. */
  readonly only?: (one: Step) => boolean
  /** The key that they are about has its claim. */
  readonly claimed?: true
}

type Recorded = Extract<Step, { readonly _tag: "record" }>
type Event = Extract<Step, { readonly _tag: "event" }>

const record = (changes: Partial<Recorded>): Step => ({
  _tag: "record",
  key: 0,
  slot: 0,
  provider: "provider_a",
  outcome: "sent",
  message: 0,
  again: false,
  others: false,
  owner: 0,
  state: "accepted",
  settles: "call",
  ...changes
})
const event = (changes: Partial<Event>): Step => ({
  _tag: "event",
  message: 0,
  provider: "provider_a",
  event: "bounced",
  minute: 1,
  key: undefined,
  recipients: [0],
  bounceType: "Permanent",
  suppress: undefined,
  alertable: true,
  backfill: undefined,
  listed: undefined,
  part: undefined,
  ...changes
})
const begin = (owner: 0 | 1): Step => ({
  _tag: "begin",
  key: 0,
  owner,
  provider: "provider_a",
  payload: "p",
  known: undefined
})
const day: Step = { _tag: "advance", ms: 24 * 3_600_000 }

const aboutFirst = (one: Step): boolean =>
  (!("key" in one) || one.key === 0 || one.key === undefined) &&
  (!("message" in one) || one.message === 0) &&
  (!("provider" in one) || one.provider === "provider_a")

export const SCENARIOS = {
  new: { before: [], at: ["begin", "begin", "retry"], only: aboutFirst },
  held: {
    before: [begin(0)],
    at: ["begin", "move", "record", "retry", "evidence"],
    only: aboutFirst,
    claimed: true
  },
  "left open": {
    before: [begin(0), { _tag: "advance", ms: 60_000 }],
    at: ["begin", "begin", "move", "record", "retry"],
    only: aboutFirst,
    claimed: true
  },
  deferred: {
    before: [begin(0), record({ outcome: "deferred", state: "deferred" })],
    at: ["event", "event", "retry", "retry", "record", "evidence", "open"],
    only: aboutFirst,
    claimed: true
  },
  early: { before: [], at: ["event", "event", "record", "record", "open"], only: aboutFirst },
  sent: {
    before: [record({})],
    at: ["event", "event", "event", "release", "confirm", "unsuppress"],
    only: aboutFirst
  },
  alerted: {
    before: [record({}), event({})],
    at: ["event", "release", "release", "confirm", "confirm", "due"],
    only: aboutFirst
  },
  due: {
    before: [record({}), event({}), day],
    at: ["due", "due", "release", "confirm", "event", "erase"],
    only: aboutFirst
  },
  erased: {
    before: [record({}), event({})],
    at: ["erase", "erase", "suppress", "unsuppress", "event", "begin", "record"],
    only: (one) => !("to" in one) || one.to === 0
  },
  any: { before: [begin(0)], at: [] }
} as const satisfies Record<string, Scenario>

/** What each of two or three connections does, at once with the others; a call is kept open for so many round trips. */
const burstOf = ({ at, claimed, only }: Scenario) => {
  const meets = (one: Step) =>
    one._tag !== "advance" && (at.length === 0 || at.includes(one._tag)) && only?.(one) !== false
  const one = fc.tuple(step.filter(meets), OPEN)
  return fc.array(fc.array(one, { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 3 }).filter(
    (lines) =>
      lines.flat().length >= 3 &&
      !passesUnseen(
        lines.map((steps) => steps.map(([asked]) => asked)),
        claimed === true
      )
  )
}

/** What the connections do, one list of steps each. */
type Lines = ReadonlyArray<ReadonlyArray<Step>>

/**
 * What is not promised to look like one after the other, since one of the two holds no claim (S9): a call that takes a key over or
 * claims it for the first time does not see an event, or the row of a call without a claim, whose transaction is still open, and is
 * not seen by it. Only the first connection's call may hold the claim, and its first row ends it. Nor two operators, of whom one
 * adds a suppression while the other removes those that are there.
 */
const passesUnseen = (lines: Lines, isClaimed: boolean): boolean => {
  const has = (...tags: ReadonlyArray<Tag>) => lines.flat().some(({ _tag }) => tags.includes(_tag))
  const records = (steps: ReadonlyArray<Step>) => steps.filter(({ _tag }) => _tag === "record").length
  const isHolders = isClaimed && records(lines[0] ?? []) < 2 && records(lines.slice(1).flat()) === 0
  return (
    (has("suppress") && has("unsuppress")) ||
    (has("begin") && lines.flat().some((one) => one._tag === "event" && one.key !== undefined)) ||
    (has("begin", "retry") && has("record") && !isHolders)
  )
}

export const CLEAN = `with a as (delete from email_log), b as (delete from email_suppressions), c as (delete from email_alerts),
  d as (delete from erased_suppressions), e as (delete from email_events),
  -- It names the people who were erased, for a day; the next history's have the same addresses.
  f as (delete from admin_audit_log) delete from email_send_claims`

/** An attempt is one provider's: what is recorded again under its id names no other. */
export const ofOneAttempt = (one: Step): Step =>
  one._tag === "record" ? { ...one, provider: one.slot === 2 ? "provider_b" : "provider_a" } : one

/** A connection is one call or one retry: it does one thing after another, and alone records its attempts (S9). */
const ownedBy = (connection: number, one: Step): Step => {
  const own = connection as 0 | 1 | 2
  if (one._tag === "record") return { ...one, owner: own, slot: own }
  return "owner" in one ? { ...one, owner: own } : one
}

/** Plays a world of a seed, any or one of a scene; how many bursts there were, and what no serial order explains. */
export const playMail = (lane: Lane<MailWorld>, seed: number, scene?: keyof typeof SCENARIOS) =>
  Effect.gen(function* () {
    const scenes: ReadonlyArray<Scenario> =
      scene === undefined ? Object.values(SCENARIOS) : [SCENARIOS[scene]]
    const script = fc.constantFrom(...scenes).chain((chosen) =>
      fc.record({
        before: fc
          .array(chosen.at.length === 0 ? step : step.filter(({ _tag }) => _tag !== "advance"), {
            maxLength: chosen.at.length === 0 ? 8 : 1
          })
          .map((steps) => [...chosen.before, ...steps]),
        // The claim is not the same after one.
        bursts: fc.array(burstOf(chosen), { minLength: 1, maxLength: chosen.claimed === true ? 1 : 3 })
      })
    )
    const [plan] = fc.sample(script, { seed, numRuns: 1 })
    const [first] = lane.connections
    yield* first!.sql.unsafe(CLEAN)
    const calls: Array<Call> = []
    const tick = makeTicks()
    const ask = (connection: Connection<MailWorld>, asked: Step | "rest", rounds: number) =>
      Effect.gen(function* () {
        const call = held(connection, rounds, run(connection.stores, asked))
        const { begun, end, ended } = yield* timed(tick, call)
        calls.push({ step: asked, answer: yield* Effect.fromResult(end), begun, ended })
      })
    for (const one of plan!.before) yield* ask(first!, ofOneAttempt(one), 0)
    for (const lines of plan!.bursts) {
      yield* Effect.forEach(
        lines,
        (steps, at) =>
          Effect.forEach(steps, ([one, open]) =>
            ask(lane.connections[at]!, ofOneAttempt(ownedBy(at, one)), open)
          ),
        { concurrency: "unbounded" }
      )
      yield* ask(first!, "rest", 0)
    }
    const crowded = new Set(calls.filter((call) => overlapsAny(call, calls)))
    const found = unexplained(calls, () => makeModel((call) => crowded.has(call)))
    const line = (call: Call) => `${call.begun}-${call.ended} ${textOf(call.step)} = ${call.answer}`
    return {
      bursts: plan!.bursts.length,
      violation:
        found === undefined
          ? undefined
          : [
              `seed ${seed}: no serial order gives these answers`,
              ...found.order.map(line),
              "then none of",
              ...found.next.map(({ call, why }) => `${call.begun}-${call.ended} ${textOf(call.step)}: ${why}`)
            ].join("\n")
    }
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.succeed({ bursts: 1, violation: `seed ${seed}: ${Cause.pretty(cause)}` })
    )
  )
