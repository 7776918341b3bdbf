import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Config, Context, Effect, Layer, Redacted, Schema } from "effect"

import { Mailer as Core } from "../../application/mail/mailer.ts"
import { FailureKind } from "../../domain/mail/failover.ts"
import type { SendRequest } from "../../domain/mail/message.ts"
import { Provider } from "../../domain/mail/provider.ts"
import { type NotBegun, SendResult } from "../../domain/mail/send-result.ts"
import {
  SimulatedMail,
  type SimulatedOutcome,
  type SimulatedTarget
} from "../../ports/mail/simulated-mail.ts"
import { Transport } from "../../ports/mail/transport.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { layer as layerNode } from "../compose/node-library.ts"
import { envOf, readSettings, SettingsRefused } from "../edge/plain-send-email.ts"
import { tracedSend } from "../process/traced.ts"
import { providerNeeds } from "../settings/checks.ts"
import type { Env } from "../settings/settings.ts"
import { SETTINGS } from "../settings/table.ts"
import { FOLDER, open, settingsFor } from "../testing/in-process.ts"
import { layerTransport } from "./http-client.ts"

const about = { sendId: Schema.String, idempotencyKey: Schema.String }

/**
 * Every recipient is on the suppression list: nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class MailSuppressed extends Schema.TaggedError<MailSuppressed>()("MailSuppressed", {
  ...about,
  suppressedRecipients: Schema.Array(Schema.String)
}) {
  override get message() {
    return "Every recipient is on the suppression list"
  }
}

/**
 * No provider is known to have accepted the mail. After `rejected` and `unavailable` nothing was sent; after `ambiguous` a copy may be out.
 *
 * @since 0.1.0
 * @category errors
 */
export class MailFailed extends Schema.TaggedError<MailFailed>()("MailFailed", {
  ...about,
  kind: FailureKind,
  provider: Schema.NullOr(Provider),
  reason: Schema.String
}) {
  override get message() {
    return `${this.kind}: ${this.reason}`
  }
}

const [sent, deferred] = SendResult.members

/**
 * A provider has the mail (`sent`), or a retry is durably queued (`deferred`): a codec, and `Accepted.match(accepted, { sent, deferred })`.
 *
 * @since 0.1.0
 * @category models
 */
export const Accepted = Schema.Union([sent, deferred]).pipe(Schema.toTaggedUnion("status"))

/**
 * What {@link Accepted} decodes to.
 *
 * @since 0.1.0
 * @category models
 */
export type Accepted = typeof Accepted.Type

/**
 * Why a mail was not accepted, by `_tag`.
 *
 * @since 0.1.0
 * @category errors
 */
export type SendError = NotBegun | MailSuppressed | MailFailed

const settle = (result: SendResult): Effect.Effect<Accepted, MailSuppressed | MailFailed> => {
  const { idempotencyKey, sendId } = result
  switch (result.status) {
    case "suppressed":
      return new MailSuppressed({ sendId, idempotencyKey, suppressedRecipients: result.suppressedRecipients })
    case "failed": {
      const { error: reason, kind, provider } = result
      return new MailFailed({ sendId, idempotencyKey, kind, provider, reason })
    }
    default:
      return Effect.succeed(result)
  }
}

/** How settings are chosen, and whether this process makes the retries. */
interface LayerOptions {
  /** Settings by name, in place of those of `process.env`. */
  readonly env?: Readonly<Record<string, unknown>> | undefined
  /** Makes the retries of what is deferred, for as long as the layer is there. */
  readonly retry?: boolean | undefined
}

const OFF = { setting: "EMAIL_PRIMARY", message: "is none: no mail goes out with these settings" }

/** `sendEmail` reports in each result what its providers lack; a layer is refused at once, as the start of a server is. */
const requireProviders = Effect.fnUntraced(function* (env: Env) {
  const settings = yield* readSettings(env, false)
  const problems = settings.sending.isOff ? [OFF] : providerNeeds(settings)
  if (problems.length > 0) return yield* new SettingsRefused({ problems })
})

/** The settings that the ConfigProvider names. No error of its shows the value of a secret. */
const configured = Effect.map(
  Effect.forEach(
    SETTINGS.flatMap(({ alias, name, secret }) =>
      (alias === undefined ? [name] : [name, alias]).map((one) => [one, secret] as const)
    ),
    ([name, secret]) => {
      const value = secret ? Config.map(Config.Redacted(name), Redacted.value) : Config.String(name)
      return Effect.map(Config.option(value), (found) => [name, found] as const)
    }
  ),
  (found) =>
    Object.fromEntries(found.flatMap(([name, value]) => (value._tag === "Some" ? [[name, value.value]] : [])))
)

/** A mail that the memory layer delivered. */
interface DeliveredMail {
  readonly id: string
  readonly to: ReadonlyArray<string>
  readonly subject: string
  readonly via: string
}

/**
 * What {@link Mailer.layerMemory} delivered, and how its providers behave.
 *
 * @since 0.1.0
 * @category testing
 */
export class Outbox extends Context.Service<
  Outbox,
  {
    /** The mails so far, the oldest first. */
    readonly mails: Effect.Effect<ReadonlyArray<DeliveredMail>, StoreUnavailable>
    /** What the first provider, or another, makes of the next requests. */
    readonly next: (
      outcomes: ReadonlyArray<SimulatedOutcome>,
      on?: { readonly provider?: Provider; readonly for?: SimulatedTarget }
    ) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/effect/Outbox") {}

/**
 * Outbound mail for Effect programs: what was accepted succeeds, all else is in the error channel.
 *
 * @since 0.1.0
 * @category services
 */
export class Mailer extends Context.Service<
  Mailer,
  {
    /** Sends one mail, in a span that is the child of the caller's; each attempt at a provider has one below it. */
    readonly send: (request: SendRequest) => Effect.Effect<Accepted, SendError>
  }
>()("postlane/effect/Mailer") {
  /**
   * With the settings of `process.env`, or these. A setting that is wrong or missing refuses the layer: each provider that mail may go
   * to needs its key.
   *
   * **Details**
   *
   * An `HttpClient` in the context makes the requests to the providers, each below the span of its attempt. Without one they go over the
   * runtime's own connections.
   *
   * **Gotchas**
   *
   * Give it no client that retries by itself: Amazon SES and Postmark know no idempotency key, and would take the mail twice.
   *
   * @since 0.1.0
   * @category layers
   */
  static readonly layer = (options: LayerOptions = {}): Layer.Layer<Mailer, SettingsRefused> =>
    Layer.effect(
      Mailer,
      Effect.gen(function* () {
        yield* requireProviders(envOf(options, process.env))
        const { send } = yield* Core
        const transport = yield* Transport
        return mailerOn((request) => Effect.provideService(send(request), Transport, transport))
      })
    ).pipe(Layer.provide(layerNode({ ...options, traced: true })), Layer.provide(layerTransport))

  /**
   * With the settings that the `ConfigProvider` in its context names.
   *
   * @since 0.1.0
   * @category layers
   */
  static readonly layerConfig: Layer.Layer<Mailer, SettingsRefused | Config.ConfigError> = Layer.unwrap(
    Effect.map(configured, (env) => Mailer.layer({ env }))
  )

  /**
   * On simulated providers, without database and network: for tests, which have the {@link Outbox}. It runs in the time of its context, such
   * as a `TestClock`, retries too.
   *
   * @since 0.1.0
   * @category layers
   */
  static readonly layerMemory: Layer.Layer<Mailer | Outbox> = Layer.effectContext(
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), FOLDER))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      const settings = yield* Effect.promise(() => settingsFor({}, folder))
      const { context, mailer } = yield* Effect.orDie(open(settings, folder, true))
      const { outbox, script } = Context.get(context, SimulatedMail)
      return Context.make(Mailer, mailerOn(mailer.send)).pipe(
        Context.add(
          Outbox,
          Outbox.of({
            mails: Effect.map(outbox.list(), (entries) =>
              entries.map(({ id, subject, to, via }) => ({ id, subject, to, via })).toReversed()
            ),
            next: (outcomes, on = {}) =>
              script(on.provider ?? settings.sending.primary, outcomes, undefined, on.for)
          })
        )
      )
    })
  )
}

const mailerOn = (send: Core["Service"]["send"]): Mailer["Service"] => {
  const traced = tracedSend(send)
  return Mailer.of({ send: (request) => Effect.flatMap(traced(request), settle) })
}
