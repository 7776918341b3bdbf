import { setTimeout as sleep } from "node:timers/promises"

import pg from "pg"

import type { Answer } from "../crash/world.ts"
import { callUntil, type Client, steadily } from "./clients.ts"
import { count, type MailStory } from "./journal.ts"
import { SECRET } from "./world.ts"

/** One caller about every so often, and so many under way at once at most, milliseconds. */
const EVERY_MS = 500
const MOST = 40

/** Mails of a batch. */
const BATCH = 5

const CATEGORIES = ["auth", "alert", "transactional", "notification", "marketing"] as const

const makeStory = ({ journal }: Client, token: string): MailStory => {
  const story: MailStory = { token, key: token, answers: [] }
  journal.mails.push(story)
  return story
}

const requestOf = ({ chance }: Client, { key, token }: MailStory, extra: object = {}) => ({
  to: `${token}@reader.example`,
  subject: `A queued mail of the soak, ${token}`,
  text: "Text",
  category: CATEGORIES[chance.int(0, CATEGORIES.length - 2)],
  source: "test:soak",
  idempotencyKey: key,
  ...extra
})

const queued = (askedAt: number, queueId: string): Answer => ({
  status: 202,
  body: { ok: true, status: "queued", queueId },
  askedAt,
  at: Date.now()
})

/** A caller's own transaction, open for a while; its key makes it safe to repeat where the end of the transaction is not known. */
const inTransaction = async (client: Client, story: MailStory, isUndone: boolean): Promise<void> => {
  const { chance, givesUp, journal, world } = client
  const request = JSON.stringify(requestOf(client, story))
  const openMs = chance.int(0, 3_000)
  while (!givesUp.aborted) {
    const askedAt = Date.now()
    const connection = new pg.Client({ connectionString: world.postgres.url })
    connection.on("error", () => undefined)
    try {
      await connection.connect()
      await connection.query("begin")
      const { rows } = await connection.query<{ readonly id: string }>(
        "select enqueue_email($1::text::jsonb) as id",
        [request]
      )
      await sleep(openMs)
      await connection.query(isUndone ? "rollback" : "commit")
      if (!isUndone) story.answers.push(queued(askedAt, rows[0]?.id ?? ""))
      count(journal.counts, `own transactions ${isUndone ? "rolled back" : "committed"}`)
      return
    } catch {
      await sleep(chance.int(200, 700))
    } finally {
      await connection.end().catch(() => undefined)
    }
  }
}

const post = (body: object): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
  body: JSON.stringify(body)
})

/** A batch, repeated until it is queued: all of it. */
const inBatch = async (client: Client, stories: ReadonlyArray<MailStory>): Promise<void> => {
  const askedAt = Date.now()
  const init = post({ emails: stories.map((story) => requestOf(client, story)) })
  const taken = await callUntil(client, "/api/send-email/batch", init, (status) => status === 202)
  if (taken === undefined) return
  const { emails } = JSON.parse(taken.text) as {
    readonly emails: ReadonlyArray<{ readonly queueId: string }>
  }
  for (const [at, story] of stories.entries()) story.answers.push(queued(askedAt, emails[at]?.queueId ?? ""))
  count(client.journal.counts, "batches queued")
}

/** A mail for later, which is cancelled about when it is due. */
const cancelled = async (client: Client, story: MailStory): Promise<void> => {
  const { chance, journal } = client
  const askedAt = Date.now()
  const sendAt = new Date(askedAt + chance.int(500, 6_000)).toISOString()
  const init = post(requestOf(client, story, { sendAt }))
  const taken = await callUntil(client, "/internal/send-email", init, (status) => status === 202)
  if (taken === undefined) return
  const { queueId } = JSON.parse(taken.text) as { readonly queueId: string }
  await sleep(chance.int(0, 7_000))
  const answer = await callUntil(
    client,
    `/api/queued-emails/${queueId}`,
    { method: "DELETE", headers: { "x-proxy-secret": SECRET } },
    (status) => status === 200 || status === 409
  )
  if (answer?.status === 200) {
    story.never = "it was cancelled"
    count(journal.counts, "queued mails cancelled")
  } else {
    story.answers.push(queued(askedAt, queueId))
    count(journal.counts, "queued mails cancelled too late")
  }
}

const queueOne = async (client: Client, serial: number): Promise<void> => {
  const { chance } = client
  const token = `soak-queue-${serial}`
  const way = chance.int(0, 9)
  if (way < 4) return inTransaction(client, makeStory(client, token), false)
  if (way < 6) {
    const story = makeStory(client, token)
    story.never = "its transaction was rolled back"
    return inTransaction(client, story, true)
  }
  if (way < 8) {
    return inBatch(
      client,
      Array.from({ length: BATCH }, (_, place) => makeStory(client, `soak-queue-${serial}${place}00000`))
    )
  }
  return cancelled(client, makeStory(client, token))
}

/** Mails in their callers' own transactions, committed and rolled back, in batches, and for later and cancelled. */
export const loadQueue = (client: Client): Promise<void> =>
  steadily(client, EVERY_MS, MOST, (serial) => queueOne(client, serial))
