import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Redacted } from "effect"

import { layer as memoryAccess, makeAccessDatabase } from "../../../../src/adapters/memory/accounts/access.ts"
import { makeAlarmBoard, NOTHING } from "../../../../src/adapters/memory/delivery/alarm-board.ts"
import { makeAuditDigestStore } from "../../../../src/adapters/memory/delivery/audit-digest-store.ts"
import { makeCampaignDatabase } from "../../../../src/adapters/memory/outreach/campaign-book.ts"
import { layer as layerLinks } from "../../../../src/adapters/postgres/accounts/access-magic-links.ts"
import { layer as layerAccess } from "../../../../src/adapters/postgres/accounts/access.ts"
import { layer as layerAdmins } from "../../../../src/adapters/postgres/accounts/admins.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer as layerBoard } from "../../../../src/adapters/postgres/delivery/alarm-board.ts"
import { layer as layerDigests } from "../../../../src/adapters/postgres/delivery/audit-digest-store.ts"
import {
  layer as layerBook,
  layerUnsubscribes
} from "../../../../src/adapters/postgres/outreach/campaign-book.ts"
import { type AlarmChange, QUIET } from "../../../../src/domain/delivery/alarm-rules.ts"
import {
  Access,
  Admins,
  type BegunSession,
  MagicLinks,
  MOST_SIGN_INS
} from "../../../../src/ports/accounts/access.ts"
import { AlarmBoard } from "../../../../src/ports/delivery/alarm-board.ts"
import { AuditDigestStore } from "../../../../src/ports/delivery/audit-digest-store.ts"
import { CampaignBook, Unsubscribes } from "../../../../src/ports/outreach/campaign-book.ts"
import { DAILY, period, subscriptions } from "../../../contracts/delivery/audit-digest-store.ts"
import { campaignEvent } from "../../../contracts/outreach/campaign-book.ts"
import { makeLane } from "./lane.ts"
import { type Named, playScenes, type Scenario, type Scenes, type SceneStep } from "./scenes.ts"

/** The stores of people at a desk: who may sign in, alarms, digests, campaigns. */
export interface Desk {
  readonly access: Access["Service"]
  readonly admins: Admins["Service"]
  readonly board: AlarmBoard["Service"]
  readonly book: CampaignBook["Service"]
  readonly digests: AuditDigestStore["Service"]
  readonly links: MagicLinks["Service"]
  readonly unsubscribes: Unsubscribes["Service"]
  /** Rows that no store shows: campaigns and sessions, in one order. */
  readonly rows: Effect.Effect<unknown>
}

const stores = Effect.gen(function* () {
  return {
    access: yield* Access,
    admins: yield* Admins,
    board: yield* AlarmBoard,
    book: yield* CampaignBook,
    digests: yield* AuditDigestStore,
    links: yield* MagicLinks,
    unsubscribes: yield* Unsubscribes
  }
})

const ROWS = `select
  (select coalesce(jsonb_agg(jsonb_build_array(actor, rights)), '[]') from sessions) as sessions,
  (select coalesce(jsonb_agg(jsonb_build_array(p.email, s.provider_message_id, s.status, s.open_count)), '[]')
    from email_sends s left join prospects p on p.id = s.prospect_id) as sends,
  (select coalesce(jsonb_agg(jsonb_build_array(email, status)), '[]') from prospects) as prospects,
  (select coalesce(jsonb_agg(jsonb_build_array(email, reason)), '[]') from unsubscribes) as unsubscribed`

type Rows = Readonly<Record<"sends" | "sessions" | "prospects" | "unsubscribed", ReadonlyArray<unknown>>>

const inOrder = ({ prospects, sends, sessions, unsubscribed }: Rows) =>
  [sends, sessions, prospects, unsubscribed].map((rows) => rows.map((row) => JSON.stringify(row)).sort())

const postgresDesk = Effect.gen(function* () {
  const sql = yield* WriteSql
  const rows = Effect.map(Effect.orDie(sql.unsafe<Rows>(ROWS)), ([all]) => inOrder(all!))
  return { ...(yield* stores), rows }
})

const subscribe = Layer.effectDiscard(
  WriteSql.use((sql) =>
    Effect.forEach(
      subscriptions,
      ({ cadence, createdAt, email, id }) =>
        sql`insert into audit_digest_subscriptions
          ${sql.insert({ id, email, cadence, created_at: new Date(createdAt).toISOString() })} on conflict do nothing`
    )
  )
)

export const deskLane = makeLane(
  Layer.mergeAll(
    layerAccess({ embedded: true }),
    layerLinks({ anyPromo: true }),
    layerAdmins,
    layerBoard,
    layerBook,
    layerDigests,
    layerUnsubscribes,
    subscribe
  ).pipe(Layer.provide(NodeCrypto.layer)),
  postgresDesk
)

const memoryDesk = (): Desk => {
  const database = makeAccessDatabase()
  const layer = memoryAccess({ database, embedded: true }).pipe(Layer.provide(NodeCrypto.layer))
  const context = Effect.runSync(Effect.scoped(Layer.build(Layer.fresh(layer))))
  const { book, prospects, sends, unsubscribed, unsubscribes } = makeCampaignDatabase()
  const activity = {
    counts: { sent: 0, delivered: 0, bounced: 0, complained: 0, failed: 0, suppressed: 0 },
    entries: [],
    total: 0
  }
  return {
    access: Context.get(context, Access),
    admins: Context.get(context, Admins),
    links: Context.get(context, MagicLinks),
    board: makeAlarmBoard({ now: NOTHING }),
    digests: makeAuditDigestStore({ subscriptions, activity }),
    book,
    unsubscribes,
    rows: Effect.sync(() =>
      inOrder({
        sessions: [...database.sessions].map(({ actor, rights }) => [actor, rights]),
        sends: sends().map(({ email, openCount, providerMessageId, status }) => [
          email ?? null,
          providerMessageId ?? null,
          status,
          openCount
        ]),
        prospects: Object.entries(prospects()),
        unsubscribed: Object.entries(unsubscribed())
      })
    )
  }
}

/** What the steps before a burst have made: secrets and ids, which are others in the model. */
interface Made {
  readonly links: Array<string>
  readonly cookies: Array<string>
  readonly tokens: Array<{ readonly id: string; readonly text: string }>
  readonly sends: Array<string>
}

type Step = SceneStep<Desk, Made>

const ONE = "one@desk.test"
const ADMIN = "admin@desk.test"
const BROWSERS = ["browser-1", "browser-2"] as const

const seen = (begun: Pick<BegunSession, "principal"> | undefined) =>
  begun && {
    actor: begun.principal.actor,
    rights: begun.principal.rights,
    isOwner: begun.principal.customerId !== undefined
  }

const begun = (made: Made) => (session: BegunSession | undefined) => {
  if (session !== undefined) made.cookies.push(Redacted.value(session.cookie))
  return seen(session)
}

const signingIn: Record<string, Step> = {
  promo: ({ links }, _, made) =>
    Effect.map(links.claim({ promo: "any", email: ONE }), (token) => {
      if (token !== undefined) made.links.push(Redacted.value(token))
      return token !== undefined
    }),
  request: ({ links }, n, made) =>
    Effect.map(links.request({ email: n % 2 === 0 ? ADMIN : ONE, browser: BROWSERS[0] }), (link) => {
      if (link !== undefined) made.links.push(Redacted.value(link.token))
      return link !== undefined
    }),
  redeem: ({ links }, n, made) =>
    links.redeem(made.links[0] ?? "none", BROWSERS[n % 5 === 0 ? 1 : 0]).pipe(
      Effect.map(begun(made)),
      Effect.catchTag("OtherBrowser", () => Effect.succeed("another browser"))
    ),
  useSession: ({ access }, _, made) => Effect.map(access.bySession(made.cookies[0] ?? "none"), seen),
  endSession: ({ access }, _, made) => access.endSession(made.cookies[0] ?? "none"),
  invite: ({ admins }, n) =>
    admins.invite({ email: ADMIN, right: n % 2 === 0 ? "admin" : "admin:read", actor: "desk" }),
  remove: ({ admins }) => admins.remove({ email: ADMIN, actor: "desk" }),
  makeToken: ({ access }, _, made) =>
    Effect.map(access.createToken({ name: "t", rights: ["admin"] }), ({ id, token }) => {
      made.tokens.push({ id, text: Redacted.value(token) })
    }),
  useToken: ({ access }, _, made) =>
    Effect.map(access.byToken(made.tokens[0]?.text ?? "none"), (principal) => principal?.rights),
  beginSession: ({ access }, _, made) =>
    Effect.map(access.beginSession(made.tokens[0]?.text ?? "none"), begun(made)),
  revoke: ({ access }, _, made) => access.revokeToken(made.tokens[0]?.id ?? DAILY)
}

const FIRING = { firing: true, episode: 1, calmSince: undefined }
const CALM = { ...FIRING, calmSince: 1_790_000_000_123 }
const OVER = { firing: false, episode: 1, calmSince: undefined }
const CHANGES: ReadonlyArray<Omit<AlarmChange, "name">> = [
  { from: QUIET, to: FIRING, notice: "begun", detail: "4 sends" },
  { from: FIRING, to: CALM, notice: undefined, detail: "none" },
  { from: CALM, to: OVER, notice: "ended", detail: "none left" }
]
const noticeOf = (n: number) => ({
  alarm: "failovers" as const,
  episode: 1,
  kind: n % 3 === 0 ? ("ended" as const) : ("begun" as const),
  detail: "",
  at: 0,
  taken: [],
  goesTo: undefined
})

const alarms: Record<string, Step> = {
  change: ({ board }, n) => board.change({ name: "failovers", ...CHANGES[n % CHANGES.length]! }),
  claimNotice: ({ board }) => Effect.map(board.claimNotice, (notice) => notice && { ...notice, at: 0 }),
  confirmNotice: ({ board }, n) => board.confirmNotice(noticeOf(n)),
  releaseNotice: ({ board }, n) => board.releaseNotice(noticeOf(n), n % 2 === 0 ? [] : ["chat"]),
  readAlarms: ({ board }) => board.read
}

const claimOf = (n: number) => ({
  subscriptionId: DAILY,
  period,
  owner: `process ${n % 3}`,
  leaseMs: n % 2 === 0 ? 60_000 : 0,
  patient: n % 4 === 3,
  request: {
    to: ONE,
    subject: "s",
    text: `of ${n % 3}`,
    category: "notification" as const,
    source: "api:audit-digest"
  }
})

const digests: Record<string, Step> = {
  claimDigest: (desk, n) =>
    Effect.map(desk.digests.claim(claimOf(n)), (claim) =>
      claim._tag === "Claimed" ? claim.request.text : claim._tag
    ),
  settleDigest: (desk, n) =>
    desk.digests.settle({
      subscriptionId: DAILY,
      period,
      owner: `process ${n % 3}`,
      end: n % 2 === 0 ? { state: "sent" } : { state: "failed", certain: n % 4 === 1, error: "e" }
    }),
  pendingDigests: (desk) =>
    Effect.map(
      desk.digests.pending({ period, after: undefined, limit: 10, createdBefore: undefined }),
      (pending) => pending.map(({ id }) => id)
    )
}

const EVENTS = ["delivered", "opened", "bounced", "complained", "clicked"] as const
const OUTCOMES = ["sent", "failed", "suppressed"] as const

const campaigns: Record<string, Step> = {
  beginSend: ({ book }, n, made) =>
    Effect.map(
      book.begin({
        email: ONE,
        name: undefined,
        campaign: "spring",
        subject: "s",
        idempotencyKey: n % 3 === 0 ? "k2" : "k1"
      }),
      (answer) => {
        if (answer._tag !== "Unsubscribed") made.sends.push(answer.id)
        return answer._tag === "Unsubscribed" ? answer : { ...answer, id: "" }
      }
    ),
  finishSend: ({ book }, n, made) => {
    const outcome = OUTCOMES[n % OUTCOMES.length]!
    return book.finish({
      id: made.sends[0] ?? DAILY,
      outcome,
      providerMessageId: outcome === "sent" ? "m-1" : null,
      error: null,
      errorKind: outcome === "failed" ? "rejected" : null
    })
  },
  eventOfSend: ({ book }, n, made) =>
    book.record(
      campaignEvent({
        event: EVENTS[n % EVENTS.length]!,
        recipients: [ONE],
        affected: [ONE],
        sendId: n % 2 === 0 ? made.sends[0] : undefined
      })
    ),
  unsubscribe: ({ unsubscribes }) => unsubscribes.add({ email: ONE, campaign: "spring" })
}

const STEPS: Readonly<Record<string, Step>> = { ...signingIn, ...alarms, ...digests, ...campaigns }

/** What everybody can see when nothing is under way. */
const rest: Step = (desk, n, made) =>
  Effect.all([
    Effect.map(desk.admins.list, (all) => all.map(({ email, rights }) => [email, rights])),
    Effect.map(desk.access.listTokens, (all) => all.map(({ name }) => name)),
    signingIn["useSession"]!(desk, n, made),
    desk.board.read,
    digests["pendingDigests"]!(desk, n, made),
    desk.rows
  ])

const INVITED: ReadonlyArray<Named> = [
  ["invite", 0],
  ["request", 0]
]

export const SCENARIOS = {
  "a link": { before: [["promo", 0]], at: ["redeem", "redeem", "redeem", "request", "promo"] },
  "an admin's link": {
    before: INVITED,
    at: ["redeem", "redeem", "invite", "invite", "remove", "request"]
  },
  "an admin at work": {
    before: [...INVITED, ["redeem", 1]],
    at: ["useSession", "endSession", "invite", "remove", "redeem", "request"]
  },
  "many links": {
    before: [["invite", 0], ...Array.from({ length: MOST_SIGN_INS - 1 }, (): Named => ["request", 0])],
    at: ["request", "request", "request", "remove"]
  },
  "a token": {
    before: [["makeToken", 0]],
    at: ["beginSession", "beginSession", "revoke", "useToken", "makeToken"]
  },
  alarm: { before: [], at: ["change", "change", "claimNotice", "readAlarms"] },
  notices: {
    before: [
      ["change", 0],
      ["change", 1],
      ["change", 2]
    ],
    at: ["claimNotice", "claimNotice", "confirmNotice", "releaseNotice", "change"]
  },
  digest: { before: [], at: ["claimDigest", "claimDigest", "settleDigest", "pendingDigests"] },
  "digest claimed": {
    before: [["claimDigest", 1]],
    at: ["claimDigest", "claimDigest", "settleDigest", "settleDigest"]
  },
  // A link to unsubscribe goes to those alone to whom a mail was begun.
  campaign: {
    before: [["beginSend", 0]],
    at: ["beginSend", "beginSend", "eventOfSend", "unsubscribe"]
  },
  "campaign begun": {
    before: [["beginSend", 1]],
    at: ["beginSend", "finishSend", "finishSend", "eventOfSend", "eventOfSend", "unsubscribe"]
  }
} as const satisfies Record<string, Scenario>

const CLEAN = `with ${[
  "email_alarm_notices",
  "email_alarms",
  "audit_digest_deliveries",
  "email_send_events",
  "email_sends",
  "unsubscribes",
  "prospects",
  "sessions",
  "magic_links",
  "api_tokens",
  "promo_claims",
  "admins"
]
  .map((table, at) => `t${at} as (delete from ${table})`)
  .join(", ")} delete from customers`

export const DESK = {
  steps: STEPS,
  rest,
  scenarios: SCENARIOS,
  memory: memoryDesk,
  none: (): Made => ({ links: [], cookies: [], tokens: [], sends: [] }),
  clean: CLEAN,
  // The one notice that is due may be locked by another call.
  passesOver: { claimNotice: "nothing" }
} satisfies Scenes<Desk, Made, keyof typeof SCENARIOS>

export const playDesk = playScenes(DESK)
