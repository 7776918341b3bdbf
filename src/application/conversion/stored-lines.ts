import { Effect, Schema, Stream } from "effect"

import { PageLine } from "../../domain/conversion/page-line.ts"
import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"

const decodeLines = Schema.decodeUnknownEffect(Schema.NonEmptyArray(Schema.fromJsonString(PageLine)))

/** Streams the pages of a chunk's stored result, as many at once as are read. One that cannot be read is as if the store were away. */
export const storedLines = (
  objects: ObjectStoreService,
  key: string
): Stream.Stream<PageLine, ObjectStoreError> =>
  objects.get(key).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line !== ""),
    Stream.mapArrayEffect((lines) =>
      Effect.mapError(
        decodeLines(lines),
        (cause) => new ObjectStoreError({ reason: "unavailable", key, cause })
      )
    )
  )
