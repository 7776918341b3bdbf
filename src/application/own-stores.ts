import { Context, Effect, Layer, Stream } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import {
  complaintAbout,
  identityIn,
  isForeign,
  MAX_IDENTITY_BYTES,
  storeStateOf,
  type StorePlace
} from "../domain/store-identity.ts"
import { ObjectStoreError, type ObjectStoreService } from "../ports/object-store.ts"
import { StoreIdentities } from "../ports/store-identities.ts"
import type { StoreUnavailable } from "../ports/store-unavailable.ts"

/** The object that names a store. */
export const IDENTITY_KEY = "store-identity"

/** An object store of this process. */
export interface OwnStore extends StorePlace {
  readonly objects: ObjectStoreService
}

const noIdentity = new ObjectStoreError({
  reason: "unavailable",
  key: IDENTITY_KEY,
  cause: `the store cannot be identified: its object ${IDENTITY_KEY} holds no identity. Bring it back from a backup, or remove it`
})

/**
 * The identity in a store; undefined where it has none. It is read to its end, since a service sends it in pieces of any size. What
 * has not an identity's shape says nothing about the store, so that it is never taken for another one.
 */
const readIdentity = ({ objects }: Pick<OwnStore, "objects">) =>
  objects.get(IDENTITY_KEY).pipe(
    Stream.runFoldEffect(
      () => new Uint8Array(0),
      (read, bytes) =>
        read.length + bytes.length > MAX_IDENTITY_BYTES
          ? Effect.fail(noIdentity)
          : Effect.succeed(new Uint8Array([...read, ...bytes]))
    ),
    Effect.flatMap((bytes) => {
      const identity = identityIn(bytes)
      return identity === undefined ? Effect.fail(noIdentity) : Effect.succeed(identity)
    }),
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.undefined
    )
  )

/** Whether a bucket without an identity has lost the files of the database as well. */
const hasLostFiles = Effect.fnUntraced(function* ({ name, objects }: OwnStore) {
  if (name !== "files") return false
  const key = yield* (yield* StoreIdentities).recentFile
  if (key === undefined) return false
  return yield* objects.stat(key).pipe(
    Effect.as(false),
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.succeed(true)
    )
  )
})

/** Compares a store with the one that the database knows; changes nothing. */
export const examineStore = Effect.fnUntraced(function* (store: OwnStore) {
  const stored = yield* readIdentity(store)
  const known = yield* (yield* StoreIdentities).known(store.name)
  const state = storeStateOf(stored, store.place, known)
  const isLost = state === "expired" && (yield* hasLostFiles(store))
  return { stored, known, state: isLost ? ("lost" as const) : state }
})

/** Writes an identity; of several writers at once, one wins. Returns the identity that the store has then. */
const writeIdentity = Effect.fnUntraced(function* (store: Pick<OwnStore, "objects">, identity: string) {
  const bytes = new TextEncoder().encode(identity)
  yield* store.objects.create(IDENTITY_KEY, bytes, { contentType: "text/plain" })
  return (yield* readIdentity(store)) ?? identity
})

const newIdentity = Effect.flatMap(SecureRandom, (random) => random.uuidV7())

/** The name of a folder, which has the same path on every machine; the first process to ask writes it. */
export const nameOfFolder = Effect.fnUntraced(function* (objects: ObjectStoreService) {
  return (yield* readIdentity({ objects })) ?? (yield* writeIdentity({ objects }, yield* newIdentity))
})

/**
 * Makes a store known to the database when it knew none, and compares the two. A folder's identity is written first: one of
 * several writers wins. A bucket's identity is chosen by the database, since some S3-compatible services let every writer win: all
 * of them write the same.
 */
const claimStore = Effect.fnUntraced(function* (store: OwnStore, stored: string | undefined) {
  const { name, place } = store
  const written =
    stored ?? (place === undefined ? yield* writeIdentity(store, yield* newIdentity) : undefined)
  const identity = written ?? (yield* newIdentity)
  const known = yield* (yield* StoreIdentities).claim(name, { identity, place })
  return { known, state: storeStateOf(written, place, known) }
})

/** Compares a store with the known one; the first process to connect makes its store the known one. */
const enterStore = Effect.fnUntraced(function* (store: OwnStore) {
  const found = yield* examineStore(store)
  const { known, state } = found.state === "new" ? yield* claimStore(store, found.stored) : found
  return state === "expired" && known !== undefined
    ? storeStateOf(yield* writeIdentity(store, known.identity), store.place, known)
    : state
})

/** Makes a store the one that the database knows. Running processes on the one before stop working on files. */
export const adoptStore = Effect.fnUntraced(function* (store: OwnStore) {
  const identity = (yield* readIdentity(store)) ?? (yield* writeIdentity(store, yield* newIdentity))
  yield* (yield* StoreIdentities).adopt(store.name, { identity, place: store.place })
})

/** The object stores of this process, as far as they belong to the database. */
interface OwnStoresService {
  /** Examines the stores again, and logs what has changed. */
  readonly examine: Effect.Effect<void>
  /** Why this process must not work on files; undefined when it may. */
  readonly refusal: Effect.Effect<string | undefined>
  /** Why this process cannot read paid batch results; undefined when it can, or there are none. */
  readonly batchRefusal: Effect.Effect<string | undefined>
  /**
   * Either of these reasons, found in stores and database now. Before what is missing is paid for again: a process that stood still
   * since it last looked knows of no store that was chosen meanwhile.
   */
  readonly refusalNow: Effect.Effect<string | undefined, ObjectStoreError | StoreUnavailable>
}

/** By default no store is shared with another process, so that none is refused. */
export const OwnStores = Context.Reference<OwnStoresService>("postlane/application/OwnStores", {
  defaultValue: () => ({
    examine: Effect.void,
    refusal: Effect.undefined,
    batchRefusal: Effect.undefined,
    refusalNow: Effect.undefined
  })
})

const NOT_EXAMINED = "its object stores could not be identified yet"

const lineOf = ({ do: todo, what, why }: ReturnType<typeof complaintAbout>) => `${what}: ${why}. ${todo}`

/** Why the process must not work on files, as far as the first of its stores says; undefined: no reason. */
const refusalOf = (stores: ReadonlyArray<OwnStore>) =>
  Effect.map(
    Effect.forEach(stores, (store) =>
      Effect.map(enterStore(store), (state) =>
        isForeign(state) ? [lineOf(complaintAbout(store, state))] : []
      )
    ),
    (lines) => lines.flat()[0]
  )

const noteChange = (before: string | undefined, refusal: string | undefined) => {
  if (refusal === before) return Effect.void
  if (refusal !== undefined) return Effect.logError(`this process works on no files: ${refusal}`)
  return before === NOT_EXAMINED
    ? Effect.void
    : Effect.logInfo("this process works on files again: its object stores are those that the database knows")
}

/** As {@link refusalOf}, for a batch store that no setting names: it never becomes the known one. */
const batchRefusalOf = Effect.fnUntraced(function* (unset: OwnStore) {
  if ((yield* (yield* StoreIdentities).known("batch")) === undefined) return undefined
  const { state } = yield* examineStore(unset)
  return isForeign(state) ? lineOf(complaintAbout(unset, state)) : undefined
})

const noteBatch = (before: string | undefined, refusal: string | undefined) => {
  if (refusal === before) return Effect.void
  if (refusal !== undefined)
    return Effect.logError(`this process converts nothing that the batch lane has results of: ${refusal}`)
  return before === NOT_EXAMINED
    ? Effect.void
    : Effect.logInfo("this process converts what the batch lane has results of again")
}

/**
 * Examines the stores at once. When a store or the database does not answer, the last finding stays valid; readiness reports it.
 * `unsetBatch`: the default batch store of a worker without a setting for it, while the database may know another one.
 */
export const ownStoresLayer = (stores: ReadonlyArray<OwnStore>, unsetBatch?: OwnStore) =>
  Layer.effect(
    OwnStores,
    Effect.gen(function* () {
      const context = yield* Effect.context<StoreIdentities | SecureRandom>()
      let refusal = stores.length === 0 ? undefined : NOT_EXAMINED
      let batchRefusal = unsetBatch === undefined ? undefined : NOT_EXAMINED
      const examine = Effect.gen(function* () {
        const before = refusal
        refusal = yield* refusalOf(stores)
        yield* noteChange(before, refusal)
        if (unsetBatch === undefined) return
        const batchBefore = batchRefusal
        batchRefusal = yield* batchRefusalOf(unsetBatch)
        yield* noteBatch(batchBefore, batchRefusal)
      }).pipe(
        Effect.catch((error) =>
          error === noIdentity
            ? Effect.logWarning("an object store cannot be identified", error.cause)
            : Effect.logDebug("the object stores cannot be identified now", error)
        ),
        Effect.provideContext(context)
      )
      yield* examine
      return OwnStores.of({
        examine,
        refusal: Effect.sync(() => refusal),
        batchRefusal: Effect.sync(() => batchRefusal),
        refusalNow: Effect.gen(function* () {
          const why = yield* refusalOf(stores)
          return why ?? (unsetBatch && (yield* batchRefusalOf(unsetBatch)))
        }).pipe(Effect.provideContext(context))
      })
    })
  )

/** A store that fails every operation while this process must not work on files. */
export const guarded = (objects: ObjectStoreService, { refusal }: OwnStoresService): ObjectStoreService => {
  const allowed = (key: string) =>
    Effect.flatMap(refusal, (cause) =>
      cause === undefined
        ? Effect.void
        : Effect.fail(new ObjectStoreError({ reason: "unavailable", key, cause }))
    )
  return {
    put: (key, body, options) => Effect.andThen(allowed(key), objects.put(key, body, options)),
    create: (key, bytes, options) => Effect.andThen(allowed(key), objects.create(key, bytes, options)),
    get: (key, options) => Stream.unwrap(Effect.as(allowed(key), objects.get(key, options))),
    localPath: (key) => Effect.andThen(allowed(key), objects.localPath(key)),
    stat: (key) => Effect.andThen(allowed(key), objects.stat(key)),
    list: (prefix) => Stream.unwrap(Effect.as(allowed(prefix), objects.list(prefix))),
    remove: (keys) => Effect.andThen(allowed(keys[0] ?? ""), objects.remove(keys)),
    check: Effect.andThen(objects.check, allowed(""))
  }
}

/** Runs work on files while this process's stores are the known ones; else returns `otherwise`. */
export const onOwnStores = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  otherwise: NoInfer<A>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(OwnStores, ({ refusal }) =>
    Effect.flatMap(refusal, (why) => (why === undefined ? work : Effect.succeed(otherwise)))
  )
