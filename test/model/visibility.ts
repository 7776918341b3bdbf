import { makeQueueTables, type QueueRow, rowOfRequest } from "../../src/adapters/memory/mail/queue-tables.ts"
import { take } from "../../src/adapters/memory/mail/queue-take.ts"
import { makeMailTables } from "../../src/adapters/memory/mail/tables.ts"
import { QueueId } from "../../src/domain/ids.ts"
import { QueueRefused } from "../../src/ports/mail/send-queue.ts"
import type { Model, Step } from "./explore.ts"

const LEASE_MS = 12_000

/** A caller's transaction: the keys that it queues, in the order in which it does. */
interface Transaction {
  readonly phase: "none" | "open" | "committed" | "rolled back"
  /** How many of its keys it has queued. */
  readonly done: number
  /** When it began. */
  readonly at: number
}

interface Row {
  readonly key: string
  readonly by: number
  readonly at: number
  readonly isTaken: boolean
}

interface State {
  readonly transactions: ReadonlyArray<Transaction>
  readonly rows: ReadonlyArray<Row>
  /** The moment of the last begin: a request's time is its transaction's. */
  readonly clock: number
  /** Where a taker that goes by one looks from. */
  readonly floor: number
}

/** What the model decides by: production's `take`, and PostgreSQL's own rules around it. */
interface Rules {
  readonly take: typeof take
  /** Whether a taker looks from the last request that it took on, and no further back. */
  readonly hasFloor: boolean
  /** Whether it sees what is not committed. */
  readonly seesOpen: boolean
  /** Whether a key is held by a unique index, which waits for the transaction that holds it. */
  readonly hasIndex: boolean
  /** The order in which a batch takes its keys. */
  readonly ordered: (keys: ReadonlyArray<string>) => ReadonlyArray<string>
}

export const VISIBILITY_RULES: Rules = {
  take,
  hasFloor: false,
  seesOpen: false,
  hasIndex: true,
  ordered: (keys) => keys.toSorted()
}

/** Rules as they were worded at first, each in production's place. */
export const VISIBILITY_LITERAL = {
  /** "(run_at, id) > claim_floor": what becomes visible behind it is never taken (8). */
  "a floor": { hasFloor: true },
  "seen before its commit": { seesOpen: true },
  /** Look first, insert then (14). */
  "looked for, and then inserted": { hasIndex: false },
  /** Two callers with two keys in opposite order (14). */
  "keys in the caller's order": { ordered: (keys) => keys }
} as const satisfies Readonly<Record<string, Partial<Rules>>>
export type VisibilityLiteral = keyof typeof VISIBILITY_LITERAL

export const visibilityRulesWith = (literal: VisibilityLiteral): Rules => ({
  ...VISIBILITY_RULES,
  ...VISIBILITY_LITERAL[literal]
})

const replaceAt = <A>(all: ReadonlyArray<A>, at: number, one: A): ReadonlyArray<A> =>
  all.map((known, n) => (n === at ? one : known))

const rowOf = (n: number, at: number): QueueRow => {
  const entry = { request: { category: "transactional" }, payloadHash: "" }
  const row = rowOfRequest(entry, QueueId.make(String(n)), 0, at)
  if (row instanceof QueueRefused) throw row
  return row
}

const isVisible = (rules: Rules, { transactions }: State, { by }: Row): boolean => {
  const { phase } = transactions[by]!
  return phase === "committed" || (rules.seesOpen && phase === "open")
}

const isOpen = ({ phase }: Transaction): boolean => phase === "open"

/** A transaction queues its next key, or waits for the one that holds it. */
const enqueues = (
  rules: Rules,
  state: State,
  n: number,
  all: ReadonlyArray<string>
): ReadonlyArray<Step<State>> => {
  const transaction = state.transactions[n]!
  const key = rules.ordered(all)[transaction.done]
  if (!isOpen(transaction) || key === undefined) return []
  const next = {
    ...state,
    transactions: replaceAt(state.transactions, n, { ...transaction, done: transaction.done + 1 })
  }
  const holder = state.rows.find(
    (row) => row.key === key && row.by !== n && state.transactions[row.by]!.phase !== "rolled back"
  )
  if (holder !== undefined && isOpen(state.transactions[holder.by]!) && rules.hasIndex) return []
  const isFound = holder !== undefined && !isOpen(state.transactions[holder.by]!)
  return [
    {
      label: `T${n} queues ${key}${isFound ? ", which is there" : ""}`,
      state: isFound
        ? next
        : { ...next, rows: [...state.rows, { key, by: n, at: transaction.at, isTaken: false }] }
    }
  ]
}

const transactions = (
  rules: Rules,
  state: State,
  keys: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<Step<State>> =>
  keys.flatMap((all, n): ReadonlyArray<Step<State>> => {
    const transaction = state.transactions[n]!
    const to = (change: Partial<Transaction>): State => ({
      ...state,
      transactions: replaceAt(state.transactions, n, { ...transaction, ...change })
    })
    if (transaction.phase === "none")
      return [
        {
          label: `T${n} begins`,
          state: { ...to({ phase: "open", at: state.clock + 1 }), clock: state.clock + 1 }
        }
      ]
    if (!isOpen(transaction)) return []
    const steps = enqueues(rules, state, n, all)
    return transaction.done < all.length
      ? steps
      : [
          { label: `T${n} commits`, state: to({ phase: "committed" }) },
          { label: `T${n} rolls back`, state: to({ phase: "rolled back" }) }
        ]
  })

const takes = (rules: Rules, state: State): ReadonlyArray<Step<State>> => {
  const queue = makeQueueTables()
  for (const [n, row] of state.rows.entries())
    if (!row.isTaken && isVisible(rules, state, row) && (!rules.hasFloor || row.at > state.floor)) {
      const known = rowOf(n, row.at)
      queue.rows.set(known.id, known)
    }
  const pace = { provider: "provider_a", rate: 0, least: 0, most: 0 } as const
  const { mails } = rules.take(
    { mail: makeMailTables(), queue, newId: () => "lease" },
    { paces: [pace], primary: "provider_a", limit: 1, leaseMs: LEASE_MS },
    state.clock
  )
  return mails.map(({ id }): Step<State> => {
    const n = Number(id)
    const row = state.rows[n]!
    return {
      label: `a sender takes ${row.key} of T${row.by}`,
      broken: isOpen(state.transactions[row.by]!)
        ? "Q1: a request is taken before its transaction commits"
        : undefined,
      state: { ...state, floor: row.at, rows: replaceAt(state.rows, n, { ...row, isTaken: true }) }
    }
  })
}

/** Transactions that queue, and commit or roll back in any order, against senders. */
export const visibilityModel = (rules: Rules, keys: ReadonlyArray<ReadonlyArray<string>>): Model<State> => ({
  initial: {
    transactions: keys.map(() => ({ phase: "none", done: 0, at: 0 })),
    rows: [],
    clock: 0,
    floor: 0
  },
  steps: (state) => [...transactions(rules, state, keys), ...takes(rules, state)],
  violated: (state) => {
    const committed = state.rows
      .filter(({ by }) => state.transactions[by]!.phase === "committed")
      .map(({ key }) => key)
    return new Set(committed).size < committed.length ? "Q1: a key has two requests" : undefined
  },
  ends: (state) =>
    state.transactions.every(({ phase }) => phase === "committed" || phase === "rolled back") &&
    state.rows.every((row) => row.isTaken || state.transactions[row.by]!.phase === "rolled back"),
  textOf: ({ clock, floor, rows, transactions: all }) =>
    [
      all.map(({ at, done, phase }) => `${phase}${done}.${at}`).join(),
      rows
        .map(({ at, by, isTaken, key }) => `${key}${by}${at}${isTaken}`)
        .sort()
        .join(),
      clock,
      rules.hasFloor ? floor : ""
    ].join("|")
})
