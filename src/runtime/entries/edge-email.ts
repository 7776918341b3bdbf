import { Data, Duration, Effect } from "effect"

import type { EmailMessage, Invocation } from "../../adapters/cloudflare/bindings.ts"
import { takeIn } from "../../adapters/cloudflare/email-delivery.ts"
import { withDeadline } from "../../application/deadline.ts"
import { ConvertByEmail } from "../../application/inbound/convert-by-email.ts"
import { intakeRecipients } from "../compose/inbound/inbound-parts.ts"
import type { Bindings } from "../edge/bindings.ts"
import { handleMailRoute } from "../edge/email-routes.ts"
import { openIntake, type OpenIntake, work } from "../edge/email-work.ts"

/** How long storing a mail may take. */
const TAKE_IN_LIMIT = Duration.minutes(1)

/** Work begins within this time after a mail came in, milliseconds: the platform ends it some 30 s after the mail was taken. */
const WORK_AFTER_MAIL = 20_000

/** Work still in progress then is released, so that being cut off by the platform never counts as a worker crash. */
const WORK_ENDS = Duration.seconds(24)

/** Work begins within this time of a scheduled invocation, milliseconds: then the next one begins. */
const WORK_SCHEDULED = 50_000

class TookTooLong extends Data.TaggedError("TookTooLong") {}

const workAfter = async ({ close, run }: OpenIntake): Promise<void> => {
  await run(
    work(WORK_AFTER_MAIL).pipe(
      Effect.timeoutOption(WORK_ENDS),
      Effect.catchCause((cause) =>
        Effect.logWarning("work on mails was cut off: the next scheduled run continues it", cause)
      )
    )
  )
  await close()
}

/**
 * Takes a mail in. It resolves once the mail is durable, in the bucket and as a row, or permanently refused; otherwise it
 * rejects, and the platform has the sender's server try again. Processing comes after that: when it is cut off, {@link scheduled}
 * takes the mail up.
 */
const email = async (message: EmailMessage, env: Bindings, ctx: Invocation): Promise<void> => {
  const intake = await openIntake(env)
  const taken = await intake.run(
    withDeadline(takeIn(message, intakeRecipients(intake.settings)), {
      duration: TAKE_IN_LIMIT,
      onTimeout: () => Effect.fail(new TookTooLong())
    }).pipe(
      Effect.tap((one) =>
        "refused" in one ? Effect.logInfo(`a mail was refused: ${one.refused}`) : Effect.void
      ),
      Effect.catchCause((cause) =>
        Effect.as(
          Effect.logWarning("a mail could not be stored: its sender is asked to try again later", cause),
          undefined
        )
      )
    )
  )
  if (taken === undefined) {
    await intake.close()
    throw new Error("convert-email: the mail cannot be stored now, please try again later")
  }
  if ("refused" in taken) message.setReject(taken.refused)
  if (!("id" in taken)) return intake.close()
  ctx.waitUntil(workAfter(intake))
}

/** Takes up the work that invocations left behind, and removes data past its retention. Once a minute is enough. */
const scheduled = async (_event: unknown, env: Bindings): Promise<void> => {
  const intake = await openIntake(env)
  const done = await intake.run(
    Effect.andThen(
      work(WORK_SCHEDULED),
      ConvertByEmail.use(({ clean, sweep }) => Effect.andThen(clean, sweep))
    ).pipe(
      Effect.as(true),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("scheduled work on mails failed: the next run tries again", cause), false)
      )
    )
  )
  await intake.close()
  if (!done)
    throw new Error(
      "convert-email: scheduled work on mails failed: the next run tries again; its log says why"
    )
}

/**
 * The Email Worker of convert-by-email (INBOUND-1), in the form that the platform expects: mail, the routes (health, the test
 * message, links to results), and the schedule.
 */
const worker = { email, fetch: handleMailRoute, scheduled }
export default worker
