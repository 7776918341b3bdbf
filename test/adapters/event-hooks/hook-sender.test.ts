import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createRawServer } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Webhook } from "standardwebhooks"

import { layer } from "../../../src/adapters/event-hooks/hook-sender.ts"
import { HookSender, isReceipt } from "../../../src/ports/delivery/event-hooks.ts"

const SECRETS = ["postlane-hook-secret-1-32-bytes!", "postlane-hook-secret-0-32-bytes!"].map(
  (text) => `whsec_${Buffer.from(text).toString("base64")}`
)
const BODY =
  '{"type":"email.delivered","timestamp":"2026-11-28T00:00:00.000Z","data":{"to":["jürgen@example.com"]}}'

const delivery = (url: string) => ({
  url,
  messageId: "msg_1",
  body: BODY,
  secrets: SECRETS.map((secret) => Redacted.make(secret))
})

/** A receiver on a port of its own of this machine. */
const receiver = (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8")
        request.on("data", (chunk: string) => (body += chunk))
        request.on("end", () => answer(request, response, body))
      })
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({
            port: (server.address() as AddressInfo).port,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          })
        )
      )
    }),
    ({ close }) => Effect.sync(close)
  )

const post = (url: string) => HookSender.use((sender) => sender.post(delivery(url)))

const here = Effect.provide(layer({ privateNetworks: ["127.0.0.1"] }))

describe("one try at a receiver (EVENT-83)", () => {
  it.effect("is the body as it is stored, signed by every secret; a 2xx is the receipt", () =>
    Effect.gen(function* () {
      const got: Array<{ readonly headers: IncomingMessage["headers"]; readonly body: string }> = []
      const { port } = yield* receiver(({ headers }, response, body) => {
        got.push({ headers, body })
        response.writeHead(202).end("thanks")
      })
      yield* TestClock.setTime(Date.now())
      const answer = yield* post(`http://127.0.0.1:${port}/hooks?shop=1`)
      assert.deepStrictEqual(answer, { status: 202, answer: "thanks", error: undefined })
      const [{ body, headers }] = got as [(typeof got)[number]]
      assert.strictEqual(body, BODY)
      const signed = {
        "webhook-id": String(headers["webhook-id"]),
        "webhook-timestamp": String(headers["webhook-timestamp"]),
        "webhook-signature": String(headers["webhook-signature"])
      }
      for (const secret of SECRETS)
        assert.deepStrictEqual(new Webhook(secret).verify(body, signed), JSON.parse(BODY))
    }).pipe(here)
  )

  it.effect("keeps what a refusal says, and says why there was no answer", () =>
    Effect.gen(function* () {
      const { close, port } = yield* receiver((_, response) => response.writeHead(500).end("not now"))
      assert.deepStrictEqual(yield* post(`http://127.0.0.1:${port}/`), {
        status: 500,
        answer: "not now",
        error: undefined
      })
      close()
      const gone = yield* post(`http://127.0.0.1:${port}/`)
      assert.isUndefined(gone.status)
      assert.match(gone.error ?? "", /ECONNREFUSED|other side closed|ECONNRESET/)
    }).pipe(here)
  )
})

/** What receivers send byte for byte, before they close the connection; and what comes of it: a status, or why there is none. */
const RAW: ReadonlyArray<readonly [string, string, number | RegExp]> = [
  ["an answer that is cut off", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc", 200],
  ["a length that is too small", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokay", 200],
  ["chunks that are none", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\nno", 200],
  ["HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\n\r\nthanks", 200],
  ["hints before the answer", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 204],
  ["a body that is not the gzip it says", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nno", 200],
  ["410", "HTTP/1.1 410 Gone\r\n\r\n", 410],
  ["429", "HTTP/1.1 429 Too Many\r\nretry-after: 60\r\n\r\n", 429],
  ["304", "HTTP/1.1 304 Not Modified\r\n\r\n", 304],
  ["headers that are cut off", "HTTP/1.1 200 OK\r\nconte", /other side closed/],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok", /./],
  ["another protocol", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", /./],
  ["no HTTP", "220 mail.test ESMTP\r\n", /./]
]

describe("what a receiver sends byte for byte", () => {
  it.effect.each(RAW)("%s", ([, bytes, expected]) =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createRawServer>>((resume) => {
          const made = createRawServer((socket) => {
            socket.on("error", () => {}).once("data", () => socket.end(bytes))
          })
          made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
        }),
        (made) => Effect.sync(() => made.close())
      )
      const answer = yield* post(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      if (typeof expected === "number") assert.strictEqual(answer.status, expected)
      else {
        assert.isUndefined(answer.status)
        assert.match(answer.error ?? "", expected)
      }
      assert.strictEqual(isReceipt(answer), typeof expected === "number" && expected < 300)
    }).pipe(here)
  )
})

describe("hostile receivers (EVENT-84, O2, O3)", () => {
  it.effect("a redirect to the metadata address is not followed", () =>
    Effect.gen(function* () {
      const { port } = yield* receiver((_, response) =>
        response.writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" }).end()
      )
      const answer = yield* post(`http://127.0.0.1:${port}/`)
      assert.deepStrictEqual(answer, { status: 307, answer: "", error: "redirects are not followed" })
    }).pipe(here)
  )

  it.effect("an answer without an end is read to 64 KB, and its connection is closed", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<number>()
      const { port } = yield* receiver((_, response) => {
        let sent = 0
        const chunk = Buffer.alloc(16 * 1024, "x")
        const more = () => {
          while (sent < 1_000_000_000) {
            sent += chunk.length
            if (!response.write(chunk)) return void response.once("drain", more)
          }
          response.end()
        }
        response.writeHead(200)
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.succeed(sent)))
        more()
      })
      const answer = yield* post(`http://127.0.0.1:${port}/`)
      assert.strictEqual(answer.status, 200)
      assert.isAtMost(answer.answer!.length, 64 * 1024)
      assert.isBelow(yield* Deferred.await(closed), 50_000_000)
    }).pipe(here)
  )

  it.effect(
    "one that never answers is given up after 15 seconds, one that drips its answer has given the receipt",
    () =>
      Effect.gen(function* () {
        const other = yield* receiver((_, response) => response.end())
        for (const drips of [false, true]) {
          const asked = yield* Deferred.make<void>()
          const { port } = yield* receiver((_, response) => {
            if (drips) {
              response.writeHead(200)
              response.write("slowly", () => Deferred.doneUnsafe(asked, Effect.void))
            } else Deferred.doneUnsafe(asked, Effect.void)
          })
          const fiber = yield* Effect.forkChild(post(`http://127.0.0.1:${port}/`))
          yield* Deferred.await(asked)
          // What was written before it has arrived once this one has.
          yield* post(`http://127.0.0.1:${other.port}/`)
          yield* TestClock.adjust("15 seconds")
          const answer = yield* Fiber.join(fiber)
          assert.strictEqual(answer.status, drips ? 200 : undefined)
          if (!drips) assert.strictEqual(answer.error, "no answer within 15 s")
        }
      }).pipe(here)
  )

  it.effect(
    "a name is looked up for every try, and the connection goes to the address that was checked",
    () => {
      const answers = [["127.0.0.1"], ["169.254.169.254"], ["10.0.0.1", "127.0.0.2"], ["::ffff:10.0.0.1"], []]
      let asked = 0
      return Effect.gen(function* () {
        let requests = 0
        const { port } = yield* receiver((_, response) => {
          requests += 1
          response.end()
        })
        const url = `http://receiver.invalid:${port}/`
        assert.strictEqual((yield* post(url)).status, 200)
        for (let count = 1; count < answers.length; count++) {
          const { error, status } = yield* post(url)
          assert.isUndefined(status)
          assert.include(error, "not one of the internet")
        }
        assert.strictEqual(requests, 1)
        assert.strictEqual(asked, answers.length)
      }).pipe(
        Effect.provide(layer({ privateNetworks: ["127.0.0.1"], resolve: async () => answers[asked++] ?? [] }))
      )
    }
  )

  it.effect("addresses that are not of the internet are refused in every spelling", () =>
    Effect.gen(function* () {
      for (const host of [
        "127.0.0.1",
        "localhost",
        "0x7f.1",
        "2130706433",
        "10.1.2.3",
        "100.64.0.1",
        "169.254.169.254",
        "168.63.129.16",
        "0.0.0.0",
        "224.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::7f00:1]",
        "[64:ff9b::7f00:1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[2002:7f00:1::]"
      ]) {
        const { error, status } = yield* post(`http://${host}:9/`)
        assert.isUndefined(status, host)
        assert.include(error, "not one of the internet", host)
      }
    }).pipe(Effect.provide(layer({ privateNetworks: [] })))
  )
})
