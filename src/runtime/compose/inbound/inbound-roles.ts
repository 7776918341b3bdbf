import { Duration, Effect, Layer } from "effect"

import { serveSmtp } from "../../../adapters/smtp/smtp-server.ts"
import { ConvertByEmail } from "../../../application/inbound/convert-by-email.ts"
import { listenToBell } from "../../../application/work-bell.ts"
import { background, ticking, workers } from "../../process/supervisor.ts"
import type { InboundSettings } from "../../settings/settings.ts"
import { takesMails, whereOwn } from "../objects.ts"
import { intakeRecipients } from "./inbound-parts.ts"
import { authenticityRules } from "./inbound.ts"
import { certificate, listen } from "./smtp-listening.ts"

/** Steps of each kind in progress at once in one process: a mail is in memory while it is read, its result while it is sent. */
const WORKERS = 2

/**
 * Workers for mails of customers without another mail in conversion. The pages of all mails take turns in the pipeline: with more
 * workers each mail is slower, and none waits.
 */
const OTHER_CONVERTERS = 6

/** How long a worker that found nothing to do waits. */
const IDLE = Duration.millis(250)

/** How often objects of mails that have ended are removed. */
const CLEAN_EVERY = Duration.seconds(30)

/** How often objects that belong to no mail are looked for. */
const SWEEP_EVERY = Duration.minutes(10)

const worker = <R>(name: string, next: Effect.Effect<boolean, unknown, R>, count = WORKERS) =>
  workers(name, { count, idle: IDLE, listen: listenToBell("mails") }, () => whereOwn(next))

const sweeper = ticking(
  "mail-sweeper",
  SWEEP_EVERY,
  // Nothing waits for a sweep: where the store does not answer, the next sweep tries again.
  ConvertByEmail.use((intake) => intake.sweep).pipe(
    Effect.catchTag("ObjectStoreError", (error) =>
      Effect.logWarning("the object store of mails does not answer: the next sweep tries again", error.cause)
    )
  )
)

/** The role `intake`: SMTP, and what is done with the mails that came in. */
export const intakeWorkers = (settings: InboundSettings) => {
  const rules = authenticityRules(settings)
  const place = { host: settings.http.host, port: settings.intake.smtpPort }
  const smtp = Layer.unwrap(
    Effect.map(certificate("SMTP", settings.intake), (found) => {
      const vouched = rules.trustedHops.length > 0 || rules.trustsLoopback
      const takesReports = settings.bounceAddress !== undefined
      // The advice at the start says so; a server that only sends mail needs no hop.
      if (!vouched && !takesReports) return Layer.empty
      return background(
        "smtp",
        listen(
          { what: "SMTP", setting: "SMTP_PORT", ...place },
          serveSmtp({
            ...place,
            name: settings.domains.inbound,
            // Where nothing vouches for senders, delivery reports are all that is taken.
            recipients: vouched ? intakeRecipients(settings) : new Set(),
            certificate: found,
            peers: { ...rules, trustedPeers: settings.intake.trustedPeers, reportsAlone: !vouched }
          })
        )
      )
    })
  )
  return Layer.mergeAll(
    smtp,
    worker(
      "mail-reader",
      ConvertByEmail.use((intake) => intake.admitNext)
    ),
    worker(
      "mail-converter",
      ConvertByEmail.use((intake) => intake.convertNext)
    ),
    worker(
      "short-mail-converter",
      ConvertByEmail.use((intake) => intake.convertNextShort),
      1
    ),
    worker(
      "other-mail-converter",
      ConvertByEmail.use((intake) => intake.convertNextOfIdle),
      OTHER_CONVERTERS
    ),
    worker(
      "mail-replies",
      ConvertByEmail.use((intake) => intake.replyNext)
    ),
    ticking(
      "mail-cleaner",
      CLEAN_EVERY,
      ConvertByEmail.use((intake) => intake.clean)
    ),
    takesMails(settings) ? sweeper : Layer.empty
  )
}
