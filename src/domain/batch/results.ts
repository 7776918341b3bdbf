import { Effect, Fiber, Schema, Stream } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"
import type { JobId } from "../ids.ts"
import { heldKey, resultsKey, type ManifestEntry } from "./keys.ts"
import type { ReturnedRecord } from "./record.ts"

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
type PageAnswer = typeof PageAnswer.Type

/** `results/chunk-N.json`. */
const ChunkResults = Schema.Struct({ chunkIndex: Schema.Natural, pages: Schema.Array(PageAnswer) })

const decodeResults = Schema.decodeUnknownEffect(Schema.fromJsonString(ChunkResults))

/** Answers that are buffered before they are written, characters; each takes two bytes at most. */
const MAX_HELD = 64 * 1024 * 1024

/** Files that are written concurrently: each waits for the disk, or for the network. */
const WRITES_AT_ONCE = 16

/** Most bytes that one character of a text takes in UTF-8. */
const MAX_BYTES_A_CHARACTER = 3

/** Encodes texts into pooled buffers, which are released once they are written. */
const makeEncoder = () => {
  const encoder = new TextEncoder()
  const places: Array<Uint8Array<ArrayBuffer>> = []
  return {
    encode: (text: string) => {
      const room = text.length * MAX_BYTES_A_CHARACTER
      const last = places.pop()
      const place = last === undefined || last.length < room ? new Uint8Array(room) : last
      return { place, bytes: place.subarray(0, encoder.encodeInto(text, place).written) }
    },
    release: (place: Uint8Array<ArrayBuffer>): void => void places.push(place)
  }
}

const textOf = (objects: ObjectStoreService, key: string) =>
  objects.get(key).pipe(
    Stream.decodeText(),
    Stream.runFold(
      () => "",
      (text, part) => text + part
    )
  )

const readAnswers = (
  objects: ObjectStoreService,
  key: string
): Effect.Effect<ReadonlyArray<PageAnswer>, ObjectStoreError> =>
  textOf(objects, key).pipe(
    Effect.flatMap((text) =>
      Effect.mapError(
        decodeResults(text),
        (cause) => new ObjectStoreError({ reason: "unavailable", key, cause })
      )
    ),
    Effect.map(({ pages }) => pages)
  )

/** A chunk's accepted answers. Fails with `missing` where there is no file, `unavailable` where it cannot be read. */
export const readResults = (
  objects: ObjectStoreService,
  jobId: JobId,
  chunkIndex: number
): Effect.Effect<ReadonlyArray<PageAnswer>, ObjectStoreError> =>
  readAnswers(objects, resultsKey(jobId, chunkIndex))

interface Held {
  /** Records that the chunk still waits for. */
  missing: number
  size: number
  pages: Array<PageAnswer>
  /** Some of it is parked beside its file until the rest arrives. */
  parked: boolean
  /** Its file is written. */
  written: boolean
}

/** One collect's answers that are not written yet, by chunk. */
interface Buffer {
  readonly objects: ObjectStoreService
  readonly collect: { readonly jobId: JobId; readonly attempt: number }
  readonly encoder: ReturnType<typeof makeEncoder>
  readonly chunks: Map<number, Held>
  /** Characters of all of them. */
  total: number
}

type Waiting = ReadonlyArray<readonly [number, Held]>

const chunksOf = (entries: Iterable<ManifestEntry>): Map<number, Held> => {
  const chunks = new Map<number, Held>()
  for (const { chunkIndex } of entries) {
    const held = chunks.get(chunkIndex) ?? { missing: 0, size: 0, pages: [], parked: false, written: false }
    held.missing += 1
    chunks.set(chunkIndex, held)
  }
  return chunks
}

/** Writes a chunk's file with all of its answers, or parks those that are there beside it. */
const write = Effect.fnUntraced(function* (buffer: Buffer, chunkIndex: number, held: Held, whole: boolean) {
  const { collect, encoder, objects } = buffer
  const beside = heldKey(collect.jobId, collect.attempt, chunkIndex)
  const before = held.parked ? yield* readAnswers(objects, beside) : []
  const pages = [...before, ...held.pages].sort((a, b) => a.page - b.page)
  const { bytes, place } = encoder.encode(JSON.stringify({ chunkIndex, pages }))
  yield* objects.put(whole ? resultsKey(collect.jobId, chunkIndex) : beside, Stream.make(bytes), {
    contentType: "application/json"
  })
  encoder.release(place)
  if (whole && held.parked) yield* objects.remove([beside])
  buffer.total -= held.size
  held.size = 0
  held.pages = []
  held.parked = !whole
  held.written = whole
})

const writeAll = (buffer: Buffer, some: Waiting, ended = false) =>
  Effect.forEach(some, ([index, held]) => write(buffer, index, held, ended || held.missing === 0), {
    concurrency: WRITES_AT_ONCE,
    discard: true
  })

/** Adds a record to its chunk; one that was not accepted adds no answer. */
const hold = (buffer: Buffer, held: Held, entry: ManifestEntry, record: ReturnedRecord): void => {
  held.missing -= 1
  if (record.answer === undefined) return
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
  buffer.total += text.length
}

/**
 * Writes one results file a chunk from records in any order: a chunk is written once all of its records are there; when the
 * buffer is full, all of it is parked in a folder of this collect's own until the rest of its chunk arrives. Every collect writes
 * complete files: a stale one that wakes up only writes what is there.
 */
export const makeResultsWriter = (
  objects: ObjectStoreService,
  collect: Buffer["collect"],
  entries: Iterable<ManifestEntry>,
  maxHeld: number = MAX_HELD
) => {
  const buffer: Buffer = { objects, collect, encoder: makeEncoder(), chunks: chunksOf(entries), total: 0 }
  let complete: Array<readonly [number, Held]> = []
  let underWay: Fiber.Fiber<void, ObjectStoreError> | undefined

  const written = Effect.suspend(() => (underWay === undefined ? Effect.void : Fiber.join(underWay)))

  /** Writes while further records arrive; the next writes wait for these. */
  const writeBeside = (some: Waiting) =>
    Effect.gen(function* () {
      yield* written
      underWay = yield* Effect.forkChild(writeAll(buffer, some))
    })

  const writeNow = (isDue: (held: Held) => boolean, ended: boolean) =>
    Effect.andThen(
      written,
      Effect.suspend(() =>
        writeAll(
          buffer,
          [...buffer.chunks].filter(([, held]) => isDue(held)),
          ended
        )
      )
    )

  return {
    /** Adds a record, once. */
    add: (entry: ManifestEntry, record: ReturnedRecord): Effect.Effect<void, ObjectStoreError> =>
      Effect.suspend(() => {
        const held = buffer.chunks.get(entry.chunkIndex)
        if (held === undefined) return Effect.void
        hold(buffer, held, entry, record)
        if (held.missing === 0) complete.push([entry.chunkIndex, held])
        if (complete.length >= WRITES_AT_ONCE) {
          const some = complete
          complete = []
          return writeBeside(some)
        }
        if (buffer.total <= maxHeld) return Effect.void
        complete = []
        return writeNow(({ size }) => size > 0, false)
      }),
    /** Writes what is left, including chunks without any answer. */
    finish: writeNow((held) => !held.written, true)
  }
}
