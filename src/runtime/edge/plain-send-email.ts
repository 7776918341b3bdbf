import { Context, Effect, Layer, Logger, Result, Schema, type Scope } from "effect"
import { uuidV7Unsafe } from "effect/crypto/SecureRandom"

import { Mailer } from "../../application/mail/mailer.ts"
import { LogRowId } from "../../domain/ids.ts"
import type { FailureKind } from "../../domain/mail/failover.ts"
import { MAX_KEY_LENGTH, type SendRequest } from "../../domain/mail/message.ts"
import { decodeSendRequest } from "../../domain/mail/read-request.ts"
import { InvalidRequest, type NotBegun, type SendResult } from "../../domain/mail/send-result.ts"
import { lineLogger, type LogSink, type Scrub, scrubOf } from "../process/log-lines.ts"
import { providerNeeds } from "../settings/checks.ts"
import { PROVIDER_AREAS } from "../settings/providers.ts"
import { decodeSettings, type Env, type SettingProblem, type Settings } from "../settings/settings.ts"
import { SETTINGS } from "../settings/table.ts"

/** Where a call takes its settings from. */
export interface SendOptions {
  /** Settings by name: on Node `process.env` by default, on the edge its bindings. What is no plain value is left out. */
  readonly env?: Readonly<Record<string, unknown>> | undefined
  /** Key of `provider_a` for a caller that passes no `env`; a key in a passed `env` comes first. */
  readonly apiKey?: string | undefined
  /**
   * On Node: this process makes the retries of deferred mail as well, from now on until `close`, and stays alive for them. Without it
   * `postlane serve` makes them.
   */
  readonly retry?: boolean | undefined
}

/**
 * Sends one mail (MAIL-2). It never throws and never rejects, whatever it is given: the failure is in the result's `error`. Only
 * `ok` says that a provider accepted the mail or that a retry is durably queued.
 */
export type SendEmail = (request: SendRequest, options?: SendOptions) => Promise<SendResult>

/** A mailer that is ready, and what it was made of. */
export interface OpenMailer<R = never> {
  /** With what the runtime's layer has in addition. */
  readonly context: Context.Context<Mailer | R>
  readonly mailer: Mailer["Service"]
  readonly settings: Settings
  /** Write without the settings' secrets. */
  readonly loggers: Loggers
}

type Loggers = (typeof Logger.CurrentLoggers)["Service"]

/**
 * Some settings are invalid, or missing. Lists every problem by the setting's name, without its value.
 *
 * @since 0.1.0
 * @category errors
 */
export class SettingsRefused extends Schema.TaggedError<SettingsRefused>()("SettingsRefused", {
  problems: Schema.Array(Schema.Struct({ setting: Schema.String, message: Schema.String }))
}) {
  override get message() {
    return `Settings: ${listed(this.problems)}`
  }
}

/** What differs between the runtimes. */
export interface MailRuntime {
  /** The settings of a caller that passes no `env`; `undefined` where a runtime has none. */
  readonly ambientEnv: () => Readonly<Record<string, unknown>> | undefined
  /** Runs `use` on the mailer of these settings; fails or dies only before it. `retry` as in {@link SendOptions}. */
  readonly withMailer: <A>(
    env: Env,
    use: (open: OpenMailer) => Effect.Effect<A>,
    retry: boolean
  ) => Effect.Effect<A, SettingsRefused>
  /** Where the log lines of `sendEmail` go. */
  readonly logSink: LogSink
}

const loggersOn = (sink: LogSink, scrub: Scrub): Loggers => new Set([lineLogger(sink, scrub)])

/** Decodes the settings of a call. */
export const readSettings = (env: Env, edge: boolean): Effect.Effect<Settings, SettingsRefused> =>
  Effect.mapError(
    Effect.fromResult(decodeSettings(env, { embedded: false, library: true, edge })),
    (problems) => new SettingsRefused({ problems })
  )

/** Decodes the settings and makes their mailer, which lives as long as the scope. */
export const openMailer = Effect.fnUntraced(function* <R = never>(
  env: Env,
  options: {
    readonly edge: boolean
    readonly layer: (settings: Settings) => Layer.Layer<Mailer | R>
    /** Absent: the loggers of the fiber that opens it. */
    readonly logSink?: LogSink
  }
): Effect.fn.Return<OpenMailer<R>, SettingsRefused, Scope.Scope> {
  const settings = yield* readSettings(env, options.edge)
  const loggers =
    options.logSink === undefined
      ? yield* Logger.CurrentLoggers
      : loggersOn(options.logSink, scrubOf(settings))
  const scope = yield* Effect.scope
  const context = yield* Layer.buildWithMemoMap(
    options.layer(settings),
    Layer.makeMemoMapUnsafe(),
    scope
  ).pipe(Effect.provideService(Logger.CurrentLoggers, loggers))
  return { context, mailer: Context.get(context, Mailer), settings, loggers }
})

const MAIL_AREAS: ReadonlySet<string> = new Set([
  "domains",
  "database",
  "sending",
  ...PROVIDER_AREAS,
  "cloud",
  "retryQueue"
])

/** A caller's environment may hold anything under the other names; that must not stop the mail. */
const MAIL_SETTING_NAMES: ReadonlyArray<string> = SETTINGS.flatMap(({ alias, area, name }) => {
  if (!MAIL_AREAS.has(area)) return []
  return alias === undefined ? [name] : [name, alias]
})

/** Why nothing was sent, and how sure that is. */
interface Refusal {
  readonly kind: FailureKind
  readonly error: string
}

const refuse = (kind: FailureKind, error: string) => Result.fail<Refusal>({ kind, error })

const mailSettingsOf = (env: Readonly<Record<string, unknown>> | undefined): Record<string, string> => {
  const given: Record<string, string> = {}
  for (const name of MAIL_SETTING_NAMES) {
    const value = env?.[name]
    if (typeof value === "string") given[name] = value
    // Edge bindings can be written as numbers and booleans.
    else if (typeof value === "number" || typeof value === "boolean") given[name] = String(value)
  }
  return given
}

/** The settings that a call means: those of its `env`, else of the runtime; `apiKey` comes before the runtime's. */
export const envOf = (
  options: SendOptions | undefined,
  ambient: Readonly<Record<string, unknown>> | undefined
): Env => {
  const passed = options?.env ?? undefined
  const apiKey: unknown = options?.apiKey ?? undefined
  const given = mailSettingsOf(passed ?? ambient)
  const keyIsNamed = passed !== undefined && (given["PROVIDERA_API_KEY"] ?? "").trim() !== ""
  return typeof apiKey !== "string" || keyIsNamed ? given : { ...given, PROVIDERA_API_KEY: apiKey }
}

const listed = (problems: ReadonlyArray<SettingProblem>): string =>
  problems.map(({ setting, message }) => `${setting} ${message}`).join("; ")

const readEnv = (runtime: MailRuntime, options: SendOptions | undefined): Result.Result<Env, Refusal> => {
  try {
    const ambient = runtime.ambientEnv()
    return (ambient ?? options?.env ?? options?.apiKey ?? undefined) === undefined
      ? refuse(
          "unavailable",
          "There are no settings: pass env (the bindings), or apiKey (a key of provider_a)"
        )
      : Result.succeed(envOf(options, ambient))
  } catch {
    return refuse("unavailable", "The settings cannot be read: env or apiKey threw when it was looked at")
  }
}

const readRequest = (request: unknown): Result.Result<SendRequest, Refusal> => {
  try {
    return Result.mapError(decodeSendRequest(request), (issues): Refusal => ({
      kind: "rejected",
      error: new InvalidRequest({ issues }).message
    }))
  } catch {
    return refuse("rejected", "The request cannot be read: one of its fields threw when it was looked at")
  }
}

const readRetry = (options: SendOptions | undefined): boolean => {
  try {
    return options?.retry === true
  } catch {
    return false
  }
}

const keyOf = (request: unknown): string | undefined => {
  try {
    const key =
      typeof request === "object" && request !== null && "idempotencyKey" in request
        ? request.idempotencyKey
        : undefined
    return typeof key === "string" && key !== "" && key.length <= MAX_KEY_LENGTH ? key : undefined
  } catch {
    return undefined
  }
}

const failed = (request: unknown, { kind, error }: Refusal): SendResult => {
  const sendId = LogRowId.make(uuidV7Unsafe())
  return {
    ok: false,
    status: "failed",
    error,
    kind,
    sendId,
    provider: null,
    providerMessageId: null,
    failedOver: false,
    idempotencyKey: keyOf(request) ?? sendId,
    suppressedRecipients: []
  }
}

/** Another call with the key may still send; only in that case is it unknown whether a copy leaves. */
const KINDS: Readonly<Record<NotBegun["_tag"], FailureKind>> = {
  InvalidRequest: "rejected",
  IdempotencyConflict: "rejected",
  IdempotencyInProgress: "ambiguous",
  ClaimUnavailable: "unavailable"
}

const notBegun = (error: NotBegun): Refusal => ({ kind: KINDS[error._tag], error: error.message })

/** Names the setting behind a provider that is not configured. */
const explained = (result: SendResult, settings: Settings): SendResult => {
  if (result.ok || result.status !== "failed" || result.kind !== "unavailable") return result
  const missing = providerNeeds(settings)
  return missing.length === 0 ? result : { ...result, error: `${result.error}; ${listed(missing)}` }
}

/** One send on a mailer that is ready. From here on, after a defect it is unknown whether a copy went out. */
const sendOn = ({ mailer, settings, loggers }: OpenMailer, request: SendRequest): Effect.Effect<SendResult> =>
  mailer.send(request).pipe(
    Effect.map((result) => explained(result, settings)),
    Effect.catch((error) => Effect.succeed(failed(request, notBegun(error)))),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logError("a send failed inside Postlane: report this as a bug", cause),
        failed(request, { kind: "ambiguous", error: "The send broke off; whether a copy left is not known" })
      )
    ),
    Effect.provideService(Logger.CurrentLoggers, loggers)
  )

const send = (runtime: MailRuntime, request: unknown, options: SendOptions | undefined) =>
  Effect.gen(function* () {
    const decoded = yield* Effect.fromResult(readRequest(request))
    const env = yield* Effect.fromResult(readEnv(runtime, options))
    return yield* runtime
      .withMailer(env, (open) => sendOn(open, decoded), readRetry(options))
      .pipe(Effect.mapError(({ message }): Refusal => ({ kind: "unavailable", error: message })))
  }).pipe(
    Effect.catch((refusal) => Effect.succeed(failed(request, refusal))),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logError("the mailer could not be set up: check the settings", cause),
        failed(request, { kind: "unavailable", error: "The mailer could not be started" })
      )
    )
  )

/** Makes the promise function of a runtime. */
export const makeSendEmail = (runtime: MailRuntime): SendEmail => {
  const loggers = loggersOn(runtime.logSink, (text) => text)
  return (request, options) =>
    Effect.runPromise(Effect.provideService(send(runtime, request, options), Logger.CurrentLoggers, loggers))
}
