import { Context, Effect, Layer, Logger, Result, Scope } from "effect"

import { ReturnedMails } from "../../application/delivery/returned-mail.ts"
import { ConvertByEmail } from "../../application/inbound/convert-by-email.ts"
import { uptime } from "../../application/uptime.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { Settings } from "../settings/settings.ts"
import { type Bindings, readBindings } from "./bindings.ts"
import { closeConnections } from "./close-connections.ts"
import { edgeMailIntake, MAIL_WORKER_GROUPS, mailWorkerParts } from "./email-layers.ts"

/** Convert-by-email within one invocation; what it opened cannot be used in another. */
export interface OpenIntake {
  readonly settings: Settings
  /** Rejects with what the effect failed with. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, ConvertByEmail | ReturnedMails>) => Promise<A>
  /** Never rejects. */
  readonly close: () => Promise<void>
}

/** Opens it on the bindings; rejects with an error that names what is missing, without secrets. */
export const openIntake = async (env: Bindings): Promise<OpenIntake> => {
  const { loggers, settings } = readBindings(env, MAIL_WORKER_GROUPS)
  const log = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.runPromise(Effect.provideService(effect, Logger.CurrentLoggers, loggers))
  const refuse = async (problems: ReadonlyArray<string>): Promise<never> => {
    const message = `convert-email cannot work: ${problems.join("; ")}`
    await log(Effect.logError(message))
    throw new Error(message)
  }
  if (Result.isFailure(settings)) {
    return refuse(settings.failure.map(({ message, setting }) => `${setting} ${message}`))
  }
  const parts = mailWorkerParts(settings.success, env)
  if (Result.isFailure(parts)) return refuse(parts.failure)
  const scope = Scope.makeUnsafe()
  const context = await log(
    Effect.map(
      Layer.buildWithMemoMap(edgeMailIntake(parts.success), Layer.makeMemoMapUnsafe(), scope),
      Context.pick(ConvertByEmail, ReturnedMails)
    )
  )
  return {
    settings: settings.success,
    run: (effect) => log(Effect.provideContext(effect, context)),
    close: () => log(closeConnections(scope))
  }
}

/**
 * Works on the mails and replies that wait, one after another, as long as there are any; begins nothing more after
 * `milliseconds`. Work that is cut off is taken up again when its lease ends.
 */
export const work = (milliseconds: number): Effect.Effect<void, StoreUnavailable, ConvertByEmail> =>
  Effect.gen(function* () {
    const { admitNext, convertNext, replyNext } = yield* ConvertByEmail
    const until = (yield* uptime) + milliseconds
    // The acknowledgement goes out before the conversion.
    const steps = [admitNext, replyNext, convertNext]
    let worked = true
    while (worked) {
      worked = false
      for (const step of steps) {
        if ((yield* uptime) >= until) return
        if (yield* step) worked = true
      }
    }
  })
