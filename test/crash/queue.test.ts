import { readFile } from "node:fs/promises"

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { startPostlane } from "../support/processes/child.ts"
import { until } from "../support/until.ts"
import { makeWorld, query, SECRET } from "./world.ts"

/** Requests of the test; more than a sender holds at once. */
const MAILS = 100

const states = async (url: string): Promise<ReadonlyMap<string, number>> => {
  const rows = await query<{ readonly state: string; readonly n: number }>(
    url,
    "select state, count(*)::int as n from email_send_queue group by state"
  )
  return new Map(rows.map(({ n, state }) => [state, n]))
}

describe("senders of the queue that die", () => {
  it.live("Q1: another one takes up their work: no mail is lost, none is sent twice", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const world = yield* Effect.acquireRelease(
        Effect.promise(() => makeWorld(url)),
        ({ close }) => Effect.promise(close)
      )
      const env = {
        ...world.env,
        PROVIDERA_RATE_PER_SECOND: "0",
        PROVIDERB_RATE_PER_SECOND: "0",
        EMAIL_ATTEMPT_TIMEOUT_MS: "60000",
        EMAIL_FALLBACK: ""
      }
      const postlane = Effect.acquireRelease(
        Effect.promise(() => startPostlane(env)),
        ({ destroy }) => Effect.promise(destroy)
      )
      // Ten are answered; the others hang at the provider, which has accepted every second one of them.
      yield* Effect.promise(() =>
        world.resend.script([
          ...Array.from({ length: 10 }, () => "ok"),
          ...Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? "hang" : "hang-accepted"))
        ])
      )
      const first = yield* postlane
      const emails = Array.from({ length: MAILS }, (_, n) => ({
        to: "reader@example.com",
        subject: `Mail ${n}`,
        text: "Text",
        category: "transactional",
        source: "test:crash",
        idempotencyKey: `order-${n}`
      }))
      const answer = yield* Effect.promise(() =>
        fetch(`${first.url}/api/send-email/batch`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
          body: JSON.stringify({ emails })
        })
      )
      assert.strictEqual(answer.status, 202)
      yield* Effect.promise(() =>
        until("some are sent and others hang", async () => {
          const found = await states(url)
          return (found.get("sent") ?? 0) >= 10 && (found.get("sending") ?? 0) >= 20
        })
      )
      first.signal("SIGKILL")
      yield* Effect.promise(() => first.ended)
      yield* Effect.promise(() => world.resend.script([], "ok"))
      yield* postlane
      yield* Effect.promise(() =>
        until("all are sent", async () => (await states(url)).get("sent") === MAILS)
      )
      const log = (yield* Effect.promise(() => readFile(world.resend.log, "utf8"))).trim().split("\n")
      const keys = log.map((line): string => JSON.parse(line).key)
      assert.lengthOf(keys, MAILS)
      assert.strictEqual(new Set(keys).size, MAILS)
    }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )
})
