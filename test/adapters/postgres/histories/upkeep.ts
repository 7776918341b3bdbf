import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Redacted } from "effect"

import { layer as layerContact } from "../../../../src/adapters/postgres/accounts/contact-messages.ts"
import { layer as layerInvites } from "../../../../src/adapters/postgres/accounts/team-invites.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer as layerStats } from "../../../../src/adapters/postgres/delivery/email-stats.ts"
import { CustomerId } from "../../../../src/domain/ids.ts"
import { ContactMessages, TeamInvites } from "../../../../src/ports/accounts/accounts.ts"
import { EmailStats } from "../../../../src/ports/delivery/email-log-query.ts"
import { makeLane } from "./lane.ts"
import { playScenes, type Scenario, type Scenes, type SceneStep } from "./scenes.ts"

/** Invitations, messages of the forms, and the log as days go by: what no in-memory adapter has. */
export interface Upkeep {
  /** `invitation`: what its caller has to end or accept. */
  readonly invite: Effect.Effect<
    { readonly todo: string | undefined; readonly invitation: string | undefined },
    unknown
  >
  readonly endInvite: (invitation: string, sent: boolean) => Effect.Effect<unknown, unknown>
  readonly acceptInvite: (invitation: string) => Effect.Effect<boolean, unknown>
  /** The lease of who sends the invitation ends. */
  readonly endInviteLease: Effect.Effect<unknown, unknown>
  readonly closeAccount: Effect.Effect<boolean, unknown>
  readonly keepMessage: Effect.Effect<string, unknown>
  readonly claimMessage: Effect.Effect<boolean, unknown>
  readonly notified: (id: string) => Effect.Effect<unknown, unknown>
  readonly missed: (id: string) => Effect.Effect<unknown, unknown>
  /** Another attempt of every message is due. */
  readonly comeDue: Effect.Effect<unknown, unknown>
  /** A row of so many days ago, and its day closed where it is that old. */
  readonly log: (days: number) => Effect.Effect<unknown, unknown>
  /** An event of a day that is over. Returns how many rows it changed. */
  readonly hear: (days: number, status: string) => Effect.Effect<number, unknown>
  readonly closeDay: Effect.Effect<number, unknown>
  readonly prune: Effect.Effect<number, unknown>
  readonly rows: Effect.Effect<unknown, unknown>
}

const OWNER = CustomerId.make("00000000-0000-7000-8000-0000000000aa")
const GUEST = "guest@upkeep.test"

/** Kept for thirty days. */
const KEPT = "30 days"
const OLD = 40

const DAY_MS = 86_400_000
const dayOf = (at: number): number => Math.floor(at / DAY_MS)

const ROWS = `select
  (select coalesce(jsonb_agg(jsonb_build_array(accepted_at is not null, sent_at is not null, sending_until is not null)
    order by created_at), '[]') from team_invites) as invites,
  (select coalesce(jsonb_agg(jsonb_build_array(notified_at is not null, notify_attempts, notify_error)), '[]')
    from contact_messages) as messages,
  (select count(*)::int from email_log) as log,
  (select count(*)::int from email_stats_closed) as closed`

interface Rows {
  readonly invites: ReadonlyArray<readonly [accepted: boolean, sent: boolean, sending: boolean]>
  readonly messages: ReadonlyArray<readonly [notified: boolean, attempts: number, error: string | null]>
  readonly log: number
  readonly closed: number
}

/** Rows, and what the statistics count of each day and status. */
const shown = ({ closed, invites, log, messages }: Rows, counts: ReadonlyArray<unknown>) => [
  invites,
  messages,
  log,
  closed,
  counts.map((count) => JSON.stringify(count)).sort()
]

const postgresUpkeep = Effect.gen(function* () {
  const sql = yield* WriteSql
  const invites = yield* TeamInvites
  const contact = yield* ContactMessages
  const stats = yield* EmailStats
  const answer = (text: string) =>
    Effect.map(sql.unsafe<{ readonly answer: number }>(text).unprepared, ([row]) => row!.answer)
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
  /**
   * What the test itself writes to the log, one after the other: an update of several rows sees those that were there when it began, but
   * changes each when it gets to it, which no serial order explains. In the product an event is about one row.
   */
  const inTurn = <A, E>(work: Effect.Effect<A, E>) =>
    sql.withTransaction(
      Effect.andThen(sql`select pg_advisory_xact_lock(hashtext('the log of this test'))`, work)
    )
  return {
    invite: Effect.map(invites.begin({ customerId: OWNER, email: GUEST }), (begun) => ({
      todo: begun?.todo,
      invitation: begun?.todo === "Send" ? Redacted.value(begun.token) : undefined
    })),
    endInvite: (invitation, sent) => invites.end(Redacted.make(invitation), sent),
    acceptInvite: (invitation) =>
      Effect.map(invites.accept(invitation), (accepted) => accepted !== undefined),
    endInviteLease: sql`update team_invites set sending_until = clock_timestamp() where sending_until is not null`,
    closeAccount: Effect.map(sql`select * from close_account(${OWNER}::uuid)`, ({ length }) => length === 1),
    keepMessage: contact.keep({
      kind: "feedback",
      name: undefined,
      email: undefined,
      message: "m",
      rating: undefined,
      page: undefined,
      spam: false
    }),
    claimMessage: Effect.map(contact.claimWaiting, (claimed) => claimed !== undefined),
    notified: contact.notified,
    missed: (id) => contact.missed(id, "e"),
    comeDue: sql`update contact_messages set notify_after = clock_timestamp() - interval '1 second'`,
    log: (days) =>
      inTurn(
        Effect.tap(
          sql`insert into email_log ${sql.insert({
            category: "transactional",
            provider: "provider_a",
            status: "sent",
            cost_usd: 0.5,
            created_at: daysAgo(days),
            updated_at: daysAgo(days)
          })}`,
          sql`insert into email_stats_closed (day) select (created_at at time zone 'UTC')::date from email_log
            where created_at < now() - make_interval(days => ${OLD - 1}::integer)`
        )
      ),
    hear: (days, status) =>
      inTurn(
        Effect.map(
          sql`update email_log set status = ${status}, updated_at = now()
            where created_at < now() - make_interval(days => ${days}::integer) returning id`,
          ({ length }) => length
        )
      ),
    closeDay: answer("select close_email_stats_day() as answer"),
    prune: answer(`select prune_email_log(interval '${KEPT}') as answer`),
    rows: Effect.zipWith(sql.unsafe<Rows>(ROWS).unprepared, stats.since(366), ([rows], all) =>
      shown(
        rows!,
        all.stats.map(({ count, status }) => [status, count])
      )
    )
  } satisfies Upkeep
})

export const upkeepLane = makeLane<TeamInvites | ContactMessages | EmailStats, Upkeep>(
  Layer.mergeAll(layerInvites, layerContact, layerStats).pipe(Layer.provide(NodeCrypto.layer)),
  postgresUpkeep
)

/** Invitations to one address: each a row, the last one of which may be open. */
const memoryInvites = () => {
  const rows: Array<{ token: string; accepted: boolean; sent: boolean; lease: "none" | "held" | "over" }> = []
  let [isClosed, serial] = [false, 0]
  const sending = () => ({
    token: `invitation ${++serial}`,
    accepted: false,
    sent: false,
    lease: "held" as const
  })
  return {
    invite: Effect.sync(() => {
      const open = rows.find(({ accepted }) => !accepted)
      if (isClosed) return { todo: undefined, invitation: undefined }
      if (open?.sent === true) return { todo: "Sent", invitation: undefined }
      if (open?.lease === "held") return { todo: "Busy", invitation: undefined }
      if (open === undefined) rows.push(sending())
      else Object.assign(open, sending())
      return { todo: "Send", invitation: rows.at(-1)!.token }
    }),
    endInvite: (invitation: string, sent: boolean) =>
      Effect.sync(() => {
        const row = rows.find(({ token }) => token === invitation)
        if (row !== undefined) Object.assign(row, { lease: "none", sent: row.sent || sent })
      }),
    acceptInvite: (invitation: string) =>
      Effect.sync(() => {
        const row = rows.find(({ accepted, token }) => token === invitation && !accepted)
        if (row !== undefined) row.accepted = true
        return row !== undefined
      }),
    endInviteLease: Effect.sync(() => {
      for (const row of rows) if (row.lease === "held") row.lease = "over"
    }),
    closeAccount: Effect.sync(() => {
      if (isClosed) return false
      isClosed = true
      if (rows.at(-1)?.accepted === false) rows.pop()
      return true
    }),
    invites: () => rows.map(({ accepted, lease, sent }) => [accepted, sent, lease !== "none"] as const)
  }
}

/** Messages of a form. */
const memoryMessages = () => {
  const rows: Array<{ notified: boolean; attempts: number; error: string | null; isDue: boolean }> = []
  const end = (id: string, ended: { readonly notified: boolean; readonly error: string | null }) =>
    Effect.sync(() => {
      const row = rows[Number(id)]
      if (row?.notified === false) Object.assign(row, ended)
    })
  return {
    keepMessage: Effect.sync(() =>
      String(rows.push({ notified: false, attempts: 0, error: null, isDue: false }) - 1)
    ),
    claimMessage: Effect.sync(() => {
      const row = rows.find(({ isDue, notified }) => isDue && !notified)
      if (row === undefined) return false
      Object.assign(row, { isDue: false, attempts: row.attempts + 1 })
      return true
    }),
    notified: (id: string) => end(id, { notified: true, error: null }),
    missed: (id: string) => end(id, { notified: false, error: "e" }),
    comeDue: Effect.sync(() => {
      for (const row of rows) row.isDue = true
    }),
    messages: () => rows.map(({ attempts, error, notified }) => [notified, attempts, error] as const)
  }
}

/** The log of days that are over. A row that is pruned stays in the statistics. */
const memoryLog = () => {
  const rows: Array<{ readonly age: number; status: string; isHeardOf: boolean; isPruned: boolean }> = []
  const closed = new Set<number>()
  const today = Date.now()
  const dayAgo = (age: number) => dayOf(today - age * DAY_MS)
  const left = () => rows.filter(({ isPruned }) => !isPruned)
  return {
    log: (age: number) =>
      Effect.sync(() => {
        rows.push({ age, status: "sent", isHeardOf: false, isPruned: false })
        if (age >= OLD) closed.add(dayAgo(age))
      }),
    hear: (days: number, status: string) =>
      Effect.sync(() => {
        const heard = left().filter(({ age }) => age >= days)
        for (const row of heard) Object.assign(row, { status, isHeardOf: true })
        return heard.length
      }),
    // An hour after it is over.
    closeDay: Effect.sync(() => {
      const first = Math.min(...left().map(({ age }) => dayAgo(age)))
      for (let day = dayOf(today - DAY_MS / 24) - 1; day >= first; day--) {
        if (closed.has(day)) continue
        closed.add(day)
        return 1
      }
      return 0
    }),
    prune: Effect.sync(() => {
      const gone = left().filter(({ age, isHeardOf }) => age >= OLD && !isHeardOf)
      for (const row of gone) row.isPruned = true
      return gone.length
    }),
    kept: () => ({ log: left().length, closed: closed.size }),
    counts: () =>
      [...Map.groupBy(rows, ({ age, status }) => `${age} ${status}`).values()].map((same) => [
        same[0]!.status,
        same.length
      ])
  }
}

const memoryUpkeep = (): Upkeep => {
  const { invites, ...invitations } = memoryInvites()
  const { messages, ...forms } = memoryMessages()
  const { counts, kept, ...log } = memoryLog()
  const rows = Effect.sync(() => shown({ invites: invites(), messages: messages(), ...kept() }, counts()))
  return { ...invitations, ...forms, ...log, rows }
}

/** Invitations and messages that the steps before a burst have made. */
interface Made {
  readonly invitations: Array<string>
  readonly messages: Array<string>
}

type Step = SceneStep<Upkeep, Made>

const STATUSES = ["sent", "delivered", "bounced"] as const

const STEPS: Readonly<Record<string, Step>> = {
  invite: ({ invite }, _, made) =>
    Effect.map(invite, ({ invitation, todo }) => {
      if (invitation !== undefined) made.invitations.push(invitation)
      return todo
    }),
  endInvite: ({ endInvite }, n, made) => endInvite(made.invitations[0] ?? "none", n % 2 === 0),
  acceptInvite: ({ acceptInvite }, _, made) => acceptInvite(made.invitations[0] ?? "none"),
  endInviteLease: ({ endInviteLease }) => Effect.asVoid(endInviteLease),
  closeAccount: ({ closeAccount }) => closeAccount,
  keepMessage: ({ keepMessage }, _, made) => Effect.map(keepMessage, (id) => void made.messages.push(id)),
  claimMessage: ({ claimMessage }) => claimMessage,
  notified: ({ notified }, _, made) => notified(made.messages[0] ?? "00000000-0000-4000-8000-000000000000"),
  missed: ({ missed }, _, made) => missed(made.messages[0] ?? "00000000-0000-4000-8000-000000000000"),
  comeDue: ({ comeDue }) => Effect.asVoid(comeDue),
  log: ({ log }, n) => Effect.asVoid(log(2 + (n % 2))),
  logOld: ({ log }) => Effect.asVoid(log(OLD)),
  hear: ({ hear }, n) => hear(1, STATUSES[n % STATUSES.length]!),
  closeDay: ({ closeDay }) => closeDay,
  prune: ({ prune }) => prune
}

export const SCENARIOS = {
  invitation: { before: [], at: ["invite", "invite", "endInviteLease", "closeAccount"] },
  "invitation on its way": {
    before: [["invite", 0]],
    at: ["invite", "endInvite", "acceptInvite", "endInviteLease", "closeAccount"]
  },
  "invitation sent": {
    before: [
      ["invite", 0],
      ["endInvite", 0]
    ],
    at: ["invite", "acceptInvite", "acceptInvite", "closeAccount"]
  },
  "message of a form": {
    before: [
      ["keepMessage", 0],
      ["comeDue", 0]
    ],
    at: ["claimMessage", "claimMessage", "notified", "missed", "comeDue"]
  },
  "day over": { before: [["log", 0]], at: ["log", "hear", "closeDay", "closeDay"] },
  "row kept": { before: [["logOld", 0]], at: ["hear", "prune", "prune", "closeDay"] }
} as const satisfies Record<string, Scenario>

export const UPKEEP = {
  steps: STEPS,
  rest: ({ rows }) => rows,
  scenarios: SCENARIOS,
  memory: memoryUpkeep,
  none: (): Made => ({ invitations: [], messages: [] }),
  clean: `do $$ begin
    perform set_config('postlane.pruning', 'on', true);
    delete from team_invites;
    delete from contact_messages;
    delete from email_log;
    delete from email_stats_changes;
    delete from email_stats_closed;
    delete from email_stats_days;
    insert into customers (id, email) values ('${OWNER}', 'owner@upkeep.test')
      on conflict (id) do update set deleted_at = null;
  end $$`,
  // One row, one day, which another call may have locked.
  passesOver: { claimMessage: "false", closeDay: "0", prune: "0" }
} satisfies Scenes<Upkeep, Made, keyof typeof SCENARIOS>

export const playUpkeep = playScenes(UPKEEP)
