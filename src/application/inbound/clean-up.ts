import { Duration, Effect, Stream } from "effect"

import { IntakeStore } from "../../ports/inbound/intake-store.ts"
import { MailObjects } from "../../ports/object-store.ts"
import { drain } from "../drain.ts"
import { removeOrphans } from "../orphans.ts"
import { mailIdOf, mailPrefix, MAILS } from "./intake-config.ts"
import { MailHome } from "./mail-home.ts"
import { LINK_LIVES_MS } from "./result-link.ts"

/** Objects that are removed in one call. */
const AT_ONCE = 500

/** Mails that one round of {@link cleanMails} handles. */
const CLEANED_AT_ONCE = 50

/** Removes the objects of mails that have ended, results once their links have expired, and deletes old mails (INBOUND-8). */
export const cleanMails = Effect.gen(function* () {
  const store = yield* IntakeStore
  const objects = yield* MailObjects
  const home = yield* yield* MailHome
  const round = Effect.gen(function* () {
    const mails = yield* store.toClean(CLEANED_AT_ONCE, Duration.millis(LINK_LIVES_MS), home)
    for (const { everything, id } of mails) {
      yield* objects.list(mailPrefix(id)).pipe(
        Stream.map(({ key }) => key),
        Stream.filter((key) => everything || !key.startsWith(`${mailPrefix(id)}result-`)),
        Stream.grouped(AT_ONCE),
        Stream.runForEach((keys) => objects.remove(keys))
      )
      yield* store.cleaned(id, everything ? "all" : "source")
    }
    return mails.length
  })
  yield* drain(CLEANED_AT_ONCE, round)
  yield* store.purge
})

/** Removes objects that belong to no mail. Returns how many. */
export const sweepOrphans = Effect.gen(function* () {
  const store = yield* IntakeStore
  const objects = yield* MailObjects
  const removed = yield* removeOrphans(objects, {
    prefix: MAILS,
    idOf: mailIdOf,
    withoutObjects: store.withoutObjects
  })
  if (removed > 0) yield* Effect.logInfo(`${removed} objects that belonged to no mail were removed`)
  return removed
})
