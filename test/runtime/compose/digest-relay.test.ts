import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { vi } from "vitest"

import { type Clients, WriteSql } from "../../../src/adapters/postgres/client.ts"
import { AuditDigest } from "../../../src/application/delivery/audit-digest.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { InvalidRequest, type SendResult } from "../../../src/domain/mail/send-result.ts"
import { layerHere } from "../../../src/runtime/compose/delivery/audit-digest.ts"
import { decodeSettings, type Env } from "../../../src/runtime/settings/settings.ts"
import { sent } from "../../adapters/http/harness.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"

const settingsOf = (env: Env) => Result.getOrThrow(decodeSettings(env, { embedded: true }))

/** Runs the daily digest of one subscriber on these settings; the mailer answers with `result`. */
const digested = Effect.fnUntraced(function* (
  env: Env,
  result: Effect.Effect<SendResult, InvalidRequest> = Effect.succeed(sent)
) {
  const write = yield* WriteSql
  yield* write`delete from audit_digest_deliveries`
  yield* write`delete from audit_digest_subscriptions`
  yield* write`insert into audit_digest_subscriptions (email, cadence, created_at) values ('admin@x.test', 'daily', '2020-01-01')`
  const requests: Array<SendRequest> = []
  const mailer = Layer.mock(Mailer, {
    send: (request) => {
      requests.push(request)
      return result
    }
  })
  let posted = 0
  const network = vi.spyOn(globalThis, "fetch").mockImplementation(() => {
    posted += 1
    return Promise.reject(new Error("no network"))
  })
  const sql = yield* Effect.context<Clients>()
  const counts = yield* AuditDigest.use(({ run }) => run({ cadence: "daily", patient: false })).pipe(
    Effect.provide(
      layerHere(settingsOf(env)).pipe(Layer.provide(mailer), Layer.provide(Layer.succeedContext(sql)))
    ),
    Effect.ensuring(Effect.sync(() => network.mockRestore()))
  )
  return { counts, mailed: requests.map(({ to }) => to), posted }
})

const suppressed: SendResult = {
  ...sent,
  ok: false,
  status: "suppressed",
  error: "Recipient suppressed: manual",
  provider: null,
  providerMessageId: null
}

suiteLayer(layerPostgres)("the digests of a process that sends itself", (it) => {
  it.effect("do not go by its public address, which may not let its own requests through", () =>
    Effect.gen(function* () {
      const env = { BASE_URL: "https://public.example" }
      const out = yield* digested(env)
      assert.deepStrictEqual([out.counts.sent, out.mailed, out.posted], [1, ["admin@x.test"], 0])
      assert.deepInclude((yield* digested(env, Effect.succeed(suppressed))).counts, {
        ok: true,
        suppressed: 1
      })
      const refused = Effect.fail(new InvalidRequest({ issues: [{ path: "to", message: "no" }] }))
      assert.deepInclude((yield* digested(env, refused)).counts, { ok: false, failed: 1 })
    })
  )

  it.effect("go where INTERNAL_SEND_EMAIL_URL says", () =>
    Effect.gen(function* () {
      const out = yield* digested({ INTERNAL_SEND_EMAIL_URL: "https://other.example/internal/send-email" })
      assert.deepStrictEqual([out.counts.failed, out.mailed, out.posted], [1, [], 1])
    })
  )
})
