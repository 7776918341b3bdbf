import {
  AHEAD_MS,
  makeQueueTables,
  type Pace,
  type QueueRow,
  rowOfRequest
} from "../../src/adapters/memory/mail/queue-tables.ts"
import { take, type Tables } from "../../src/adapters/memory/mail/queue-take.ts"
import { heard } from "../../src/adapters/memory/mail/send-queue.ts"
import { makeMailTables } from "../../src/adapters/memory/mail/tables.ts"
import { TOKEN_MS } from "../../src/application/send-queue/queued-work.ts"
import { QueueId } from "../../src/domain/ids.ts"
import type { Provider } from "../../src/domain/mail/provider.ts"
import { fixedRate } from "../../src/domain/mail/rate.ts"
import type { Category } from "../../src/domain/mail/suppression/policy.ts"
import { type PaceLimit, QueueRefused } from "../../src/ports/mail/send-queue.ts"
import type { Model, Step } from "./explore.ts"

/** Requests a second that the provider takes, and how finely the model's time is divided, milliseconds. */
const RATE = 2
const TICK_MS = 125
const SECOND_MS = 1_000
/** Longer than anything that lasts. */
const LONG_MS = 60_000

/** What waits in the queue all the time: its category, where it goes, and how long it has waited, milliseconds. */
interface Waiting {
  readonly category: Category
  readonly provider: Provider
  readonly ageMs: number
}

/** Times are milliseconds from now: negative where they have passed. */
interface State {
  readonly pace: Pace | undefined
  /** The token of each process: when its request may leave. */
  readonly tokens: ReadonlyArray<number | undefined>
  /** Which processes have looked at this moment. */
  readonly looked: ReadonlyArray<boolean>
  /** When the queue has asked, in the last second. */
  readonly asked: ReadonlyArray<number>
  /** How long the queue has had nothing; and how many tokens others had since the oldest waits, and how many of them in a row went to a lower category. */
  readonly silentMs: number
  readonly passedOver: number
  readonly lower: number
  /** Direct sends at this moment. */
  readonly direct: number
  readonly stalls: number
  readonly losses: number
}

/** How much happens. */
interface PaceBounds {
  readonly waiting: ReadonlyArray<Waiting>
  /** Direct sends at one moment. */
  readonly direct: number
  /** How often a process stands still with its token, and how often the limiter loses its state. */
  readonly stalls: number
  readonly losses: number
  /** Whether provider_a has said that it takes nothing. */
  readonly isHeld: boolean
}

/** What the model decides by: production's own store in memory, and how its tokens are used. */
interface Rules {
  readonly take: (
    tables: Tables,
    entry: Parameters<typeof take>[1],
    now: number,
    asked: ReadonlyArray<number>
  ) => ReturnType<typeof take>
  readonly heard: typeof heard
  /** How long after its time a token is good, milliseconds. */
  readonly tokenMs: number
  /** A limiter that has lost its state. */
  readonly afterLoss: Pace | undefined
}

export const PACE_RULES: Rules = { take, heard, tokenMs: TOKEN_MS, afterLoss: undefined }

const FREE: Pace = { freeAt: 0, reservedAt: 0, heldUntil: undefined, rate: undefined, taken: 0 }

const firstOf = (tables: Tables): QueueRow | undefined =>
  [...tables.queue.rows.values()].toSorted((a, b) => a.dueAt! - b.dueAt!)[0]

const without = (tables: Tables, isMeant: (row: QueueRow) => boolean): Tables => ({
  ...tables,
  queue: { ...tables.queue, rows: new Map([...tables.queue.rows].filter(([, row]) => isMeant(row))) }
})

/** Rules as they were worded at first, each in production's place. */
export const PACE_LITERAL = {
  /** So many a calendar second: those at the end of one and at the begin of the next are twice as many (13). */
  "a fixed window": {
    take: (tables, entry, now, asked) => {
      const window = asked.filter((at) => at > -SECOND_MS / 2)
      const paces = entry.paces.map((pace) => ({ ...pace, rate: 0 }))
      return window.length < RATE ? take(tables, { ...entry, paces }, now) : { mails: [], nextMs: undefined }
    }
  },
  /** A limiter that has lost its state begins anew (13). */
  "a limiter that forgets": { afterLoss: FREE },
  /** A token is good until it is used (13). */
  "a token that is good for ever": { tokenMs: LONG_MS },
  /** Direct sends take what they need: nothing is the queue's (12). */
  "direct sends take every token": {
    take: (tables, entry, now) => {
      for (const pace of tables.queue.paces.values()) pace.reservedAt = LONG_MS
      return take(tables, entry, now)
    }
  },
  /** Strictly by category (12). */
  "strictly by category": {
    take: (tables, entry, now) => {
      for (const pace of tables.queue.paces.values()) pace.taken = 0
      return take(tables, entry, now)
    }
  },
  /** By time alone. */
  "by insertion": {
    take: (tables, entry, now) =>
      take(
        without(tables, (row) => row === firstOf(tables)),
        entry,
        now
      )
  },
  /** The first in order waits for its provider, and all others behind it (12). */
  "one line for all providers": {
    take: (tables, entry, now) => {
      const first = firstOf(tables)
      return take(
        without(tables, (row) => row === first),
        entry,
        now
      )
    }
  }
} as const satisfies Readonly<Record<string, Partial<Rules>>>
export type PaceLiteral = keyof typeof PACE_LITERAL

export const paceRulesWith = (literal: PaceLiteral): Rules => ({ ...PACE_RULES, ...PACE_LITERAL[literal] })

const LIMITS: ReadonlyArray<PaceLimit> = [
  { provider: "provider_a", ...fixedRate(RATE) },
  { provider: "provider_b", ...fixedRate(RATE) }
]

const rowOf = ({ ageMs, category, provider }: Waiting, n: number): QueueRow => {
  const entry = { request: { category, provider }, payloadHash: "" }
  const row = rowOfRequest(entry, QueueId.make(String(n)), 0, -ageMs)
  if (row instanceof QueueRefused) throw row
  return row
}

const tablesOf = ({ pace }: State, { isHeld, waiting }: PaceBounds): Tables => {
  const queue = makeQueueTables()
  for (const [n, one] of waiting.entries()) {
    const row = rowOf(one, n)
    queue.rows.set(row.id, row)
  }
  const held: Pace = { ...FREE, heldUntil: LONG_MS }
  if (isHeld) queue.paces.set("provider_a", held)
  if (pace !== undefined) queue.paces.set(isHeld ? "provider_b" : "provider_a", { ...pace })
  return { mail: makeMailTables(), queue, newId: () => "lease" }
}

const replaceAt = <A>(all: ReadonlyArray<A>, at: number, one: A): ReadonlyArray<A> =>
  all.map((known, n) => (n === at ? one : known))

type Moves = ReadonlyArray<Step<State>>

/** A process without a token looks. */
const looks = (rules: Rules, bounds: PaceBounds, state: State): Moves =>
  state.tokens.flatMap((token, p): Moves => {
    if (token !== undefined || state.looked[p] === true) return []
    const tables = tablesOf(state, bounds)
    const { mails } = rules.take(
      tables,
      { paces: LIMITS, primary: "provider_a", limit: 1, leaseMs: LONG_MS },
      0,
      state.asked
    )
    const pace = tables.queue.paces.get(bounds.isHeld ? "provider_b" : "provider_a")
    const looked = replaceAt(state.looked, p, true)
    const mail = mails[0]
    if (mail === undefined) {
      // What goes elsewhere is not held back by a provider that takes nothing.
      const isFree =
        bounds.isHeld && state.pace !== undefined && Math.max(state.pace.freeAt, state.pace.reservedAt) <= 0
      return [
        {
          label: `P${p} looks, and may take nothing`,
          broken: isFree ? "Q3: a request waits for a provider to which it does not go" : undefined,
          state: { ...state, looked, pace }
        }
      ]
    }
    const n = Number(mail.id)
    // Where there is no order, only the pace counts.
    const isPaced = bounds.isHeld || bounds.waiting.length === 1
    const isOldest = bounds.waiting.every(({ ageMs }) => ageMs <= bounds.waiting[n]!.ageMs)
    const passedOver = isOldest ? 0 : state.passedOver + 1
    const isLower = bounds.waiting[n]!.category !== bounds.waiting[0]!.category
    const lower = isLower ? state.lower + 1 : 0
    return [
      {
        label: `P${p} takes a token for ${bounds.waiting[n]!.category} in ${mail.waitMs} ms`,
        broken: isPaced
          ? undefined
          : passedOver >= 8
            ? "Q4: the oldest request is passed over eight times"
            : lower > 1
              ? "Q4: a request of the highest category waits behind two of a lower one"
              : undefined,
        state: {
          ...state,
          looked,
          pace,
          tokens: replaceAt(state.tokens, p, mail.waitMs),
          silentMs: 0,
          ...(isPaced ? {} : { passedOver, lower })
        }
      }
    ]
  })

/** A process whose token's time has come asks; one that was late does not. */
const asks = ({ tokenMs }: Rules, state: State): Moves =>
  state.tokens.flatMap((token, p): Moves => {
    if (token === undefined || token > 0) return []
    const tokens = replaceAt(state.tokens, p, undefined)
    if (-token > tokenMs)
      return [{ label: `P${p} was late, and gives its turn up`, state: { ...state, tokens } }]
    const asked = [...state.asked, 0]
    return [
      {
        label: `P${p} asks the provider`,
        broken:
          asked.length > RATE + 1
            ? `Q5: ${asked.length} requests in a second, at a rate of ${RATE}`
            : undefined,
        state: { ...state, tokens, asked }
      }
    ]
  })

/** Calls beside the queue ask at once. */
const sendsDirectly = (rules: Rules, bounds: PaceBounds, state: State): Moves => {
  if (state.direct >= bounds.direct) return []
  const tables = tablesOf(state, bounds)
  rules.heard(tables, LIMITS[0]!, 1, {}, 0)
  const pace = tables.queue.paces.get("provider_a")
  return [{ label: "a direct send", state: { ...state, direct: state.direct + 1, pace } }]
}

const later = (at: number): number => Math.max(-LONG_MS, at - TICK_MS)

/** Time passes: every process that may act has done so, but for one that stands still. */
const tick = (_: Rules, bounds: PaceBounds, state: State): Moves => {
  const due = state.tokens.filter((token) => token !== undefined && token <= 0).length
  const isReady = state.tokens.every((token, p) => token !== undefined || state.looked[p] === true)
  if (!isReady || due > state.stalls) return []
  const silentMs = state.tokens.some((token) => token !== undefined) ? 0 : state.silentMs + TICK_MS
  const { pace } = state
  // What has passed has passed: how long ago says nothing any more.
  const passed = (at: number) => Math.max(-TICK_MS, later(at))
  return [
    {
      label: `${TICK_MS} ms pass${due > 0 ? ", and a process stands still" : ""}`,
      broken:
        bounds.direct > 0 && silentMs > (4 * SECOND_MS) / RATE + AHEAD_MS
          ? "the queue had no token for longer than one in four takes"
          : undefined,
      state: {
        ...state,
        stalls: state.stalls - due,
        pace:
          pace === undefined
            ? undefined
            : {
                ...pace,
                freeAt: passed(pace.freeAt),
                reservedAt: passed(pace.reservedAt),
                taken: pace.taken % 8
              },
        tokens: state.tokens.map((token) =>
          token === undefined ? undefined : Math.max(-LONG_MS, later(token))
        ),
        looked: [false, false],
        asked: state.asked.map(later).filter((at) => at > -SECOND_MS),
        silentMs,
        direct: 0
      }
    }
  ]
}

const forgets = ({ afterLoss }: Rules, _: PaceBounds, state: State): Moves =>
  state.losses === 0 || state.pace === undefined
    ? []
    : [
        {
          label: "the limiter loses its state",
          state: { ...state, losses: state.losses - 1, pace: afterLoss }
        }
      ]

/** The pace of a provider over two processes, and which request each of its tokens goes to. */
export const paceModel = (rules: Rules, bounds: PaceBounds): Model<State> => ({
  initial: {
    pace: { ...FREE },
    tokens: [undefined, undefined],
    looked: [false, false],
    asked: [],
    silentMs: 0,
    passedOver: 0,
    lower: 0,
    direct: 0,
    stalls: bounds.stalls,
    losses: bounds.losses
  },
  steps: (state) => [
    ...looks(rules, bounds, state),
    ...asks(rules, state),
    ...sendsDirectly(rules, bounds, state),
    ...tick(rules, bounds, state),
    ...forgets(rules, bounds, state)
  ],
  violated: () => undefined,
  textOf: ({ asked, looked, pace, tokens, ...rest }) => {
    const processes = tokens.map((token, p) => `${token}${looked[p]}`).sort()
    const paced = pace === undefined ? "-" : `${pace.freeAt},${pace.reservedAt},${pace.taken}`
    return `${processes.join()}|${asked.join()}|${paced}|${Object.values(rest).join()}`
  }
})

const ONE = { category: "transactional", provider: "provider_a", ageMs: 0 } as const
const NONE = { waiting: [ONE], direct: 0, stalls: 0, losses: 0, isHeld: false }
const TWO = [
  { category: "auth", provider: "provider_a", ageMs: 0 },
  { category: "marketing", provider: "provider_a", ageMs: SECOND_MS }
] as const

/** What happens beside the queue: processes stand still and the limiter is lost; direct sends; two categories; a provider that takes nothing. */
export const PACE_BOUNDS = {
  faults: { ...NONE, stalls: 8, losses: 1 },
  direct: { ...NONE, direct: 2 },
  categories: { ...NONE, waiting: TWO },
  held: {
    ...NONE,
    waiting: [
      { ...ONE, ageMs: SECOND_MS },
      { ...ONE, category: "marketing", provider: "provider_b" }
    ],
    isHeld: true
  }
} as const satisfies Readonly<Record<string, PaceBounds>>
