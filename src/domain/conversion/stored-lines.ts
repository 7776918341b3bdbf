import { Effect, Schema, Stream } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../ports/object-store.ts"
import { PageLine } from "./page-line.ts"

const decodeLine = Schema.decodeUnknownEffect(Schema.fromJsonString(PageLine))

/** Streams the pages of a chunk's stored result. One that cannot be read is as if the store were away. */
export const storedLines = (
  objects: ObjectStoreService,
  key: string
): Stream.Stream<PageLine, ObjectStoreError> =>
  objects.get(key).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line !== ""),
    Stream.mapEffect((line) =>
      Effect.mapError(
        decodeLine(line),
        (cause) => new ObjectStoreError({ reason: "unavailable", key, cause })
      )
    )
  )
