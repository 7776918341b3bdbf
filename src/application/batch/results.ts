import { Effect, Fiber, Schema, Stream } from "effect"

import { heldKey, resultsKey, type ManifestEntry } from "../../domain/batch/keys.ts"
import type { ReturnedRecord } from "../../domain/batch/record.ts"
import type { JobId } from "../../domain/ids.ts"
import { append } from "../../domain/lists.ts"
import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"

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

/** Of one group, what arrived until the buffer was full. */
const decodeParts = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(ChunkResults)))

/** Answers that are buffered before they are written, characters; each takes two bytes at most. */
const MAX_HELD = 4 * 1024 * 1024

/** Groups of neighbouring chunks: at the end memory holds one group's answers. */
const GROUPS = 64

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

const readJson = <A>(
  objects: ObjectStoreService,
  key: string,
  decode: (text: string) => Effect.Effect<A, Schema.SchemaError>
): Effect.Effect<A, ObjectStoreError> =>
  Effect.flatMap(textOf(objects, key), (text) =>
    Effect.mapError(decode(text), (cause) => new ObjectStoreError({ reason: "unavailable", key, cause }))
  )

const readParts = (objects: ObjectStoreService, key: string) => readJson(objects, key, decodeParts)

/** A chunk's accepted answers. Fails with `missing` where there is no file, `unavailable` where it cannot be read. */
export const readResults = (
  objects: ObjectStoreService,
  jobId: JobId,
  chunkIndex: number
): Effect.Effect<ReadonlyArray<PageAnswer>, ObjectStoreError> =>
  Effect.map(readJson(objects, resultsKey(jobId, chunkIndex), decodeResults), ({ pages }) => pages)

interface Held {
  readonly group: number
  /** Records that the chunk still waits for. */
  missing: number
  size: number
  pages: Array<PageAnswer>
  /** Some of it is set aside until the end. */
  aside: boolean
  /** Its file is written. */
  written: boolean
}

/** One collect's answers that are not written yet, by chunk. */
interface Buffer {
  readonly objects: ObjectStoreService
  readonly collect: { readonly jobId: JobId; readonly attempt: number }
  readonly encoder: ReturnType<typeof makeEncoder>
  readonly chunks: ReadonlyMap<number, Held>
  /** Keys of what is set aside, by group. */
  readonly aside: Map<number, Array<string>>
  /** Characters of all of them. */
  total: number
}

type Waiting = ReadonlyArray<readonly [number, Held]>

const chunksOf = (entries: Iterable<ManifestEntry>): ReadonlyMap<number, Held> => {
  const missing = new Map<number, number>()
  for (const { chunkIndex } of entries) missing.set(chunkIndex, (missing.get(chunkIndex) ?? 0) + 1)
  const each = Math.ceil(missing.size / GROUPS)
  return new Map(
    [...missing].map(([chunkIndex, records], at) => [
      chunkIndex,
      {
        group: Math.floor(at / each),
        missing: records,
        size: 0,
        pages: [],
        aside: false,
        written: false
      }
    ])
  )
}

/** What the chunk holds leaves the buffer. */
const empty = (buffer: Buffer, held: Held): void => {
  buffer.total -= held.size
  held.size = 0
  held.pages = []
}

/** Writes a chunk's file with all of its answers. */
const write = Effect.fnUntraced(function* (buffer: Buffer, chunkIndex: number, held: Held) {
  const { collect, encoder, objects } = buffer
  const pages = held.pages.sort((a, b) => a.page - b.page)
  const { bytes, place } = encoder.encode(JSON.stringify({ chunkIndex, pages }))
  yield* objects.put(resultsKey(collect.jobId, chunkIndex), Stream.make(bytes), {
    contentType: "application/json"
  })
  encoder.release(place)
  empty(buffer, held)
  held.written = true
})

const writeAll = (buffer: Buffer, some: Waiting) =>
  Effect.forEach(some, ([index, held]) => write(buffer, index, held), {
    concurrency: WRITES_AT_ONCE,
    discard: true
  })

const byGroup = (some: Waiting): ReadonlyMap<number, Waiting> => Map.groupBy(some, ([, { group }]) => group)

/** Sets a group's answers aside, in one object. */
const setAside = Effect.fnUntraced(function* (buffer: Buffer, group: number, some: Waiting) {
  const { aside, collect, encoder, objects } = buffer
  const keys = aside.get(group) ?? []
  aside.set(group, keys)
  const key = heldKey(collect.jobId, collect.attempt, group, keys.length)
  keys.push(key)
  const parts = some.map(([chunkIndex, { pages }]) => ({ chunkIndex, pages }))
  const { bytes, place } = encoder.encode(JSON.stringify(parts))
  yield* objects.put(key, Stream.make(bytes), { contentType: "application/json" })
  encoder.release(place)
  for (const [, held] of some) {
    empty(buffer, held)
    held.aside = true
  }
})

/** Writes the files of a group with what was set aside of them, and removes that. */
const writeGroup = Effect.fnUntraced(function* (buffer: Buffer, group: number, some: Waiting) {
  const keys = buffer.aside.get(group) ?? []
  for (const key of keys) {
    for (const { chunkIndex, pages } of yield* readParts(buffer.objects, key))
      append(buffer.chunks.get(chunkIndex)?.pages ?? [], pages)
  }
  yield* writeAll(buffer, some)
  if (keys.length > 0) yield* buffer.objects.remove(keys)
  buffer.aside.delete(group)
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
 * Writes one results file a chunk from records in any order: a chunk is written once all of its records are there. When the
 * buffer is full, all of it is set aside in a folder of this collect's own; chunks of which some is there are written at the end,
 * group by group. Every collect writes complete files: a stale one that wakes up only writes what is there.
 */
export const makeResultsWriter = (
  objects: ObjectStoreService,
  collect: Buffer["collect"],
  entries: Iterable<ManifestEntry>,
  maxHeld: number = MAX_HELD
) => {
  const buffer: Buffer = {
    objects,
    collect,
    encoder: makeEncoder(),
    chunks: chunksOf(entries),
    aside: new Map(),
    total: 0
  }
  let complete: Array<readonly [number, Held]> = []
  let underWay: Fiber.Fiber<void, ObjectStoreError> | undefined

  const written = Effect.suspend(() => (underWay === undefined ? Effect.void : Fiber.join(underWay)))

  /** Writes while further records arrive; the next writes wait for these. */
  const writeBeside = (some: Waiting) =>
    Effect.gen(function* () {
      yield* written
      underWay = yield* Effect.forkChild(writeAll(buffer, some))
    })

  const emptyAll = Effect.gen(function* () {
    yield* written
    yield* writeAll(buffer, complete)
    complete = []
    const rest = byGroup([...buffer.chunks].filter(([, { size }]) => size > 0))
    yield* Effect.forEach(rest, ([group, some]) => setAside(buffer, group, some), {
      concurrency: WRITES_AT_ONCE,
      discard: true
    })
  })

  return {
    /** Adds a record, once. */
    add: (entry: ManifestEntry, record: ReturnedRecord): Effect.Effect<void, ObjectStoreError> =>
      Effect.suspend(() => {
        const held = buffer.chunks.get(entry.chunkIndex)
        if (held === undefined) return Effect.void
        hold(buffer, held, entry, record)
        if (held.missing === 0 && !held.aside) complete.push([entry.chunkIndex, held])
        if (complete.length >= WRITES_AT_ONCE) {
          const some = complete
          complete = []
          return writeBeside(some)
        }
        return buffer.total <= maxHeld ? Effect.void : emptyAll
      }),
    /** Writes what is left, including chunks without any answer. */
    finish: Effect.gen(function* () {
      yield* written
      const rest = byGroup([...buffer.chunks].filter(([, held]) => !held.written))
      yield* Effect.forEach(rest, ([group, some]) => writeGroup(buffer, group, some), { discard: true })
    })
  }
}
