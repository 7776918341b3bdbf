import { claim, end, redeliver } from "../../src/adapters/memory/delivery/event-hooks.ts"
import {
  type HookDelivery,
  type HookTables,
  makeHookTables
} from "../../src/adapters/memory/delivery/hook-tables.ts"
import { RETRY_DELAYS_SECONDS } from "../../src/domain/delivery/event-hooks.ts"
import type { Model, Step } from "./explore.ts"

const LEASE_MS = 30_000
/** Of its tries an event of the model has these left. */
const TRIES = 2
const BEFORE = RETRY_DELAYS_SECONDS.length + 1 - TRIES

const HOOK = {
  url: "https://x.test",
  types: ["*"],
  offBy: null,
  fromSettings: false,
  secret: "",
  old: undefined
} as const
const HOOK_ID = "hook"

/** What a dispatcher does with an event that it claimed. */
interface Try {
  readonly n: number
  readonly lease: string
  /** What the receiver answered: it is noted next. */
  readonly answer: 200 | 500 | undefined
}

interface State {
  /** The mail that each event is about, in the order of what happened. */
  readonly mails: ReadonlyArray<string>
  /** Of each event: not begun, in an open transaction, committed. */
  readonly written: ReadonlyArray<"no" | "open" | "yes">
  readonly deliveries: ReadonlyArray<HookDelivery | undefined>
  /** Which events the receiver has, in the order of their first deliveries. */
  readonly received: ReadonlyArray<number>
  readonly dispatchers: ReadonlyArray<Try | undefined>
  readonly crashes: number
  readonly leases: number
  readonly redeliveries: number
  /** The last event that was claimed: for those who go by it. */
  readonly cursor: number
}

/** What the model decides by: production's own store in memory, and how events are written. */
interface Rules {
  readonly claim: (
    tables: HookTables,
    request: Parameters<typeof claim>[1],
    cursor: number
  ) => ReturnType<typeof claim>
  readonly end: typeof end
  /** Whether the events of a mail are written one after the other, under one lock (`lock_hook_subjects`). */
  readonly locksSubject: boolean
  readonly usesCursor: boolean
}

export const HOOK_RULES: Rules = {
  claim: (tables, request) => claim(tables, request, 0),
  end,
  locksSubject: true,
  usesCursor: false
}

/** Rules as they were worded at first, each in production's place. */
export const HOOK_LITERAL = {
  /** A dispatcher goes by a cursor over ids (15). */
  "a cursor over ids": {
    usesCursor: true,
    claim: (tables, request, cursor) => {
      for (const one of tables.deliveries.values()) if (Number(one.id) <= cursor) one.dueAt = 1
      return claim(tables, request, 0)
    }
  },
  /** "In order for one mail", and no lock is common to those who write its events (15). */
  "no lock of a mail": { locksSubject: false },
  /** Whatever is due is sent. */
  "no order in a mail": {
    claim: (tables, request) => {
      const all = [...tables.deliveries.values()].map((one) => Object.assign(one, { subject: one.id }))
      return claim({ ...tables, of: () => all }, request, 0)
    }
  },
  /** A failure counts, also where another dispatcher has the event by then. */
  "a failure after its lease": {
    end: (tables, id, lease, answer, now) =>
      end(tables, id, tables.deliveries.get(id)?.lease ?? lease, answer, now)
  }
} as const satisfies Readonly<Record<string, Partial<Rules>>>
export type HookLiteral = keyof typeof HOOK_LITERAL

export const hookRulesWith = (literal: HookLiteral): Rules => ({ ...HOOK_RULES, ...HOOK_LITERAL[literal] })

const tablesOf = ({ deliveries }: State): HookTables => {
  const tables = makeHookTables()
  const hook = tables.add(HOOK, 0)
  tables.hooks.clear()
  tables.hooks.set(HOOK_ID, { ...hook, id: HOOK_ID })
  for (const one of deliveries) if (one !== undefined) tables.put({ ...one })
  return tables
}

const stored = (state: State, { deliveries }: HookTables): State => ({
  ...state,
  deliveries: state.deliveries.map((one) => one && { ...deliveries.get(one.id)!, subject: one.subject })
})

const replaceAt = <A>(all: ReadonlyArray<A>, at: number, one: A): ReadonlyArray<A> =>
  all.map((known, n) => (n === at ? one : known))

const delivery = (n: number, subject: string): HookDelivery => ({
  id: String(n + 1),
  hookId: HOOK_ID,
  messageId: `msg_${n}`,
  type: "email.sent",
  subject,
  body: "",
  createdAt: 0,
  state: "pending",
  tries: BEFORE,
  again: false,
  dueAt: 0,
  lease: undefined,
  triedAt: undefined,
  endedAt: undefined,
  answer: undefined
})

type Moves = ReadonlyArray<Step<State>>

/** Transactions write their events, and commit or roll back. */
const writes = ({ locksSubject }: Rules, state: State): Moves =>
  state.mails.flatMap((mail, n): Moves => {
    const before = state.mails.findLastIndex((other, at) => other === mail && at < n)
    if (state.written[n] === "open")
      return [
        {
          label: `event ${n + 1} of mail ${mail} commits`,
          state: {
            ...state,
            written: replaceAt(state.written, n, "yes"),
            deliveries: replaceAt(state.deliveries, n, delivery(n, mail))
          }
        }
      ]
    // Ids are given in the order of the inserts.
    const isNext =
      before === -1 || (locksSubject ? state.written[before] === "yes" : state.written[before] !== "no")
    return state.written[n] === "no" && isNext
      ? [
          {
            label: `event ${n + 1} of mail ${mail} is written`,
            state: { ...state, written: replaceAt(state.written, n, "open") }
          }
        ]
      : []
  })

const isOver = (one: HookDelivery | undefined): boolean => one?.state === "delivered" || one?.state === "dead"

/** O1: a later event of a mail is first sent after the receipt or the death of the earlier. */
const brokenBySending = (state: State, n: number): string | undefined => {
  const earlier = state.mails.findIndex((mail, at) => mail === state.mails[n] && at < n)
  return earlier === -1 ||
    state.received.includes(n) ||
    isOver(state.deliveries[earlier]) ||
    state.deliveries[earlier]?.again === true
    ? undefined
    : `O1: event ${n + 1} is sent before event ${earlier + 1} of its mail was received or is dead`
}

const claims = (rules: Rules, state: State): Moves =>
  state.dispatchers.flatMap((held, d): Moves => {
    if (held !== undefined) return []
    return state.mails.flatMap((_mail, due): Moves => {
      const one = state.deliveries[due]
      // Its time comes, and no other's.
      if (one?.state !== "pending" || one.lease !== undefined) return []
      const hidden = state.deliveries.map((other, n) =>
        other === undefined || n === due ? other : { ...other, dueAt: 1 }
      )
      const tables = tablesOf({ ...state, deliveries: replaceAt(hidden, due, { ...one, dueAt: 0 }) })
      const lease = `d${d}`
      const claimed = rules.claim(
        tables,
        { lease, leaseMs: LEASE_MS, limit: 1, each: 4, busy: new Map() },
        state.cursor
      )[0]
      if (claimed === undefined) return []
      const n = Number(claimed.id) - 1
      return [
        {
          label: `D${d} sends event ${n + 1}`,
          broken: brokenBySending(state, n),
          state: {
            ...stored(state, tables),
            cursor: rules.usesCursor ? Math.max(state.cursor, n + 1) : 0,
            dispatchers: replaceAt(state.dispatchers, d, { n, lease, answer: undefined })
          }
        }
      ]
    })
  })

const answers = (_: Rules, state: State): Moves =>
  state.dispatchers.flatMap((held, d): Moves => {
    if (held === undefined || held.answer !== undefined) return []
    const received = state.received.includes(held.n) ? state.received : [...state.received, held.n]
    const answer = (label: string, from: State, status: 200 | 500): Step<State> => ({
      label: `event ${held.n + 1}: ${label}`,
      state: { ...from, dispatchers: replaceAt(state.dispatchers, d, { ...held, answer: status }) }
    })
    return [
      answer("received", { ...state, received }, 200),
      answer("received, and the receipt is lost", { ...state, received }, 500),
      answer("refused", state, 500)
    ]
  })

const notes = (rules: Rules, state: State): Moves =>
  state.dispatchers.flatMap((held, d): Moves => {
    if (held?.answer === undefined) return []
    const tables = tablesOf(state)
    rules.end(
      tables,
      String(held.n + 1),
      held.lease,
      { status: held.answer, answer: undefined, error: undefined },
      0
    )
    const then = stored(state, tables)
    const one = then.deliveries[held.n]!
    const isEarly = one.state === "dead" && one.lease !== undefined
    const others = state.dispatchers.some(
      (other, at) => at !== d && other?.n === held.n && other.lease === state.deliveries[held.n]?.lease
    )
    return [
      {
        label: `D${d} notes ${held.answer} of event ${held.n + 1}`,
        broken:
          isEarly ||
          (held.answer === 500 && others && one.lease === undefined && !isOver(state.deliveries[held.n]))
            ? `O1: the failure of a try that has passed on ends the try of another dispatcher`
            : undefined,
        state: { ...then, dispatchers: replaceAt(state.dispatchers, d, undefined) }
      }
    ]
  })

/** A dispatcher dies, or stands still past its lease. */
const faults = (_: Rules, state: State): Moves =>
  state.dispatchers.flatMap((held, d): Moves => {
    if (held === undefined) return []
    const one = state.deliveries[held.n]!
    const free =
      one.lease === held.lease
        ? replaceAt(state.deliveries, held.n, { ...one, lease: undefined })
        : state.deliveries
    return [
      ...(state.crashes > 0
        ? [
            {
              label: `D${d} is killed, and its lease is over`,
              state: {
                ...state,
                crashes: state.crashes - 1,
                deliveries: free,
                dispatchers: replaceAt(state.dispatchers, d, undefined)
              }
            }
          ]
        : []),
      ...(state.leases > 0 && one.lease === held.lease
        ? [
            {
              label: `D${d} stands still, and its lease is over`,
              state: { ...state, leases: state.leases - 1, deliveries: free }
            }
          ]
        : [])
    ]
  })

const redelivers = (_: Rules, state: State): Moves =>
  state.redeliveries === 0
    ? []
    : state.mails.flatMap((_mail, n): Moves => {
        if (!isOver(state.deliveries[n])) return []
        const tables = tablesOf(state)
        redeliver(tables, HOOK_ID, 0, ({ id }) => id === String(n + 1))
        const again = stored(state, tables)
        const deliveries = replaceAt(again.deliveries, n, { ...again.deliveries[n]!, tries: BEFORE })
        return [
          {
            label: `event ${n + 1} is sent once more, on demand`,
            state: { ...again, redeliveries: 0, deliveries }
          }
        ]
      })

const MOVES = [writes, claims, answers, notes, faults, redelivers]

/** What counts as delivered is with the receiver, and what is dead has had its tries. */
const violated = ({ deliveries, received }: State): string | undefined => {
  const n = deliveries.findIndex((one, at) => one?.state === "delivered" && !received.includes(at))
  if (n !== -1) return `O1: event ${n + 1} counts as delivered, and the receiver does not have it`
  const early = deliveries.findIndex((one) => one?.state === "dead" && one.tries < BEFORE + TRIES)
  return early === -1 ? undefined : `O1: event ${early + 1} is dead before its tries`
}

const textBy = (
  { crashes, cursor, deliveries, dispatchers, leases, received, redeliveries, written }: State,
  [first, second]: readonly [number, number],
  order: ReadonlyArray<number>
): string =>
  [
    ...order.map((n) => {
      const one = deliveries[n]
      const held = one?.lease === `d${first}` ? "0" : one?.lease === `d${second}` ? "1" : "-"
      const told = one === undefined ? "" : `${one.state}${one.tries}${one.again}${held}`
      return `${written[n]![0]}${told}${received.includes(n)}`
    }),
    ...[first, second].map((d) => {
      const held = dispatchers[d]
      return held === undefined ? "" : `${order.indexOf(held.n)}${held.answer}`
    }),
    `${crashes}.${leases}.${redeliveries}.${cursor}`
  ].join("|")

/** The dispatchers are alike, and so are two mails with as many events. */
const textOf = (state: State): string => {
  const { mails } = state
  const own = mails.map((_, n) => n)
  const half = mails.length / 2
  const areAlike =
    state.cursor === 0 &&
    mails[0] !== mails[half] &&
    mails.every((mail, n) => mail === mails[n < half ? 0 : half])
  const swapped = areAlike ? own.map((n) => (n + half) % mails.length) : own
  const texts = [own, swapped].flatMap((order) => [
    textBy(state, [0, 1], order),
    textBy(state, [1, 0], order)
  ])
  return texts.reduce((least, text) => (text < least ? text : least))
}

/** The events of mails, for one receiver, by two dispatchers. */
export const hookModel = (
  rules: Rules,
  { crashes, leases, mails, redeliveries }: Pick<State, "crashes" | "leases" | "mails" | "redeliveries">
): Model<State> => ({
  initial: {
    mails,
    written: mails.map(() => "no"),
    deliveries: mails.map(() => undefined),
    received: [],
    dispatchers: [undefined, undefined],
    crashes,
    leases,
    redeliveries,
    cursor: 0
  },
  steps: (state) => MOVES.flatMap((move) => move(rules, state)),
  violated,
  ends: ({ deliveries, dispatchers }) =>
    deliveries.every(isOver) && dispatchers.every((one) => one === undefined),
  textOf
})
