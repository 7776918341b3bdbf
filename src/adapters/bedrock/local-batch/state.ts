import { Effect, Schema, Stream } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../../ports/object-store.ts"

/** A job as it was asked for. Times are milliseconds since 1970. */
export const Asked = Schema.Struct({
  name: Schema.String,
  model: Schema.String,
  inputPrefix: Schema.String,
  outputPrefix: Schema.String,
  timeoutHours: Schema.Finite,
  submittedAt: Schema.Finite
})
export type Asked = typeof Asked.Type

/** A requested stop, and when it takes effect. */
export const Stopping = Schema.Struct({ stoppedAt: Schema.Finite })

/** How it ended. */
export const Ended = Schema.Struct({
  status: Schema.Literals(["Completed", "PartiallyCompleted", "Failed", "Stopped", "Expired"]),
  message: Schema.optionalKey(Schema.String),
  processed: Schema.Natural
})
export type Ended = typeof Ended.Type

/** Where jobs are noted: in the object store itself, so that they outlive the process. */
const FOLDER = "local-batch/"

/** A job's notes: each is written once, so that no two processes undo each other's. */
type Note = "job" | "stop" | "end"

/** The notes of the local batch service. */
export const notesOn = (objects: ObjectStoreService) => {
  const keyOf = (id: string, note: Note) => `${FOLDER}${id}/${note}.json`

  const read = <A>(
    schema: Schema.ConstraintDecoder<A>,
    id: string,
    note: Note
  ): Effect.Effect<A | undefined, ObjectStoreError> => {
    const key = keyOf(id, note)
    return objects.get(key).pipe(
      Stream.decodeText(),
      Stream.mkString,
      Effect.flatMap((text) =>
        Effect.mapError(
          Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text),
          (cause) => new ObjectStoreError({ reason: "unavailable", key, cause })
        )
      ),
      Effect.catchIf(
        ({ reason }) => reason === "missing",
        () => Effect.succeed(undefined)
      )
    )
  }

  return {
    read,
    write: (id: string, note: Note, value: object): Effect.Effect<void, ObjectStoreError> =>
      Effect.asVoid(
        objects.put(keyOf(id, note), Stream.make(new TextEncoder().encode(JSON.stringify(value))), {
          contentType: "application/json"
        })
      )
  }
}
