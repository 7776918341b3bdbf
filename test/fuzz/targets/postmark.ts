import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { Effect, Redacted, References } from "effect"
import * as fc from "fast-check"

import { makePostmarkProvider } from "../../../src/adapters/postmark/postmark-provider.ts"
import { decodeWebhookEvent } from "../../../src/adapters/postmark/webhook-event.ts"
import { fieldsOf } from "../../../src/domain/delivery/untrusted.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"
import { JSON_WORDS, jsonSeeds, strangeJson } from "../json.ts"
import { hold, type Opened, type Target } from "../target.ts"

const EVENT = {
  MessageID: "m",
  MessageStream: "outbound",
  Metadata: { postlane_key: "f".repeat(64), a: "b" }
}
const EVENTS = [
  { ...EVENT, RecordType: "Delivery", Recipient: "a@x.test", DeliveredAt: "2026-11-05T11:33:54-05:00" },
  {
    ...EVENT,
    RecordType: "Bounce",
    Type: "HardBounce",
    Email: "A@x.test",
    BouncedAt: "2026-11-05T16:33:54Z",
    Inactive: true,
    Details: "550",
    Content: "the whole mail"
  },
  { ...EVENT, RecordType: "SpamComplaint", Type: "SpamComplaint", Email: "a@x.test" },
  {
    ...EVENT,
    RecordType: "SubscriptionChange",
    Recipient: "a@x.test",
    SuppressSending: true,
    SuppressionReason: "HardBounce",
    ChangedAt: "2026-11-05T16:33:54Z"
  }
]
const ANSWERS = [
  { ErrorCode: 0, Message: "OK", MessageID: "id-1", To: "ann@example.test" },
  {
    ErrorCode: 0,
    Message: "Message OK, but will not deliver to these inactive addresses: ann@example.test.",
    MessageID: "id-1"
  },
  { ErrorCode: 406, Message: "You tried to send to recipient(s) that have been marked as inactive." },
  { ErrorCode: 429, Message: "slow down" }
]

/** The first line: `event`, or the status of an answer. */
const LINES = ["event", "200", "422", "429", "500", "503"] as const
const withLine = (line: string, body: Buffer) => Buffer.concat([Buffer.from(`${line}\n`), body])
const samplesOf = (line: string) => (line === "event" ? EVENTS : ANSWERS)

const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return undefined
  }
}

/** An event's words are bounded, and the mail that a bounce repeats is never kept. */
const readEvent = (json: unknown): string => {
  const read = decodeWebhookEvent(json)
  if (read._tag === "Ignored") return read.reason
  const { event, providerMessageId, raw, recipients } = read.event
  hold(providerMessageId !== "" && providerMessageId.length <= 500, "EVENT-6: the id is not bounded")
  hold(
    recipients.every((one) => one === one.toLowerCase() && one.length <= 500),
    "EVENT-12: an address is not bare and lower-case"
  )
  hold(!("Content" in fieldsOf(raw)), "EVENT-6: the dump of a bounce is kept")
  return event
}

const TOKEN = "server-token-4711"

/** Asks the adapter against a server that answers with the input. */
const open = async (): Promise<Opened> => {
  let next: { readonly status: number; readonly body: Buffer } = { status: 200, body: Buffer.from("{}") }
  const server = createServer((request, response) => {
    request.resume().once("end", () => response.writeHead(next.status).end(next.body))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const provider = makePostmarkProvider({
    serverToken: Redacted.make(TOKEN),
    baseUrl: `http://127.0.0.1:${port}`,
    messageStream: "outbound"
  })
  const request = provider.prepare(mail(), keyOf("fuzz"))
  const ask = async (status: number, body: Buffer): Promise<string> => {
    next = { status, body }
    const said = await Effect.runPromise(
      Effect.result(provider.send(request)).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    )
    const { ErrorCode, MessageID } = fieldsOf(jsonOf(body))
    if (said._tag === "Success") {
      hold(status === 200 && ErrorCode === 0 && typeof MessageID === "string", "S3: no proof of acceptance")
      const { withheld = [] } = said.success
      hold(
        withheld.every((one) => one === "ann@example.test"),
        "MAIL-62: somebody else was dropped"
      )
      return `accepted, ${withheld.length} withheld`
    }
    const { kind, message } = said.failure
    hold(!message.includes(TOKEN) && message.length <= 2_000, "MAIL-37: the failure's text is not safe")
    hold(status < 500 || status === 503 || kind === "ambiguous", "MAIL-37: a 5xx proves nothing")
    return `${status}: ${kind}`
  }
  return {
    answer: async (input) => {
      const at = Math.max(0, input.indexOf(10))
      const [line, body] = [input.subarray(0, at).toString("latin1"), input.subarray(at + 1)]
      if (line === "event") return readEvent(jsonOf(body))
      // Answers without a body, and those before the answer, are the HTTP client's.
      const status = /^[2-5]\d\d$/.test(line) && !["204", "205", "304"].includes(line) ? Number(line) : 200
      return ask(status, body)
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

export const postmark: Target = {
  name: "postmark",
  about:
    "Postmark's events, read by the decoder, and its answers, read by the adapter from a server that gives them",
  limitMs: 10_000,
  memoryMb: 1_024,
  guided: true,
  seeds: () => LINES.flatMap((line) => jsonSeeds(samplesOf(line)).map((body) => withLine(line, body))),
  made: fc
    .constantFrom(...LINES)
    .chain((line) => strangeJson(samplesOf(line)).map((body) => withLine(line, body))),
  words: [
    ...JSON_WORDS,
    ...LINES.map((line) => `${line}\n`),
    '"ErrorCode":0',
    '"MessageID":"m"',
    '"RecordType":"Bounce"',
    '"Type":"Transient"',
    '"Inactive":true',
    TOKEN
  ],
  open
}
