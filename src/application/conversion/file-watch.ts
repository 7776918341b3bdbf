import { Context, Duration, Effect, Layer, Option, Queue, type Scope, Stream } from "effect"

import type { StoredFile } from "../../domain/conversion/file.ts"
import {
  momentOf,
  momentOfDeleted,
  momentOfReplaced,
  type PageRange,
  previewedJob,
  type ProgressMoment,
  readyPagesOf,
  sameMoment,
  wasReplaced
} from "../../domain/conversion/progress.ts"
import type { FileId, JobId } from "../../domain/ids.ts"
import { ConversionStore } from "../../ports/conversion/conversion-store.ts"
import { listenToBell } from "../work-bell.ts"

/** How often watched files are polled at least and at most: all of one process in one query. */
const LOOK_EVERY = Duration.millis(500)
const LOOK_AGAIN_AFTER = Duration.millis(50)

/** Moments that are buffered for a slow watcher; the oldest are dropped. */
const WAITING = 16

/** Which pages of conversions under way are ready; of a job it is asked again only once another of its chunks is done. */
const makeReady = (store: Pick<ConversionStore["Service"], "chunkResults">) => {
  const known = new Map<JobId, { readonly chunksDone: number; readonly pages: ReadonlyArray<PageRange> }>()
  return {
    of: Effect.fnUntraced(function* (file: StoredFile) {
      const jobId = previewedJob(file)
      if (jobId === undefined) return []
      const before = known.get(jobId)
      if (before?.chunksDone === file.chunksDone) return before.pages
      const pages = readyPagesOf(yield* store.chunkResults(jobId))
      known.set(jobId, { chunksDone: file.chunksDone, pages })
      return pages
    }),
    /** Forgets all other jobs. */
    keep: (files: Iterable<StoredFile>) => {
      const jobs = new Set([...files].map(previewedJob))
      for (const jobId of known.keys()) if (!jobs.has(jobId)) known.delete(jobId)
    }
  }
}

/** Turns what each look finds of a watched file into moments. */
const notifying = (
  store: Pick<ConversionStore["Service"], "jobStatus">,
  file: StoredFile,
  queue: Queue.Queue<ProgressMoment | undefined>
) => {
  let known = file
  return Effect.fnUntraced(function* (now: StoredFile | undefined, readyPages: ReadonlyArray<PageRange>) {
    if (now === undefined) return yield* Queue.offerAll(queue, [momentOfDeleted(known), undefined])
    const before = known
    if (before.jobId === null || !wasReplaced(before, now)) {
      known = now
      return yield* Queue.offer(queue, momentOf(now, readyPages))
    }
    // Where the store does not answer, the next look asks again.
    const ended = yield* Effect.option(store.jobStatus(before.jobId))
    if (Option.isSome(ended)) yield* Queue.offer(queue, momentOfReplaced(before, now, ended.value))
  })
}

/**
 * Watches conversions, whichever process runs them: all files watched in this process are read together, twice a second and
 * whenever this process has moved one on. No terminal moment is lost, since it is a lasting state, not a message: the job of a
 * file that is converted again keeps how the earlier conversion ended.
 */
export class FileWatch extends Context.Service<
  FileWatch,
  {
    /** The state now, and each later one until a terminal one. Also ends when the file is deleted, and with it its conversion. */
    readonly watch: (file: StoredFile) => Stream.Stream<ProgressMoment>
  }
>()("postlane/application/FileWatch") {
  static readonly layer: Layer.Layer<FileWatch, never, ConversionStore> = Layer.effect(
    FileWatch,
    Effect.gen(function* () {
      const store = yield* ConversionStore
      const watchers = new Map<FileId, Set<ReturnType<typeof notifying>>>()
      const ready = makeReady(store)

      let isAway = false
      const look = Effect.gen(function* () {
        const ids = [...watchers.keys()]
        if (ids.length === 0) return ready.keep([])
        const files = new Map((yield* store.filesById(ids)).map((file) => [file.id, file]))
        isAway = false
        ready.keep(files.values())
        for (const id of ids) {
          const file = files.get(id)
          const pages = file === undefined ? [] : yield* ready.of(file)
          for (const notify of watchers.get(id) ?? []) yield* notify(file, pages)
        }
      }).pipe(
        Effect.catch((error) => {
          // Said once an outage, not at every look.
          const isKnown = isAway
          isAway = true
          return isKnown
            ? Effect.void
            : Effect.logWarning(
                "the progress of conversions cannot be read: streams stand still until the database answers",
                error.cause
              )
        })
      )
      const wait = yield* listenToBell("conversions")
      yield* wait(Duration.subtract(LOOK_EVERY, LOOK_AGAIN_AFTER)).pipe(
        Effect.andThen(look),
        Effect.andThen(Effect.sleep(LOOK_AGAIN_AFTER)),
        Effect.forever,
        Effect.forkScoped
      )

      const moments = (file: StoredFile): Effect.Effect<Stream.Stream<ProgressMoment>, never, Scope.Scope> =>
        Effect.gen(function* () {
          const queue = yield* Queue.sliding<ProgressMoment | undefined>(WAITING)
          const notify = notifying(store, file, queue)
          yield* Effect.acquireRelease(
            Effect.sync(() => {
              const those = watchers.get(file.id) ?? new Set()
              watchers.set(file.id, those.add(notify))
            }),
            () =>
              Effect.sync(() => {
                const those = watchers.get(file.id)
                those?.delete(notify)
                if (those?.size === 0) watchers.delete(file.id)
              })
          )
          // Where the store does not answer, the next look asks again.
          const pages = yield* Effect.orElseSucceed(ready.of(file), () => [])
          let last: ProgressMoment | undefined
          return Stream.concat(Stream.make(momentOf(file, pages)), Stream.fromQueue(queue)).pipe(
            Stream.takeWhile((moment) => moment !== undefined),
            Stream.filter((moment) => {
              const isNew = last === undefined || !sameMoment(last, moment)
              last = moment
              return isNew
            }),
            Stream.takeUntil(({ event }) => event !== "progress")
          )
        })

      return FileWatch.of({ watch: (file) => Stream.unwrap(moments(file)) })
    })
  )
}
