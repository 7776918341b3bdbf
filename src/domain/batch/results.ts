import { Effect, Schema, Stream } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"
import { resultsKey } from "./keys.ts"
import type { ManifestEntry } from "./manifest.ts"
import type { ReturnedRecord } from "./output.ts"

/** An accepted answer, with what it may be used for. */
const PageAnswer = Schema.Struct({
  page: Schema.Natural,
  promptHash: Schema.String,
  model: Schema.String,
  text: Schema.String,
  stopReason: Schema.NullOr(Schema.String),
  inputTokens: Schema.Natural,
  outputTokens: Schema.Natural
})
export type PageAnswer = typeof PageAnswer.Type

/** `results/chunk-N.json`. */
const ChunkResults = Schema.Struct({ chunkIndex: Schema.Natural, pages: Schema.Array(PageAnswer) })

const decodeResults = Schema.decodeUnknownEffect(Schema.fromJsonString(ChunkResults))

/** Answers that are held before they are written, characters; each takes two bytes at most. */
const MAX_HELD = 64 * 1024 * 1024

/** Files that are written at once: each waits for the disk, or for the network. */
const WRITES_AT_ONCE = 16

const textOf = (objects: ObjectStoreService, key: string) =>
  objects.get(key).pipe(
    Stream.decodeText(),
    Stream.runFold(
      () => "",
      (text, part) => text + part
    )
  )

/** A chunk's accepted answers. Fails with `missing` where there is no file, `unavailable` where it cannot be read. */
export const readResults = (
  objects: ObjectStoreService,
  jobId: string,
  chunkIndex: number
): Effect.Effect<ReadonlyArray<PageAnswer>, ObjectStoreError> => {
  const key = resultsKey(jobId, chunkIndex)
  return textOf(objects, key).pipe(
    Effect.flatMap((text) =>
      Effect.mapError(
        decodeResults(text),
        (cause) => new ObjectStoreError({ reason: "unavailable", key, cause })
      )
    ),
    Effect.map(({ pages }) => pages)
  )
}

interface Held {
  /** Records that the chunk still waits for. */
  missing: number
  size: number
  pages: Array<PageAnswer>
  /** Some of it stands in its file already. */
  written: boolean
}

/**
 * Writes one results file a chunk as its records come, in whatever order: a chunk is written once all of its records are
 * there; when too much is held, all that is held is written, and what comes later is added to its file. Written anew by
 * every collect.
 */
export const makeResultsWriter = (
  objects: ObjectStoreService,
  jobId: string,
  entries: Iterable<ManifestEntry>,
  maxHeld: number = MAX_HELD
) => {
  const chunks = new Map<number, Held>()
  for (const { chunkIndex } of entries) {
    const held = chunks.get(chunkIndex) ?? { missing: 0, size: 0, pages: [], written: false }
    held.missing += 1
    chunks.set(chunkIndex, held)
  }
  let total = 0
  let complete: Array<readonly [number, Held]> = []

  const write = Effect.fnUntraced(function* (chunkIndex: number, held: Held) {
    const before = held.written ? yield* readResults(objects, jobId, chunkIndex) : []
    const pages = [...before, ...held.pages].sort((a, b) => a.page - b.page)
    const bytes = new TextEncoder().encode(JSON.stringify({ chunkIndex, pages }))
    yield* objects.put(resultsKey(jobId, chunkIndex), Stream.make(bytes), {
      contentType: "application/json"
    })
    total -= held.size
    held.size = 0
    held.pages = []
    held.written = true
  })

  const writeAll = (some: ReadonlyArray<readonly [number, Held]>) =>
    Effect.forEach(some, ([index, held]) => write(index, held), {
      concurrency: WRITES_AT_ONCE,
      discard: true
    })

  return {
    /** A record that came, once; one that was not accepted adds no answer. */
    add: (entry: ManifestEntry, record: ReturnedRecord): Effect.Effect<void, ObjectStoreError> =>
      Effect.suspend(() => {
        const held = chunks.get(entry.chunkIndex)
        if (held === undefined) return Effect.void
        held.missing -= 1
        if (record.answer !== undefined) {
          const { stopReason, text } = record.answer
          held.pages.push({
            page: entry.page,
            promptHash: entry.promptHash,
            model: entry.model,
            text,
            stopReason: stopReason ?? null,
            ...record.usage
          })
          held.size += text.length
          total += text.length
        }
        if (held.missing === 0) complete.push([entry.chunkIndex, held])
        if (complete.length >= WRITES_AT_ONCE) {
          const some = complete
          complete = []
          return writeAll(some)
        }
        if (total <= maxHeld) return Effect.void
        complete = []
        return writeAll([...chunks].filter(([, { size }]) => size > 0))
      }),
    /** Writes what is left, chunks without any answer too. */
    finish: Effect.suspend(() =>
      writeAll([...chunks].filter(([, { pages, written }]) => pages.length > 0 || !written))
    )
  }
}
