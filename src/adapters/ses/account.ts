import {
  type EventDestination,
  GetAccountCommand,
  GetConfigurationSetCommand,
  GetConfigurationSetEventDestinationsCommand,
  GetEmailIdentityCommand,
  type GetEmailIdentityResponse,
  NotFoundException,
  type SESv2Client
} from "@aws-sdk/client-sesv2"
import { Effect } from "effect"

import type { ConfigurationSetFacts, IdentityFacts, ProviderBFacts } from "../../domain/doctor/provider-b.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { classifySesError } from "./classify.ts"
import { type Credentials, CREDENTIALS_ERROR } from "./credentials.ts"
import { makeClient, type SesOptions } from "./ses-provider.ts"

/** Target of the DKIM records of an older identity: its answer names no zone. */
const DKIM_HOST = "dkim.amazonses.com"

const THROTTLED = /throttl|too ?many ?requests|rate exceeded/i
const DENIED: ReadonlySet<unknown> = new Set(["AccessDenied", "AccessDeniedException", "NotAuthorized"])

/** An answer of status 4xx: the service's own verdict on the caller. */
const isRefusal = (cause: unknown): boolean => {
  const { $metadata } = Object(cause) as { readonly $metadata?: { readonly httpStatusCode?: unknown } }
  const status = $metadata?.httpStatusCode
  return typeof status === "number" && status >= 400 && status < 500
}

interface Failure {
  readonly missing: boolean
  readonly tag: "Refused" | "NotAllowed" | "Unknown"
  readonly why: string
}

const identityFacts = (answer: GetEmailIdentityResponse): IdentityFacts => {
  const { DkimAttributes: dkim, MailFromAttributes: mailFrom } = answer
  return {
    verified: answer.VerifiedForSendingStatus === true,
    dkim: {
      signing: dkim?.SigningEnabled === true,
      status: dkim?.Status ?? "NOT_STARTED",
      easy: dkim?.SigningAttributesOrigin !== "EXTERNAL",
      tokens: dkim?.Tokens ?? [],
      host: dkim?.SigningHostedZone ?? DKIM_HOST,
      keyLength: dkim?.CurrentSigningKeyLength
    },
    mailFrom:
      mailFrom?.MailFromDomain === undefined || mailFrom.MailFromDomain === ""
        ? undefined
        : { domain: mailFrom.MailFromDomain, status: mailFrom.MailFromDomainStatus ?? "PENDING" },
    configurationSet: answer.ConfigurationSetName
  }
}

/** What the enabled destinations on EventBridge publish. */
const publishedOf = (destinations: ReadonlyArray<EventDestination>): ReadonlyArray<string> | undefined => {
  const enabled = destinations.filter(
    ({ Enabled, EventBridgeDestination }) => Enabled === true && EventBridgeDestination !== undefined
  )
  return enabled.length === 0
    ? undefined
    : [
        ...new Set(
          enabled.flatMap(({ MatchingEventTypes }): ReadonlyArray<string> => MatchingEventTypes ?? [])
        )
      ]
}

/** What to look at. */
interface SesAccountOptions extends SesOptions {
  /** The sender domain: the identity. */
  readonly sender: string
  /** Examined in addition to the identity's default and the settings' default. */
  readonly outreachConfigurationSet: string
}

/** The account as these credentials reach it. */
interface Reader {
  readonly client: SESv2Client
  /** What no message may repeat. */
  readonly secrets: () => ReadonlyArray<string>
}

const call = <A>({ secrets }: Reader, run: (abortSignal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause): Failure => {
      const { kind, code, message } = classifySesError(cause)
      const why = failureText(code === undefined ? message : `${code}: ${message}`, secrets())
      const refused =
        code === CREDENTIALS_ERROR ||
        (kind === "unavailable" && isRefusal(cause) && !THROTTLED.test(`${code} ${message}`))
      const tag = DENIED.has(code) ? "NotAllowed" : refused ? "Refused" : "Unknown"
      return { missing: cause instanceof NotFoundException, tag, why }
    }
  })

/** What could not be read: because it is not there, or for another reason. */
const notRead = ({ missing, why }: Failure) =>
  missing ? { _tag: "Missing" as const } : { _tag: "Unknown" as const, why }

const identityOf = (reader: Reader, EmailIdentity: string) =>
  call(reader, (abortSignal) =>
    reader.client.send(new GetEmailIdentityCommand({ EmailIdentity }), { abortSignal })
  ).pipe(
    Effect.map((answer) => ({ _tag: "There" as const, identity: identityFacts(answer) })),
    Effect.catch((failure) => Effect.succeed(notRead(failure)))
  )

const configurationSetOf = (
  reader: Reader,
  ConfigurationSetName: string,
  outreach: boolean
): Effect.Effect<ConfigurationSetFacts> =>
  Effect.gen(function* () {
    const { SendingOptions, SuppressionOptions } = yield* call(reader, (abortSignal) =>
      reader.client.send(new GetConfigurationSetCommand({ ConfigurationSetName }), { abortSignal })
    )
    const destinations = new GetConfigurationSetEventDestinationsCommand({ ConfigurationSetName })
    const { EventDestinations = [] } = yield* call(reader, (abortSignal) =>
      reader.client.send(destinations, { abortSignal })
    )
    return {
      _tag: "There" as const,
      sendingEnabled: SendingOptions?.SendingEnabled !== false,
      suppresses: SuppressionOptions?.SuppressedReasons,
      published: publishedOf(EventDestinations)
    }
  }).pipe(
    Effect.catch((failure) => Effect.succeed(notRead(failure))),
    Effect.map((found) => ({ name: ConfigurationSetName, outreach, found }))
  )

const examine = (reader: Reader, options: SesAccountOptions): Effect.Effect<ProviderBFacts> =>
  Effect.gen(function* () {
    const account = yield* call(reader, (abortSignal) =>
      reader.client.send(new GetAccountCommand({}), { abortSignal })
    )
    const found = yield* identityOf(reader, options.sender)
    const own = found._tag === "There" ? found.identity.configurationSet : undefined
    const { configurationSet, outreachConfigurationSet } = options
    const names = new Set([own, configurationSet, outreachConfigurationSet])
    names.delete(undefined)
    // One after the other: the vendor allows about one such call a second.
    const sets = yield* Effect.forEach(names, (name = "") =>
      configurationSetOf(reader, name, name !== own && name !== configurationSet)
    )
    return {
      _tag: "Account" as const,
      sendingEnabled: account.SendingEnabled === true,
      productionAccess: account.ProductionAccessEnabled === true,
      enforcement: account.EnforcementStatus ?? "HEALTHY",
      identity: found,
      sets
    }
  }).pipe(Effect.catch(({ tag, why }) => Effect.succeed<ProviderBFacts>({ _tag: tag, why })))

/** Asks the account on a client of its own. */
const onClient = <A, E>(options: SesOptions, ask: (reader: Reader) => Effect.Effect<A, E>) =>
  Effect.scoped(
    Effect.gen(function* () {
      let latest: Credentials | undefined
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => makeClient(options, async () => (latest = await options.credentials()))),
        (open) => Effect.sync(() => open.destroy())
      )
      const secrets = () => [latest?.secretAccessKey ?? "", latest?.sessionToken ?? ""]
      return yield* ask({ client, secrets })
    })
  )

/**
 * Reads account, identity and configuration sets (`ses:GetAccount`, `GetEmailIdentity`, `GetConfigurationSet…`). Sends nothing.
 */
export const examineAccount = (options: SesAccountOptions): Effect.Effect<ProviderBFacts> =>
  onClient(options, (reader) => examine(reader, options))

/** Mails a second that the account may send (`ses:GetAccount`); fails with the reason where that cannot be read. */
export const readSendRate = (options: SesOptions): Effect.Effect<number, string> =>
  onClient(options, (reader) =>
    call(reader, (abortSignal) => reader.client.send(new GetAccountCommand({}), { abortSignal }))
  ).pipe(
    Effect.mapError(({ why }) => why),
    Effect.flatMap(({ SendQuota }) => {
      const rate = SendQuota?.MaxSendRate
      return rate !== undefined && rate > 0 ? Effect.succeed(rate) : Effect.fail("the account names no rate")
    })
  )
