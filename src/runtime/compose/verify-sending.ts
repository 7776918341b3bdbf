import { Effect, Result } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import type { Verdict } from "../../domain/doctor/verdict.ts"
import { envOf, readSettings } from "../edge/plain-send-email.ts"
import { needsOf } from "../settings/providers.ts"
import type { Settings } from "../settings/settings.ts"
import { nodeCredentials } from "./node-credentials.ts"
import { useStores } from "./node-library.ts"
import { PROVIDER_CHECKS } from "./provider-checks.ts"

/** How long a provider may take to answer. */
const TIME_LIMIT = "15 seconds"

const faultsOf = (verdicts: ReadonlyArray<Verdict>): ReadonlyArray<string> =>
  verdicts.flatMap((one) =>
    one.status === "fail" ? [`${one.check}: ${one.what}: ${one.why}; ${one.do}`] : []
  )

/** What the settings' provider says of a send that is not made: the faults that it names. */
const ofProvider = (settings: Settings): Effect.Effect<ReadonlyArray<string>> => {
  const { primary } = settings.sending
  const check = PROVIDER_CHECKS[primary]({
    settings,
    credentials: nodeCredentials(settings),
    ofEvents: false
  })
  return check === undefined
    ? Effect.succeed([`${needsOf(primary)?.setting} is not set`])
    : withDeadline(Effect.map(check, faultsOf), {
        duration: TIME_LIMIT,
        onTimeout: () => Effect.succeed([`${primary} did not answer in ${TIME_LIMIT}`])
      })
}

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
