import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { gzipSync } from "node:zlib"

import { Effect, Redacted, Stream } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { call as callGoogle } from "../../../src/adapters/gmail/access-token.ts"
import { makeSendRelay } from "../../../src/adapters/http-client/send-relay.ts"
import { makeSentMails } from "../../../src/adapters/resend/list-mails.ts"
import { makeResendProvider } from "../../../src/adapters/resend/resend-provider.ts"
import { UndiciResend } from "../../../src/adapters/resend/undici-resend.ts"
import { makeS3Objects } from "../../../src/adapters/s3/object-store.ts"
import { makeSesProvider } from "../../../src/adapters/ses/ses-provider.ts"
import { makeTelegramChat } from "../../../src/adapters/telegram/chat.ts"
import { boundedBody, BodyTooLong, MAX_ANSWER } from "../../../src/domain/bounded-body.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"

/** What a bound may be overrun by: what is on its way in buffers of both sides. Bytes. */
const ON_ITS_WAY = 16 * 1024 * 1024

/** What the server of an attack answers with: chunks without an end, or one gzip of very much. */
let answer: "endless" | "bomb" = "endless"
let sent = 0
let cut: Promise<unknown> = Promise.resolve()
const CHUNK = Buffer.alloc(64 * 1024, "x")
const MB = 1024 * 1024
const MEMBER = gzipSync(Buffer.alloc(50 * MB, "x"))
/** Unpacked it takes five times what a test may take, in members as gzip allows them. */
const BOMB = Buffer.concat(Array.from({ length: 40 }, () => MEMBER))

const pour = (response: ServerResponse): void => {
  while (!response.destroyed) {
    sent += CHUNK.length
    if (!response.write(CHUNK)) return void response.once("drain", () => pour(response))
  }
}

const server = createServer((request, response) => {
  request.resume()
  cut = once(response, "close")
  if (answer === "bomb") {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
    sent += BOMB.length
    return void response.end(BOMB)
  }
  response.writeHead(200, { "content-type": "application/json" })
  pour(response)
})
let url = ""
beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => void (sent = 0))

const key = keyOf("order-17")
const resend = (client?: typeof UndiciResend) =>
  makeResendProvider({ client, apiKey: Redacted.make("re_1"), baseUrl: url })
const sendBy = (client?: typeof UndiciResend) => {
  const provider = resend(client)
  return Effect.map(Effect.flip(provider.send(provider.prepare(mail(), key))), ({ kind, message }) => {
    expect(kind).toBe("ambiguous")
    return message
  })
}

const CLIENTS: ReadonlyArray<readonly [what: string, call: () => Effect.Effect<string, unknown>]> = [
  ["a send by Resend over fetch", () => sendBy()],
  ["a send by Resend over undici", () => sendBy(UndiciResend)],
  [
    "a send by Amazon SES",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const provider = yield* makeSesProvider({
            region: "us-east-1",
            endpoint: url,
            credentials: () => Promise.resolve({ accessKeyId: "AKIA", secretAccessKey: "s" })
          })
          const failure = yield* Effect.flip(provider.send(provider.prepare(mail(), key)))
          expect(failure.kind).toBe("ambiguous")
          return failure.message
        })
      )
  ],
  [
    "a list of S3",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const objects = yield* makeS3Objects({
            bucket: "files",
            cacheDir: tmpdir(),
            region: "us-east-1",
            endpoint: url,
            credentials: { accessKeyId: "AKIA", secretAccessKey: "s" }
          })
          const { cause, reason } = yield* Effect.flip(Stream.runDrain(objects.list("files/")))
          return `${reason} ${String(cause)}`
        })
      )
  ],
  [
    "Resend's list",
    () =>
      Effect.map(
        Effect.flip(makeSentMails({ apiKey: Redacted.make("re_1"), baseUrl: url }).page(undefined)),
        ({ message }) => message
      )
  ],
  [
    "Telegram",
    () =>
      Effect.map(
        Effect.flip(
          makeTelegramChat({ token: Redacted.make("4711:x"), chatId: "1", baseUrl: url }).post("alert")
        ),
        ({ message }) => message
      )
  ],
  [
    "Google",
    () =>
      Effect.map(
        Effect.flip(callGoogle(url, { method: "POST", headers: {}, body: "x" })),
        ({ message }) => message
      )
  ],
  [
    "the relay",
    () =>
      Effect.map(
        Effect.flip(
          makeSendRelay({ url, secret: Redacted.make("s") }).send({
            to: "a@x.test",
            subject: "s",
            text: "t",
            category: "notification",
            source: "api:audit-digest",
            idempotencyKey: "k"
          })
        ),
        ({ certain, message }) => {
          expect(certain).toBe(false)
          return message
        }
      )
  ]
]

describe("an answer that does not end (H1, H2)", () => {
  it.each(CLIENTS)("is cut at its bound, and what it said is not known: %s", async (_, call) => {
    answer = "endless"
    expect(await Effect.runPromise(call())).not.toBe("")
    await cut
    expect(sent).toBeLessThan(MAX_ANSWER + ON_ITS_WAY)
  })

  it.each(CLIENTS)("is not unpacked beyond its bound: %s", async (_, call) => {
    answer = "bomb"
    const before = process.memoryUsage().rss
    expect(await Effect.runPromise(call())).not.toBe("")
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * MB)
  })
})

describe("the bytes of a body", () => {
  it("are whole up to the bound, and nothing beyond it", () => {
    const body = boundedBody(3)
    expect(body.bytes()).toEqual(new Uint8Array())
    for (const chunk of [[65], [], [66, 67]]) body.add(Uint8Array.from(chunk))
    expect([body.bytes(), body.text()]).toEqual([Uint8Array.of(65, 66, 67), "ABC"])
    expect(() => body.add(Uint8Array.of(68))).toThrow(BodyTooLong)
  })
})
