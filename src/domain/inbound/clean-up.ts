import { Clock, Duration, Effect, Stream } from "effect"

import { IntakeStore } from "../../ports/inbound/intake-store.ts"
import { MailObjects } from "../../ports/object-store.ts"
import { drain } from "../drain.ts"
import { madeAt, mailIdOf, mailPrefix, MAILS } from "./intake-config.ts"
import { MailHome } from "./mail-home.ts"
import { LINK_LIVES_MS } from "./result-link.ts"

/**
 * Objects of a mail that arrived earlier than this and has no row are orphans. The row is written once all of the mail is stored, within
 * minutes; a day, since the mail's time and now are read off the clocks of two machines, one of which may be hours off.
 */
const ORPHAN_AGE_MS = 24 * 60 * 60 * 1000

/** Objects that are looked up, and removed, in one call. */
const AT_ONCE = 500

/** Mails that one round of {@link cleanMails} handles. */
const CLEANED_AT_ONCE = 50

/** Most objects that one round removes; the next one continues. */
const MOST = 5_000

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

/**
 * Removes objects of mails that have no row (the process died before it wrote it, or the row was deleted), and what a worker
 * without its lease wrote after everything else had been removed. Returns how many. Several processes may do it at once.
 */
export const sweepOrphans = Effect.gen(function* () {
  const store = yield* IntakeStore
  const objects = yield* MailObjects
  const before = (yield* Clock.currentTimeMillis) - ORPHAN_AGE_MS
  const removed = yield* objects.list(MAILS).pipe(
    Stream.map(({ key }) => ({ key, id: mailIdOf(key) })),
    Stream.filter(({ id }) => id !== undefined && madeAt(id) < before),
    Stream.grouped(AT_ONCE),
    Stream.mapEffect((group) =>
      Effect.map(
        store.withoutObjects([...new Set(group.flatMap(({ id }) => (id === undefined ? [] : [id])))]),
        (ids) => {
          const orphans = new Set<string | undefined>(ids)
          return group.filter(({ id }) => orphans.has(id)).map(({ key }) => key)
        }
      )
    ),
    Stream.flattenIterable,
    Stream.take(MOST),
    Stream.grouped(AT_ONCE),
    Stream.mapEffect((keys) => Effect.as(objects.remove(keys), keys.length)),
    Stream.runSum
  )
  if (removed > 0) yield* Effect.logInfo(`${removed} objects that belonged to no mail were removed`)
  return removed
})
