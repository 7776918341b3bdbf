import { Clock, Effect, Stream } from "effect"

import type { ObjectStoreService } from "../ports/object-store.ts"

/**
 * Objects of something made earlier than this that has no row are orphans. The row is written once the objects are stored, within
 * minutes. Two days: a repeated upload has the id of its first attempt, up to a day earlier, and its time and now are read off the
 * clocks of two machines, one of which may be hours off.
 */
const ORPHAN_AGE_MS = 48 * 60 * 60 * 1000

/** Objects that are looked up, and removed, in one call. */
const AT_ONCE = 500

/** Most objects that one round removes; the next one continues. */
const MOST = 5_000

/** When an id was made, milliseconds of the epoch: the first 48 bits of a UUID of version 7 (RFC 9562, section 5.7). */
export const madeAt = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** A kind of owner of objects, such as files or batches. */
interface Owned<Id extends string, E, R> {
  readonly prefix: string
  /** What an object belongs to; undefined for one that is not ours. Ids are UUIDs of version 7. */
  readonly idOf: (key: string) => Id | undefined
  /** The ids that own no objects: they have no row, or one that records that all objects were removed. */
  readonly withoutObjects: (ids: ReadonlyArray<Id>) => Effect.Effect<ReadonlyArray<Id>, E, R>
}

/**
 * Removes objects that belong to nothing: a process died before it wrote their row, the row was deleted, or a worker without
 * its lease wrote them after everything else had been removed. Returns how many. Several processes may do it at once.
 */
export const removeOrphans = <Id extends string, E, R>(
  objects: ObjectStoreService,
  { idOf, prefix, withoutObjects }: Owned<Id, E, R>
) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    objects.list(prefix).pipe(
      Stream.map(({ key }) => ({ key, id: idOf(key) })),
      Stream.filter(({ id }) => id !== undefined && madeAt(id) < now - ORPHAN_AGE_MS),
      Stream.grouped(AT_ONCE),
      Stream.mapEffect((group) =>
        Effect.map(
          withoutObjects([...new Set(group.flatMap(({ id }) => (id === undefined ? [] : [id])))]),
          (ids) => {
            const orphans = new Set<string | undefined>(ids)
            return group.filter(({ id }) => orphans.has(id)).map(({ key }) => key)
          }
        )
      ),
      Stream.flattenIterable,
      Stream.take(MOST),
      Stream.grouped(AT_ONCE),
      Stream.mapEffect((keys) => Effect.as(objects.remove(keys), keys.length)),
      Stream.runSum
    )
  )
