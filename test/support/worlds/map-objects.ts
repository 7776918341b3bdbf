import { Effect, Stream } from "effect"

import { ObjectStoreError, type ObjectStoreService } from "../../../src/ports/object-store.ts"

/** Objects in a map: whole or not there, as every store has them, and gone with the process. */
export const makeMapObjects = (objects = new Map<string, Uint8Array>()): ObjectStoreService => {
  const found = (key: string) =>
    Effect.suspend(() => {
      const bytes = objects.get(key)
      return bytes === undefined
        ? Effect.fail(new ObjectStoreError({ reason: "missing", key }))
        : Effect.succeed(bytes)
    })
  return {
    put: (key, body) =>
      Effect.map(Stream.runCollect(Stream.map(body, (piece) => piece.slice())), (parts) => {
        const bytes = Buffer.concat([...parts])
        objects.set(key, bytes)
        return bytes.length
      }),
    create: (key, bytes) =>
      Effect.sync(() => {
        if (objects.has(key)) return false
        objects.set(key, bytes.slice())
        return true
      }),
    get: (key, options) =>
      Stream.unwrap(Effect.map(found(key), (bytes) => Stream.make(bytes.subarray(options?.from ?? 0)))),
    localPath: (key) => Effect.fail(new ObjectStoreError({ reason: "unavailable", key })),
    stat: (key) => Effect.map(found(key), ({ length }) => ({ key, size: length })),
    list: (prefix) =>
      Stream.suspend(() =>
        Stream.fromIterable(
          [...objects].flatMap(([key, { length }]) => (key.startsWith(prefix) ? [{ key, size: length }] : []))
        )
      ),
    remove: (keys) => Effect.sync(() => keys.forEach((key) => objects.delete(key))),
    check: Effect.void
  }
}
