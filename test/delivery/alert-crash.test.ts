import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { sweepAlerts } from "../../src/application/delivery/alerts.ts"
import { query } from "../crash/world.ts"
import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { killAfterFirstLine } from "../support/processes/killed-process.ts"
import { alertParts } from "./alert-parts.ts"

/** A chat that takes everything, and what it took. */
const chat = Effect.acquireRelease(
  Effect.promise(async () => {
    const texts: Array<string> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        texts.push(Buffer.concat(chunks).toString())
        response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { server, texts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    })
)

const CASES = [
  { stop: "before the alert", before: 0, after: 1 },
  { stop: "before the confirmation", before: 1, after: 2 }
] as const

describe("A1: a process that is killed", () => {
  for (const { after, before, stop } of CASES) {
    it.live(`${stop} leaves a claim that the sweeps of others raise once, never silence`, () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { texts, url: chatUrl } = yield* chat
        yield* killAfterFirstLine("test/delivery/alert-child.ts", {
          ALERT_DATABASE: url,
          ALERT_CHAT: chatUrl,
          ALERT_STOP: stop
        })
        const sweeps = Effect.all(
          [sweepAlerts, sweepAlerts].map((sweep) => Effect.provide(sweep, alertParts(url, chatUrl))),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(texts, before)
        yield* sweeps
        assert.lengthOf(texts, before, "the claim's time is not over")
        // As if it were, by the database's clock.
        yield* Effect.promise(() => query(url, "update email_alerts set due_at = clock_timestamp()"))
        yield* sweeps
        assert.lengthOf(texts, after)
        yield* Effect.promise(() =>
          query(url, "update email_alerts set due_at = clock_timestamp() where due_at is not null")
        )
        yield* sweeps
        assert.lengthOf(texts, after, "it is confirmed")
        assert.strictEqual(new Set(texts).size, 1, "every alert says the same")
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
    )
  }
})
