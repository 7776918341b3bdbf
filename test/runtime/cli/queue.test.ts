import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { jsonOf, run } from "./harness.ts"

const postlane = (...args: ReadonlyArray<string>) =>
  TestDatabase.use(({ url }) => run(["queue", ...args], { DB_URL: url }, { columns: 300 }))

const enqueue = (request: object) =>
  WriteSql.use((sql) => {
    const text = JSON.stringify({ to: "a@x.test", text: "First mail", source: "cli", ...request })
    return Effect.map(
      sql<{ readonly id: string }>`select enqueue_email(${text}::jsonb) as id`,
      ([row]) => row?.id ?? ""
    )
  })

const audit = WriteSql.use(
  (sql) => sql`select action, actor, target from admin_audit_log
    where action like 'email_queue%' order by created_at`
)

interface Listed {
  readonly categories: ReadonlyArray<object>
  readonly paused: ReadonlyArray<{ readonly scope: string }>
  readonly upcoming: ReadonlyArray<{ readonly queueId: string }>
}

const later = new Date(Date.now() + 3_600_000).toISOString()

describe("postlane queue", () => {
  layer(layerPostgres, { excludeTestServices: true })((it) => {
    it.effect("shows what waits without the mail, and cancels one of it, once", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* postlane()).out, "Nothing waits in the send queue.")
        const first = yield* enqueue({ category: "transactional", subject: "Receipt" })
        const second = yield* enqueue({ category: "marketing", subject: "News", sendAt: later })
        const listed = yield* postlane("list", "--json")
        const { categories, upcoming } = jsonOf<Listed>(listed)
        assert.notInclude(listed.out, "First mail")
        assert.sameDeepMembers(
          upcoming.map(({ queueId }) => queueId),
          [first, second]
        )
        assert.lengthOf(categories, 2)
        const only = yield* postlane("list", "--json", "--category", "marketing", "--limit", "1")
        assert.deepInclude(jsonOf<{ readonly upcoming: ReadonlyArray<object> }>(only).upcoming[0]!, {
          queueId: second,
          to: ["a@x.test"],
          subject: "News",
          state: "queued",
          sendAt: later,
          nextAttemptAt: later
        })
        const table = yield* postlane()
        assert.match(table.out, /^CATEGORY +DUE +LATER/)
        assert.match(
          table.out,
          new RegExp(`${second} +${later.slice(0, 10)}.* marketing +queued +a@x.test +News`)
        )

        const cancelled = yield* postlane("cancel", second)
        assert.deepStrictEqual(
          [cancelled.code, cancelled.out],
          [0, `${second} is cancelled and will not be sent.`]
        )
        yield* WriteSql.use(
          (sql) => sql`update email_send_queue set state = 'sending' where id = ${first}::uuid`
        )
        const tooLate = yield* postlane("cancel", first)
        assert.deepStrictEqual(
          [tooLate.code, tooLate.out, tooLate.err],
          [1, "", `${first} cannot be cancelled any more: it is sending.`]
        )
        for (const id of ["none", "00000000-0000-7000-8000-000000000000"]) {
          const unknown = yield* postlane("cancel", id)
          assert.deepStrictEqual([unknown.code, unknown.err], [1, `There is no queued mail ${id}.`])
          assert.deepStrictEqual(jsonOf(yield* postlane("cancel", id, "--json")), {
            queueId: id,
            state: null
          })
        }
      })
    )

    it.effect("pauses a category and everything, resumes each by itself, and leaves audit rows", () =>
      Effect.gen(function* () {
        const pausing = yield* postlane("pause", "--category", "marketing")
        assert.strictEqual(pausing.out, "The send queue is paused: marketing.")
        assert.strictEqual((yield* postlane("pause")).out, "The send queue is paused: everything.")
        assert.strictEqual((yield* postlane("pause")).out, "The send queue is already paused: everything.")
        assert.match((yield* postlane()).out, /^Paused: everything, since .* UTC, by cli:tester\.$/m)
        assert.match(
          (yield* postlane("resume", "--category", "auth")).out,
          /^The send queue is already not paused: auth, but for another pause\.\nPaused: everything, since .*$/
        )
        assert.match(
          (yield* postlane("resume")).out,
          /^The send queue is not paused: everything, but for another pause\.\nPaused: marketing, since .*$/
        )
        assert.strictEqual(
          (yield* postlane("resume", "--category", "auth")).out,
          "The send queue is already not paused: auth."
        )
        const { paused } = jsonOf<Listed>(yield* postlane("list", "--json"))
        assert.deepStrictEqual(
          paused.map(({ scope }) => scope),
          ["marketing"]
        )
        assert.deepStrictEqual(jsonOf(yield* postlane("resume", "--category", "marketing", "--json")), {
          scope: "marketing",
          paused: false,
          changed: true
        })
        assert.strictEqual((yield* postlane("pause", "--category", "none")).code, 1)
        const row = (action: string, target: string) => ({ action, actor: "cli:tester", target })
        assert.deepStrictEqual(yield* audit, [
          row("email_queue_pause", "marketing"),
          row("email_queue_pause", "*"),
          row("email_queue_resume", "*"),
          row("email_queue_resume", "marketing")
        ])
      })
    )
  })
})
