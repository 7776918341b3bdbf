import { Effect, Result } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { postmarkVerdicts } from "../../domain/doctor/postmark.ts"
import { providerAVerdicts } from "../../domain/doctor/provider-a.ts"
import { providerBVerdicts } from "../../domain/doctor/provider-b.ts"
import { relayVerdicts } from "../../domain/doctor/relay.ts"
import type { Verdict } from "../../domain/doctor/verdict.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import { envOf, readSettings } from "../edge/plain-send-email.ts"
import type { Settings } from "../settings/settings.ts"
import { nodeCredentials } from "./node-credentials.ts"
import { useStores } from "./node-library.ts"

/** How long a provider may take to answer. */
const TIME_LIMIT = "15 seconds"

const providerA = ({ domains, providerA: { apiKey, baseUrl, userAgent } }: Settings) =>
  apiKey === undefined
    ? Effect.succeed(["PROVIDERA_API_KEY is not set"])
    : Effect.promise(() => import("../../adapters/resend/account.ts")).pipe(
        Effect.flatMap((adapter) => adapter.examineAccount({ apiKey, baseUrl, userAgent })),
        Effect.map((facts) => faultsOf(providerAVerdicts(facts, domains.sender)))
      )

const providerB = (settings: Settings) => {
  const { configurationSet, endpoint, outreachConfigurationSet, region } = settings.providerB
  return Effect.promise(() => import("../../adapters/ses/account.ts")).pipe(
    Effect.flatMap((adapter) =>
      adapter.examineAccount({
        region,
        endpoint,
        credentials: nodeCredentials(settings),
        configurationSet,
        outreachConfigurationSet,
        sender: settings.domains.sender
      })
    ),
    Effect.map((facts) => faultsOf(providerBVerdicts(facts, settings.domains.sender)))
  )
}

const smtp = ({ smtp: relay }: Settings) =>
  relay === undefined
    ? Effect.succeed(["SMTP_URL is not set"])
    : Effect.promise(() => import("../../adapters/smtp-relay/examination.ts")).pipe(
        Effect.flatMap((adapter) => adapter.examineRelay(relay)),
        Effect.map((facts) => faultsOf(relayVerdicts(facts)))
      )

const postmark = ({ postmark: { baseUrl, messageStream, serverToken } }: Settings) =>
  serverToken === undefined
    ? Effect.succeed(["POSTMARK_SERVER_TOKEN is not set"])
    : Effect.promise(() => import("../../adapters/postmark/account.ts")).pipe(
        Effect.flatMap((adapter) => adapter.examineAccount({ serverToken, baseUrl, messageStream })),
        Effect.map((facts) => faultsOf(postmarkVerdicts(facts)))
      )

const EXAMINED = {
  provider_a: providerA,
  provider_b: providerB,
  smtp,
  postmark
} satisfies Readonly<Record<Provider, (settings: Settings) => Effect.Effect<ReadonlyArray<string>>>>

const faultsOf = (verdicts: ReadonlyArray<Verdict>): ReadonlyArray<string> =>
  verdicts.flatMap((one) =>
    one.status === "fail" ? [`${one.check}: ${one.what}: ${one.why}; ${one.do}`] : []
  )

/** What the settings' provider says of a send that is not made: the faults that it names. */
const ofProvider = (settings: Settings): Effect.Effect<ReadonlyArray<string>> =>
  withDeadline(EXAMINED[settings.sending.primary](settings), {
    duration: TIME_LIMIT,
    onTimeout: () => Effect.succeed([`${settings.sending.primary} did not answer in ${TIME_LIMIT}`])
  })

/** Reads one row where there is a log: without one a mail is sent all the same. */
const ofLog = async (given: Readonly<Record<string, unknown>>, { database }: Settings) => {
  if (database === undefined || !database.hasPassword) return []
  const read = await useStores(given, ({ log }) => log.page({ limit: 1 }))
  return Result.isFailure(read) ? [read.failure.message] : []
}

/** Whether these settings can send, as far as it can be known without sending: what is wrong, in words. */
export const verifySending = async (
  given: Readonly<Record<string, unknown>> = process.env
): Promise<ReadonlyArray<string>> => {
  const read = Effect.runSync(Effect.result(readSettings(envOf({ env: given }, undefined), false)))
  if (Result.isFailure(read)) return [read.failure.message]
  const settings = read.success
  return [...(await ofLog(given, settings)), ...(await Effect.runPromise(ofProvider(settings)))]
}
