import { createHmac } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

import type { Answer } from "../crash/world.ts"
import { busEnvelope, webhookBody } from "../delivery/vendor-events.ts"
import { call, callUntil, type Client, steadily } from "./clients.ts"
import { count, type MailStory } from "./journal.ts"
import { BUS_SECRET, SECRET, SIGNING_SECRET } from "./world.ts"

/** One send about every so often, and so many under way at once at most, milliseconds. */
const EVERY_MS = 300
const MOST = 120

/** The most that a call is repeated after an answer that says it may be. */
const REPEATS = 4

const NOTHING: Answer["body"] = {}

/** Asks once; status 0: no answer. */
const ask = async (client: Client, story: MailStory, extra: object): Promise<Answer> => {
  const askedAt = Date.now()
  const response = await call(client, "/internal/send-email", {
    method: "POST",
    headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
    body: JSON.stringify({
      to: `${story.token}@reader.example`,
      subject: `A mail of the soak, ${story.token}`,
      text: "Text",
      category: "transactional",
      source: "test:soak",
      ...(story.key === undefined ? {} : { idempotencyKey: story.key }),
      ...extra
    })
  })
  const body = await response?.json().catch(() => undefined)
  const answer: Answer =
    response === undefined || body === undefined
      ? { status: 0, body: NOTHING, askedAt, at: Date.now() }
      : { status: response.status, body: body as Answer["body"], askedAt, at: Date.now() }
  story.answers.push(answer)
  return answer
}

/** Calls on one key until an answer is final; some ask once more then (S9). */
const withKey = async (client: Client, story: MailStory, extra: object): Promise<Answer | undefined> => {
  const { chance } = client
  let repeats = 0
  let after = chance.bool(0.1) ? 2 : 1
  while (!client.givesUp.aborted) {
    const answer = await ask(client, story, extra)
    if (answer.status === 200 || answer.status === 202) {
      if (--after === 0) return answer
    } else if (answer.body.code === "EMAIL_FAILED") {
      if (answer.body.retryable !== true || ++repeats > REPEATS) return answer
    } else if (answer.body.code === "IDEMPOTENCY_CONFLICT" || answer.status === 400) return answer
    else await sleep(chance.int(100, 600))
  }
  return undefined
}

const signed = (id: string, body: string) => {
  const at = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(SIGNING_SECRET.slice("whsec_".length), "base64")
  const mac = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")
  return { "svix-id": id, "svix-timestamp": at, "svix-signature": `v1,${mac}` }
}

/** The vendor reports what became of a mail until it is heard, now and then twice. */
const report = async (client: Client, provider: string, messageId: string, to: string): Promise<void> => {
  const { chance, journal } = client
  const what = chance.bool(0.02) ? "bounced" : "delivered"
  const story = { id: messageId, to, happened: [what] } as const
  await sleep(chance.int(50, 3_000))
  const at = Date.now()
  for (let times = chance.bool(0.1) ? 2 : 1; times > 0; times--) {
    const byA = provider === "provider_a"
    const body = byA ? webhookBody(story, what, at) : JSON.stringify(busEnvelope(story, what, at))
    const path = byA ? "/functions/v1/provider-a-webhook" : "/api/webhooks/providerb-events"
    const headers = byA ? signed(`msg_${messageId}`, body) : { "x-webhook-secret": BUS_SECRET }
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body }
    const taken = await callUntil(client, path, init, (status) => status === 200)
    if (taken === undefined) return
    count(journal.counts, "delivery events taken")
    if (times === 1) journal.events.push({ messageId, what, to })
  }
}

const sendOne = async (client: Client, serial: number): Promise<void> => {
  const { chance, journal } = client
  const token = `soak-mail-${serial}`
  const story: MailStory = { token, key: chance.bool(0.8) ? token : undefined, answers: [] }
  const pinned = chance.bool(0.1) ? { provider: "provider_b" } : {}
  const extra = story.key !== undefined && chance.bool(0.4) ? { ...pinned, queue: true } : pinned
  journal.mails.push(story)
  const answer =
    story.key === undefined ? await ask(client, story, extra) : await withKey(client, story, extra)
  const { provider, providerMessageId } = answer?.body ?? {}
  if (answer?.status !== 200 || !provider || !providerMessageId || chance.bool(0.3)) return
  await report(client, provider, providerMessageId, `${token}@reader.example`)
}

/** Sends with keys and without, at once and queued, and delivery events of what was taken. */
export const loadMail = (client: Client): Promise<void> =>
  steadily(client, EVERY_MS, MOST, (serial) => sendOne(client, serial))
