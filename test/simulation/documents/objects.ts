import { Effect, Stream } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../../src/ports/object-store.ts"

/** Takes a call to the object store there and back. */
type ObjectRoad = <A>(
  operation: string,
  key: string,
  apply: Effect.Effect<A, ObjectStoreError>
) => Effect.Effect<A, ObjectStoreError>

/** A view of the objects; what reads one whole needs no stream. */
export interface WholeObjects extends ObjectStoreService {
  readonly whole: (key: string) => Effect.Effect<Uint8Array, ObjectStoreError>
}

/** One process's view of objects that all share; each is there whole or not at all. */
export const objectsOver = (objects: Map<string, Uint8Array>, road: ObjectRoad): WholeObjects => {
  const found = (key: string) =>
    Effect.suspend(() => {
      const bytes = objects.get(key)
      return bytes === undefined
        ? Effect.fail(new ObjectStoreError({ reason: "missing", key }))
        : Effect.succeed(bytes)
    })
  const whole = (key: string) => road("get", key, found(key))
  return {
    whole,
    put: (key, body) =>
      Effect.flatMap(
        Stream.runFold(
          body,
          (): Array<Uint8Array> => [],
          (pieces, piece) => {
            pieces.push(piece.slice())
            return pieces
          }
        ),
        (parts) => {
          const bytes = Buffer.concat(parts)
          const kept = Effect.sync(() => objects.set(key, bytes))
          return Effect.as(road("put", key, kept), bytes.length)
        }
      ),
    create: (key, bytes) =>
      road(
        "create",
        key,
        Effect.sync(() => !objects.has(key) && objects.set(key, bytes) === objects)
      ),
    get: (key, options) =>
      Stream.fromEffect(Effect.map(whole(key), (bytes) => bytes.slice(options?.from ?? 0))),
    // The file on this machine outlives its object for as long as it is read.
    localPath: (key) => Effect.as(road("get", key, found(key)), key),
    stat: (key) => Effect.map(road("stat", key, found(key)), ({ length }) => ({ key, size: length })),
    list: (prefix) =>
      Stream.unwrap(
        road(
          "list",
          prefix,
          Effect.sync(() =>
            Stream.fromIterable(
              [...objects].flatMap(([key, { length }]) =>
                key.startsWith(prefix) ? [{ key, size: length }] : []
              )
            )
          )
        )
      ),
    remove: (keys) =>
      road(
        "remove",
        keys[0] ?? "",
        Effect.sync(() => keys.forEach((key) => objects.delete(key)))
      ),
    check: Effect.void
  }
}
