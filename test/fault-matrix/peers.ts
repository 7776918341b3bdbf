import { SendEmailCommand, type SendEmailCommandInput, SESv2Client } from "@aws-sdk/client-sesv2"
import { createFailedReceipt, createMessage, type Message, type Transport } from "@upyo/core"
import { PoolTransport } from "@upyo/pool"
import { Resend } from "resend"

import type { FakeHttp } from "../support/vendors/fake-http.ts"
import { RESEND_KEY, STATIC } from "../support/vendors/fake-peers.ts"
import { fakeResend } from "../support/vendors/fake-resend.ts"
import { fakeSes } from "../support/vendors/fake-ses.ts"
import { type PeersCell, type PeersPrimary, scriptOf } from "./cells.ts"
import { type EmailRequest as Mail, NotifmeSdk } from "./notifme.ts"

/** What one call of a peer came to. */
export interface PeerRun {
  /** Copies that left, of all providers together. */
  readonly copies: number
  /** Whether the caller was answered that the mail is sent. */
  readonly ok: boolean
}

/** How many of the primary's answers go wrong: the first, or all until the call has ended. */
export type Duration = "once" | "throughout"

const FROM = "noreply@postlane.test"
const TO = "ann@example.test"

/**
 * Resolves when a caller's time limit for request number `count` is over. Only a request that is left without an answer
 * gets there, and it does once it has arrived: no machine is too slow for that.
 */
const timeLimit = (fake: FakeHttp, count: number): Promise<void> =>
  fake.until(() => fake.requests.length >= count)

/** One request to one provider, as the vendor's own SDK makes it; the message id, or a rejection. */
type SendOnce = (mail: Mail, signal?: AbortSignal) => Promise<string>

const messageId = (id: string | undefined): string => {
  if (id === undefined) throw new Error("the provider answered without a message id")
  return id
}

const resendOnce = (url: string): SendOnce => {
  const client = new Resend(RESEND_KEY, { baseUrl: url })
  return async (mail, signal) => {
    const { data, error } = await client.emails.send(mail, signal === undefined ? {} : { signal })
    if (error !== null) throw new Error(error.message)
    return messageId(data.id)
  }
}

const inputOf = ({ from, subject, text, to }: Mail): SendEmailCommandInput => ({
  FromEmailAddress: from,
  Destination: { ToAddresses: [to] },
  Content: { Simple: { Subject: { Data: subject }, Body: { Text: { Data: text } } } }
})

/** The SDK's client; three attempts is its default, set here so that no environment changes it. */
const sesClient = (url: string, maxAttempts: number): SESv2Client =>
  new SESv2Client({
    region: "us-east-1",
    endpoint: url,
    credentials: STATIC,
    maxAttempts,
    retryMode: "standard",
    defaultsMode: "standard"
  })

const sesOnce =
  (client: SESv2Client): SendOnce =>
  async (mail, abortSignal) => {
    const input = new SendEmailCommand(inputOf(mail))
    const answer = await client.send(input, abortSignal === undefined ? {} : { abortSignal })
    return messageId(answer.MessageId)
  }

/** A cell's two fakes, and one-request senders for them, the primary first. */
interface Bench {
  readonly primary: FakeHttp
  readonly senders: ReadonlyArray<{ readonly id: PeersPrimary; readonly send: SendOnce }>
}

const withBench = async (
  cell: PeersCell,
  duration: Duration,
  call: (bench: Bench) => Promise<boolean>
): Promise<PeerRun> => {
  const fakes = {
    provider_a: await fakeResend({ apiKey: RESEND_KEY }).listen(),
    provider_b: await fakeSes().listen()
  }
  const ses = sesClient(fakes.provider_b.url, 1)
  /** The sender brings the time limit along: without one, a cell that hangs would never end. */
  const limited =
    (id: PeersPrimary, send: SendOnce): SendOnce =>
    (mail) => {
      const limit = new AbortController()
      if (id === cell.primary && cell.outcome.fault === "hang")
        void timeLimit(fakes[id], 1).then(() => limit.abort())
      return send(mail, limit.signal)
    }
  const senders = [
    { id: "provider_a", send: limited("provider_a", resendOnce(fakes.provider_a.url)) },
    { id: "provider_b", send: limited("provider_b", sesOnce(ses)) }
  ] as const
  const primary = fakes[cell.primary]
  const script = scriptOf(cell)
  await (duration === "once" ? primary.script([script]) : primary.always(script))
  try {
    const ordered = cell.primary === "provider_a" ? senders : senders.toReversed()
    const ok = await call({ primary, senders: ordered })
    return { ok, copies: fakes.provider_a.acceptedCount + fakes.provider_b.acceptedCount }
  } finally {
    ses.destroy()
    await Promise.all([fakes.provider_a.close(), fakes.provider_b.close()])
  }
}

/** A transport as Upyo's guide writes one: an error becomes a failed receipt. */
const transportOf = (id: PeersPrimary, send: SendOnce): Transport<PeersPrimary> => {
  const sendMessage: Transport<PeersPrimary>["send"] = async (message) => {
    const { content, recipients, sender, subject } = message
    const text = "text" in content ? (content.text ?? "") : ""
    const mail = { from: sender.address, to: recipients[0]?.address ?? "", subject, text }
    try {
      return { successful: true, messageId: await send(mail), provider: id }
    } catch (cause) {
      return createFailedReceipt(cause instanceof Error ? cause.message : String(cause), { provider: id })
    }
  }
  return {
    id,
    send: sendMessage,
    async *sendMany(messages: Iterable<Message> | AsyncIterable<Message>) {
      for await (const message of messages) yield await sendMessage(message)
    }
  }
}

/** `@upyo/pool`, strategy `priority`: its fail-over. */
export const runUpyo = (cell: PeersCell): Promise<PeerRun> =>
  withBench(cell, "throughout", async ({ senders }) => {
    const pool = new PoolTransport({
      strategy: "priority",
      transports: senders.map(({ id, send }, at) => ({
        transport: transportOf(id, send),
        priority: 100 - at
      }))
    })
    const message = createMessage({ from: FROM, to: TO, subject: "Hello", content: { text: "Hi" } })
    return (await pool.send(message)).successful
  })

/**
 * `notifme-sdk`, strategy `fallback`, with providers of our own: its SES provider knows one host only, and it has none for
 * Resend.
 */
export const runNotifme = (cell: PeersCell): Promise<PeerRun> =>
  withBench(cell, "throughout", async ({ senders }) => {
    const sdk = new NotifmeSdk({
      channels: {
        email: {
          multiProviderStrategy: "fallback",
          providers: senders.map(({ id, send }) => ({
            type: "custom",
            id,
            send: ({ from, subject, text, to }) => send({ from, subject, text, to })
          }))
        }
      }
    })
    sdk.logger.configure({ silent: true })
    const { status } = await sdk.send({ email: { from: FROM, to: TO, subject: "Hello", text: "Hi" } })
    return status === "success"
  })

/** Ends a request that gets no answer as the SDK's own `requestTimeout` does, with the error that it has for it. */
const limitAttempts = (client: SESv2Client, fake: FakeHttp, limited: (attempt: number) => boolean): void => {
  let attempts = 0
  client.middlewareStack.add(
    (next) => async (args) => {
      const attempt = (attempts += 1)
      if (!limited(attempt)) return next(args)
      const over = timeLimit(fake, attempt).then(() => {
        throw Object.assign(new Error("the request timed out"), { name: "TimeoutError", code: "ETIMEDOUT" })
      })
      return Promise.race([next(args), over])
    },
    { step: "deserialize", name: "limitAttempts" }
  )
}

/** The SES SDK alone, with the retries that it makes by default: three attempts, each within the time limit. */
export const runSesSdk = (cell: PeersCell, duration: Duration): Promise<PeerRun> =>
  withBench(cell, duration, async ({ primary }) => {
    const client = sesClient(primary.url, 3)
    const hangs = cell.outcome.fault === "hang"
    limitAttempts(client, primary, (attempt) => hangs && (attempt === 1 || duration === "throughout"))
    const mail = { from: FROM, to: TO, subject: "Hello", text: "Hi" }
    try {
      await sesOnce(client)(mail)
      return true
    } catch {
      return false
    } finally {
      client.destroy()
    }
  })
