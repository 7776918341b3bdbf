import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"

import { Alerts } from "../../../src/application/delivery/alerts.ts"
import type { FailedSend } from "../../../src/domain/delivery/delivery-event.ts"
import { recordedAlerts } from "../../../src/runtime/compose/delivery/delivery.ts"
import { anyId } from "../../support/any-id.ts"

const BASE_URL = "http://127.0.0.1:8787"

const failedAt = (provider: FailedSend["provider"]): FailedSend => ({
  sendId: anyId("0199a000-0000-7000-8000-000000000001"),
  provider,
  providerMessageId: "m-1",
  event: "bounced",
  recipients: ["a@x.test"],
  subject: undefined,
  category: undefined,
  source: undefined,
  reason: undefined,
  occurredAt: undefined
})

/** Where alerts are posted to; answers that no channel took them. */
const elsewhere = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly posted: Array<string>; readonly close: () => void }>(
    (resume) => {
      const posted: Array<string> = []
      const server = createServer((request, response) => {
        posted.push([request.url, request.headers["x-proxy-secret"]].join(" "))
        request.resume().once("end", () => response.writeHead(502).end("{}"))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/alert`, posted, close }))
      })
    }
  ),
  ({ close }) => Effect.sync(close)
)

/** What becomes of an alert about each provider's mail, where the functions post to `url`; here all are switched off. */
const raised = (url: string | undefined) =>
  Alerts.use((alerts) =>
    Effect.forEach(["provider_a", "provider_b"] as const, (provider) =>
      Effect.map(alerts.raise(failedAt(provider)), ({ delivery }) => delivery)
    )
  ).pipe(
    Effect.provide(
      Layer.provide(
        recordedAlerts({
          access: {
            proxySharedSecret: Redacted.make("secret"),
            adminToken: undefined,
            ownerToken: undefined,
            redisUrl: undefined
          },
          events: { internalAlertUrl: url },
          http: {
            host: "127.0.0.1",
            port: 8787,
            baseUrl: BASE_URL,
            baseUrlIsSet: false,
            olderBaseUrls: [],
            olderBaseUrlsUntil: undefined,
            trustedProxies: [],
            maxConnections: 2048
          }
        }),
        Layer.succeed(Alerts, { raise: () => Effect.succeed({ delivery: "disabled", escalated: undefined }) })
      )
    )
  )

describe("alerts about recorded events", () => {
  it.live("are raised in this process where the functions post to its own route", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* raised(`${BASE_URL}/internal/email-alert`), ["disabled", "disabled"])
    })
  )

  it.live("go where INTERNAL_ALERT_URL says for provider_a, with the secret; the bus raises its own", () =>
    Effect.gen(function* () {
      const { posted, url } = yield* elsewhere
      assert.deepStrictEqual(yield* raised(url), ["failed", "disabled"])
      assert.deepStrictEqual(posted, ["/alert secret"])
    }).pipe(Effect.scoped)
  )
})
