import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"

import { type Answer, query, type World } from "./world.ts"

/** An acceptance as a fake's log has it. */
interface Accepted {
  readonly id: string
  readonly key: string
  readonly at: number
}

interface Row {
  readonly id: string
  readonly key: string
  readonly status: string
  readonly provider: string | null
  readonly message_id: string | null
}

interface QueueRow {
  readonly state: string
  readonly attempts: number
  readonly key: string
}

/** What is judged, and which promises hold in the weather that it was made in. */
export interface Evidence {
  readonly world: World
  readonly databaseUrl: string
  readonly answers: ReadonlyMap<string, ReadonlyArray<Answer>>
  /** The database answered every process in time: claims and rows are complete (S6 lets go of them otherwise). */
  readonly databaseHeld: boolean
  /** A process was frozen: what it had begun to write to a provider goes out when it wakes. */
  readonly froze: boolean
}

/** What a run came to. Without violations it was well. */
export interface Verdict {
  readonly violations: ReadonlyArray<string>
  readonly counts: Readonly<Record<string, number>>
}

/** The id of a mail as the provider without keys answers with it. */
const messageIdOf = (id: string): string => `0100${id}-000000`

const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex")

const acceptances = async (file: string): Promise<ReadonlyMap<string, ReadonlyArray<Accepted>>> => {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "")
  return Map.groupBy(
    lines.map((line) => JSON.parse(line) as Accepted),
    ({ key }) => key
  )
}

/** What is still under way: messages in the queue, and keys that somebody works on. */
export const underWay = async (databaseUrl: string): Promise<number> => {
  const rows = await query<{ readonly count: number }>(
    databaseUrl,
    `select (select count(*) from email_defer_queue where state = 'pending')::int
       + (select count(*) from email_send_claims where lease_until > clock_timestamp())::int as count`
  )
  return rows[0]?.count ?? 0
}

/** Judges a run at rest by what the clients were answered, what the providers accepted, and what the database holds. */
export const judge = async ({
  answers,
  databaseHeld,
  databaseUrl,
  froze,
  world
}: Evidence): Promise<Verdict> => {
  const [byA, byTag, rowList, queueList, claimList, tagList] = await Promise.all([
    acceptances(world.resend.log),
    acceptances(world.ses.log),
    query<Row>(
      databaseUrl,
      "select id, idempotency_key as key, status, provider, provider_message_id as message_id from email_log"
    ),
    query<QueueRow>(
      databaseUrl,
      "select state, attempts, element::jsonb -> 'details' ->> 'idempotencyKey' as key from email_defer_queue"
    ),
    query<{ readonly key_hash: string; readonly state: string }>(
      databaseUrl,
      "select key_hash, state from email_send_claims"
    ),
    query<{ readonly hash: string; readonly tag: string }>(
      databaseUrl,
      `select tag, key_hash as hash from email_send_claims where tag is not null
       union select key_tag, key_hash from email_log where key_tag is not null and key_hash is not null`
    )
  ])
  const rows = Map.groupBy(rowList, ({ key }) => key)
  const rowIds = new Set(rowList.map(({ id }) => id))
  const queued = Map.groupBy(queueList, ({ key }) => key)
  const claims = new Map(claimList.map((claim) => [claim.key_hash, claim.state]))

  const tags = Map.groupBy(tagList, (known) => known.hash)

  const violations: Array<string> = []
  const counts: Record<string, number> = {}
  const count = (what: string, by = 1) => (counts[what] = (counts[what] ?? 0) + by)

  for (const [key, all] of answers) {
    const hash = hashOf(key)
    const a = byA.get(key) ?? []
    const own = rows.get(key) ?? []
    const named = new Set([
      ...own.map((row) => row.message_id),
      ...all.map(({ body }) => body.providerMessageId)
    ])
    const b = [
      ...(tags.get(hash) ?? []).flatMap(({ tag }) => byTag.get(tag) ?? []),
      // What was sent while the database did not answer has no tag: it is known by the id that the provider gave it.
      ...(byTag.get("") ?? []).filter(({ id }) => named.has(messageIdOf(id)))
    ]
    const dead = (queued.get(key) ?? []).filter(({ state }) => state === "failed")
    const okAnswers = all.filter(({ body }) => body.ok === true)
    const final = all.at(-1)
    const wrong = (id: string, what: string) =>
      violations.push(
        `${id} ${key}: ${what}\n    answers ${JSON.stringify(all.filter(({ status }) => status !== 0))}\n    accepted a ${JSON.stringify(a)} b ${JSON.stringify(b)}\n    rows ${JSON.stringify(own)} claim ${claims.get(hash) ?? "none"}`
      )

    count("keys")
    count("calls", all.length)
    count("calls without an answer", all.filter(({ status }) => status === 0).length)
    count(
      `ended ${String(final?.body.ok === true ? final.body.status : (final?.body.kind ?? "without an answer"))}`
    )
    count("copies from provider_a", a.length)
    count("copies from provider_b", b.length)
    count("extra copies from provider_b", Math.max(0, b.length - 1))
    count("dead letters", dead.length)

    if (a.length > 1) wrong("S1", "provider_a took it twice")
    if (final === undefined || final.status === 0) wrong("D1", "its client never got an answer")
    for (const { body } of okAnswers) {
      if (body.status !== "sent") continue
      const taken =
        body.provider === "provider_a" ? a.map(({ id }) => id) : b.map(({ id }) => messageIdOf(id))
      if (!taken.includes(body.providerMessageId ?? ""))
        wrong("S5", "it was answered as sent, but was not accepted so")
    }
    const ended = own.some(({ status }) => status === "failed" || status === "suppressed")
    if (okAnswers.length > 0 && a.length + b.length === 0 && !ended && dead.length === 0)
      wrong("D1", "it is lost")
    if (own.length > 0 && own.every(({ status }) => status === "deferred") && dead.length === 0) {
      wrong("D1", "it is left deferred")
    }
    if (dead.some(({ attempts }) => attempts < 3))
      wrong("D3", "its message is dead after fewer than three receives")
    if (own.some(({ status }) => status === "sent") && a.length + b.length === 0) {
      wrong("L1", "a row says sent, and nobody accepted it")
    }

    if (!databaseHeld) continue
    if (a.length > 0 && b.length > 0) wrong("S2", "both providers took it")
    if (all.some(({ body }) => body.code === "IDEMPOTENCY_CONFLICT"))
      wrong("S9", "a repeated call was a conflict")
    if (new Set(okAnswers.map(({ body }) => body.provider)).size > 1)
      wrong("S9", "two answers name two providers")
    // A deferral may end failed, and a repeat answers so.
    const firstTold = all.findIndex(({ body }) => body.ok === true && body.status === "sent")
    if (firstTold !== -1 && all.slice(firstTold).some(({ body }) => body.code === "EMAIL_FAILED")) {
      wrong("S9", "it was accepted, and then failed")
    }
    const firstOpen = all.findIndex(({ body }) => body.kind === "ambiguous")
    const certain = ({ body }: Answer) => body.kind === "rejected" || body.kind === "unavailable"
    if (firstOpen !== -1 && all.slice(firstOpen).some(certain))
      wrong("S2", "ambiguous, then reported as not delivered")
    if (all.some((answer) => certain(answer) && [...a, ...b].some(({ at }) => at < answer.askedAt))) {
      wrong("S2", "it was accepted before, and reported as not delivered")
    }
    if (final?.body.sendId !== undefined && !rowIds.has(final.body.sendId)) {
      wrong("L1", "no row has the id that its client got")
    }
    const claim = claims.get(hash)
    if (claim === undefined) wrong("S9", "its claim is missing")
    else if (claim === "held") wrong("S9", "its claim is held although its client has an answer")
    const sentAt = okAnswers.find(({ body }) => body.status === "sent")?.at ?? Infinity
    if (!froze && b.some(({ at }) => at > sentAt))
      wrong("S4", "provider_b took another copy after it was answered as sent")
  }
  for (const { attempts, key, state } of queueList) {
    if (state === "pending") violations.push(`D1 ${key}: its message still waits after ${attempts} receives`)
  }
  return { violations, counts }
}
