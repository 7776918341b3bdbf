import { Deferred, Effect, Layer, Option, Record, Schedule, Stream } from "effect"
import { HttpServer } from "effect/http"

import type { CredentialSource } from "../../../adapters/ses/credentials.ts"
import { deliveryReport } from "../../../adapters/simulated/delivery-report.ts"
import { vendorRequests } from "../../../adapters/simulated/vendor-event.ts"
import { ReturnedMails } from "../../../application/delivery/returned-mail.ts"
import { MailProviders } from "../../../ports/mail/mail-provider.ts"
import { SimulatedMail, type SimulatedEvent } from "../../../ports/mail/simulated-mail.ts"
import type { DeliverySettings, MailSettings } from "../../settings/settings.ts"
import { NO_PROVIDERS, providersOf, realOnes } from "./mail-providers.ts"
import { nodeParts } from "./node-providers.ts"

/** What is configured is real, what is not is simulated. */
export const embeddedProviders = (
  settings: MailSettings,
  credentials: CredentialSource
): Layer.Layer<MailProviders, never, SimulatedMail> =>
  Layer.effect(
    MailProviders,
    Effect.gen(function* () {
      const simulated = yield* SimulatedMail
      const { isOff, simulates } = settings.sending
      if (isOff) return NO_PROVIDERS
      const each = Record.map(realOnes(settings, credentials, nodeParts(settings)), (real, name) =>
        simulates[name] ? Effect.succeed(simulated.provider(name)) : real
      )
      return providersOf(yield* Effect.all(each))
    })
  )

/** The vendors' retry schedule, shortened. */
const RETRIES = Schedule.exponential("200 millis", 2).pipe(Schedule.upTo({ times: 5 }))

const ANSWER_TIME_MS = 15_000

/** Replaces the address of all interfaces with the loopback one, which can be called. */
const reachable = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, "//127.0.0.1")

/**
 * Sends the events of the simulated providers to the intake routes of this process's own listener, as the vendors do: signed, and
 * retried where the answer is no 2xx. They wait until the listener is up. What a relay reports comes back as mail.
 */
export const makeSimulatedEvents = (settings: MailSettings & Pick<DeliverySettings, "bounceAddress">) => {
  const base = Deferred.makeUnsafe<string>()
  const returned = Deferred.makeUnsafe<ReturnedMails["Service"]>()

  const comeBack = Effect.fnUntraced(function* (event: SimulatedEvent) {
    const report = Option.getOrUndefined(deliveryReport(event, settings.bounceAddress))
    if (report === undefined) return
    const { accept } = yield* Deferred.await(returned)
    yield* accept({ to: report.to, raw: Stream.make(report.raw) })
  })

  const post = Effect.fnUntraced(function* (event: SimulatedEvent) {
    if (event.provider === "smtp") return yield* comeBack(event)
    const url = yield* Deferred.await(base)
    for (const { body, headers, path } of vendorRequests(event, settings)) {
      yield* Effect.tryPromise(async (signal) => {
        const response = await fetch(url + path, {
          method: "POST",
          headers,
          body,
          signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIME_MS)])
        })
        await response.body?.cancel()
        if (!response.ok) throw new Error(`${path} answered ${response.status}`)
      })
    }
  })

  return {
    onEvent: (event: SimulatedEvent): Effect.Effect<void> =>
      post(event).pipe(
        Effect.retry(RETRIES),
        Effect.catch((error) =>
          Effect.logWarning("an event of a simulated provider was not accepted by its webhook", error)
        )
      ),
    /** Gives it the listener's address, and what takes the reports of a relay. */
    layer: Layer.effectDiscard(
      Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        yield* Deferred.succeed(base, reachable(HttpServer.formatAddress(address)))
        yield* Deferred.succeed(returned, yield* ReturnedMails)
      })
    )
  }
}
