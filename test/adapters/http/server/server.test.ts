import { connect } from "node:net"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Deferred, Effect, Layer, Result } from "effect"
import { expect, it } from "vitest"

import { layerNone as noQueue } from "../../../../src/adapters/memory/mail/defer-queue.ts"
import { layerNone as noStore } from "../../../../src/adapters/memory/mail/mail-store.ts"
import * as MailerModule from "../../../../src/application/mail/mailer.ts"
import { MailerConfig } from "../../../../src/application/mail/sending.ts"
import { parseMailbox } from "../../../../src/domain/mail/address.ts"
import { type MailProvider, MailProviders } from "../../../../src/ports/mail/mail-provider.ts"
import { call, mail, PROXY_SECRET, raw, relay, sent, startServer } from "../harness.ts"

const body = JSON.stringify(mail)
const POST =
  `POST /api/send-email HTTP/1.1\r\nhost: x\r\nx-proxy-secret: ${PROXY_SECRET}\r\n` +
  `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

it("a port that is taken: the error says which, and what to do", async () => {
  const first = await startServer()
  try {
    const error: unknown = await startServer({ port: first.port }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ _tag: "ListenError", port: first.port, code: "EADDRINUSE" })
    expect(String(error)).toContain(`127.0.0.1:${first.port} is taken`)
    expect(String(error)).toContain(`PORT=${first.port + 1}`)
  } finally {
    await first.stop()
  }
})

it("a host that is not of this machine: the error says so", async () => {
  const error: unknown = await startServer({ host: "192.0.2.1" }).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ _tag: "ListenError", code: "EADDRNOTAVAIL" })
  expect(String(error)).toContain("HOST=127.0.0.1")
})

it("closing lets a request under way finish, takes no new one, and does not wait for idle connections", async () => {
  const begun = Deferred.makeUnsafe<void>()
  const release = Deferred.makeUnsafe<void>()
  const server = await startServer({
    send: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(release), sent))
  })
  const idle = connect(server.port, "127.0.0.1")
  await new Promise((resolve) => {
    idle.once("data", resolve)
    idle.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
  })
  const idleClosed = new Promise((resolve) => idle.once("close", resolve))
  const underWay = raw(server, POST)
  await Effect.runPromise(Deferred.await(begun))
  const stopped = server.stop()
  await idleClosed
  await expect(call(server, "/health")).rejects.toThrow(/ECONNREFUSED/)
  Effect.runSync(Deferred.succeed(release, undefined))
  expect(await underWay).toMatch(/^HTTP\/1\.1 200 /)
  await stopped
})

it("closing cuts what does not finish: 503 that does not promise that nothing happened", async () => {
  const begun = Deferred.makeUnsafe<void>()
  const server = await startServer({
    send: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
  })
  const dawdling = connect(server.port, "127.0.0.1")
  dawdling.on("error", () => undefined)
  dawdling.write("POST /api/send-email HTTP/1.1\r\nhost: x\r\n")
  const underWay = raw(server, POST)
  await Effect.runPromise(Deferred.await(begun))
  await server.stop()
  const answer = await underWay
  expect(answer).toMatch(/^HTTP\/1\.1 503 /)
  expect(answer).toContain('"code":"SHUTTING_DOWN"')
  expect(answer).toContain('"retryable":false')
})

/** The real mailer on a provider whose answer waits. */
const slowMailer = (begun: Deferred.Deferred<void>, release: Deferred.Deferred<void>, done: () => void) => {
  const provider: MailProvider = {
    provider: "provider_a",
    prepare: (_, { key }) => ({ provider: "provider_a", key, body: null }),
    withoutRecipients: (request) => request,
    send: () =>
      Deferred.succeed(begun, undefined).pipe(
        Effect.andThen(Deferred.await(release)),
        Effect.andThen(Effect.sync(done)),
        Effect.as({ messageId: "m-1" })
      )
  }
  const from = Result.getOrThrow(parseMailbox("noreply@x.test"))
  return MailerModule.layer.pipe(
    Layer.provide([
      Layer.succeed(MailProviders, MailProviders.of({ get: () => provider })),
      Layer.succeed(
        MailerConfig,
        MailerConfig.of({
          primary: "provider_a",
          fallback: undefined,
          defaults: { from, domains: { sender: "x.test", legacy: "legacy.test" } },
          attemptTimeoutMs: 15_000,
          dbTimeoutMs: 2_500,
          deferDelaysSeconds: [120, 600, 900],
          costUsd: { provider_a: 0, provider_b: 0, smtp: 0, postmark: 0 }
        })
      ),
      noStore,
      noQueue,
      NodeCrypto.layer
    ])
  )
}

it("a caller that goes away does not stop a send that has begun (S5)", async () => {
  const begun = Deferred.makeUnsafe<void>()
  const release = Deferred.makeUnsafe<void>()
  let done = 0
  const server = await startServer({ mailer: slowMailer(begun, release, () => (done += 1)) })
  try {
    const caller = connect(server.port, "127.0.0.1")
    caller.write(POST)
    await Effect.runPromise(Deferred.await(begun))
    const gone = new Promise((resolve) => caller.once("close", resolve))
    caller.destroy()
    await gone
    // Another call on the same server: by its answer the disconnect has been seen.
    expect((await call(server, "/health")).status).toBe(200)
    Effect.runSync(Deferred.succeed(release, undefined))
    await expect.poll(() => done).toBe(1)
    expect((await relay(server, mail)).status).toBe(200)
    expect(done).toBe(2)
  } finally {
    await server.stop()
  }
})

it("sends nothing for a transfer coding that it does not know, and makes no tunnels, with an answer", async () => {
  let sends = 0
  const server = await startServer({
    send: () =>
      Effect.sync(() => {
        sends += 1
        return sent
      })
  })
  const chunked = (coding: string) =>
    `${POST.split("content-length")[0]}transfer-encoding: ${coding}\r\nconnection: close\r\n\r\n` +
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  try {
    for (const coding of ["gzip, chunked", "nonsense, chunked"])
      expect(await raw(server, chunked(coding))).toMatch(/^HTTP\/1\.1 501 [^]*"TRANSFER_CODING_UNKNOWN"/)
    expect(sends).toBe(0)
    expect(await raw(server, chunked("Chunked"))).toMatch(/^HTTP\/1\.1 200 /)
    expect(await raw(server, "CONNECT x.test:443 HTTP/1.1\r\nhost: x.test:443\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 405 [^]*"METHOD_NOT_ALLOWED"/
    )
    expect((await call(server, "/docs")).text).toContain('<html lang="en">')
  } finally {
    await server.stop()
  }
})
