import { Context, Data, type Effect, type Scope, type Stream } from "effect"

/**
 * The object store could not write or read an object. `missing`: no object has that key. `unsupported`: the service does not have
 * what was asked for; asking again changes nothing.
 */
export class ObjectStoreError extends Data.TaggedError("ObjectStoreError")<{
  readonly reason: "missing" | "unavailable" | "unsupported"
  readonly key: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `${this.reason}: ${this.key}`
  }
}

/** What is known of an object without reading it. */
export interface ObjectFacts {
  readonly key: string
  readonly size: number
}

/**
 * Objects by key: uploaded files, chunk results, results, batch shards. A key is made of `[A-Za-z0-9._-]` parts joined by
 * `/`. A write is atomic: the object is there whole or not at all. The last writer of a key wins.
 */
export interface ObjectStoreService {
  /**
   * Streams an object in; durable once it ends. Returns its size in bytes. Memory does not grow with it. The caller may
   * overwrite the bytes of a chunk once the next chunk is requested.
   */
  readonly put: <E, R>(
    key: string,
    body: Stream.Stream<Uint8Array, E, R>,
    options: { readonly contentType: string }
  ) => Effect.Effect<number, ObjectStoreError | E, R>
  /** Writes a small object where the key has none; of several writers at once, one gets true. */
  readonly create: (
    key: string,
    bytes: Uint8Array,
    options: { readonly contentType: string }
  ) => Effect.Effect<boolean, ObjectStoreError>
  /**
   * Streams an object out, from byte `from` (0) on. `passing`: the store may overwrite the bytes of a chunk once the next
   * chunk is requested.
   */
  readonly get: (
    key: string,
    options?: { readonly from?: number | undefined; readonly passing?: boolean }
  ) => Stream.Stream<Uint8Array, ObjectStoreError>
  /**
   * A file on this machine that holds the object, for programs that read by path; it stays unchanged until the scope
   * closes. Several readers of one object share it.
   */
  readonly localPath: (key: string) => Effect.Effect<string, ObjectStoreError, Scope.Scope>
  readonly stat: (key: string) => Effect.Effect<ObjectFacts, ObjectStoreError>
  /** Every object with a key that begins with `prefix`, in no order. */
  readonly list: (prefix: string) => Stream.Stream<ObjectFacts, ObjectStoreError>
  /** Removes objects; missing ones count as removed. */
  readonly remove: (keys: ReadonlyArray<string>) => Effect.Effect<void, ObjectStoreError>
  /** Fails where the store does not answer: for readiness. */
  readonly check: Effect.Effect<void, ObjectStoreError>
}

/** Uploaded files and results. */
export class FileObjects extends Context.Service<FileObjects, ObjectStoreService>()(
  "postlane/ports/FileObjects"
) {}

/** Batch inputs and outputs. */
export class BatchObjects extends Context.Service<BatchObjects, ObjectStoreService>()(
  "postlane/ports/BatchObjects"
) {}

/** Mails under way. */
export class MailObjects extends Context.Service<MailObjects, ObjectStoreService>()(
  "postlane/ports/MailObjects"
) {}
