import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Stream } from "effect"

import * as Identities from "../../src/adapters/memory/conversion/store-identities.ts"
import {
  adoptStore,
  examineStore,
  guarded,
  IDENTITY_KEY,
  onOwnStores,
  type OwnStore,
  OwnStores,
  ownStoresLayer
} from "../../src/application/own-stores.ts"
import { ObjectStoreError } from "../../src/ports/object-store.ts"
import { StoreIdentities } from "../../src/ports/store-identities.ts"
import { makeMapObjects } from "../support/worlds/map-objects.ts"

/** A folder of one machine, or a bucket where it has a place; what is in it is looked at by tests. */
const storeOf = (shown: string, place?: string, kept = new Map<string, Uint8Array>()) => ({
  kept,
  store: { name: "files", shown, place, objects: makeMapObjects(kept) } satisfies OwnStore
})

/** A process that starts with a store: its guard and its log, from warnings on. */
const start = Effect.fnUntraced(function* (store: OwnStore, unsetBatch?: OwnStore) {
  const logged: Array<string> = []
  const log = Logger.make(({ logLevel, message }) => {
    if (logLevel !== "Debug") logged.push(String(message))
  })
  const services = yield* Layer.build(Layer.fresh(ownStoresLayer([store], unsetBatch))).pipe(
    Effect.provide(Logger.layer([log]))
  )
  const own = Context.get(services, OwnStores)
  return {
    logged,
    objects: guarded(store.objects, own),
    examine: Effect.provide(own.examine, Logger.layer([log])),
    worked: Effect.provide(onOwnStores(Effect.succeed(true), false), services),
    batchRefusal: own.batchRefusal,
    refusalNow: own.refusalNow
  }
})

/** Others have their turn between a look and a claim. */
const identities = Layer.effect(
  StoreIdentities,
  Effect.map(StoreIdentities, (kept) =>
    StoreIdentities.of({
      ...kept,
      claim: (name, store) => Effect.andThen(Effect.yieldNow, kept.claim(name, store))
    })
  )
).pipe(Layer.provide(Identities.layer))

const body = Stream.make(new Uint8Array([1]))
const options = { contentType: "text/plain" }

const test = (title: string, run: Effect.Effect<void, unknown, Effect.Services<ReturnType<typeof start>>>) =>
  it.live(title, () =>
    Effect.provide(Effect.scoped(run), Layer.merge(Layer.fresh(identities), NodeCrypto.layer))
  )

describe("object stores of processes on one database (DOC-6)", () => {
  test(
    "many that start at once on one store all work with it",
    Effect.gen(function* () {
      const { kept, store } = storeOf("/shared")
      const all = yield* Effect.forEach(Array.from({ length: 12 }), () => start(store), {
        concurrency: "unbounded"
      })
      assert.isTrue((yield* Effect.forEach(all, ({ worked }) => worked)).every((worked) => worked))
      assert.deepStrictEqual([...kept.keys()], [IDENTITY_KEY])
      assert.deepStrictEqual(
        all.flatMap(({ logged }) => logged),
        []
      )
    })
  )

  test(
    "so do those on a bucket of a service that lets every writer win",
    Effect.gen(function* () {
      const { kept, store } = storeOf("s3.test/files", "s3.test/files")
      const create = (key: string, bytes: Uint8Array) =>
        Effect.as(
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => kept.set(key, bytes))
          ),
          true
        )
      const lax = { ...store, objects: { ...store.objects, create } }
      const all = yield* Effect.forEach(Array.from({ length: 6 }), () => start(lax), {
        concurrency: "unbounded"
      })
      assert.isTrue((yield* Effect.forEach(all, ({ worked }) => worked)).every((worked) => worked))
      assert.isTrue(yield* (yield* start(lax)).worked)
    })
  )

  test(
    "of two that start at once on folders of their own, one works on files; the other answers nothing, and says why once",
    Effect.gen(function* () {
      const places = ["/one", "/two"].map((shown) => storeOf(shown))
      const both = yield* Effect.forEach(places, ({ store }) => start(store), { concurrency: "unbounded" })
      const worked = yield* Effect.forEach(both, (one) => one.worked)
      assert.sameMembers(worked, [true, false])
      const other = both[worked.indexOf(false)]!
      yield* other.examine
      assert.lengthOf(other.logged, 1)
      assert.match(other.logged[0]!, /works on no files.*not the one that the database knows.*adopt files/)
      const { objects } = other
      for (const call of [
        objects.put("a", body, options),
        objects.create("a", new Uint8Array(), options),
        Stream.runDrain(objects.get("a")),
        objects.localPath("a"),
        objects.stat("a"),
        Stream.runDrain(objects.list("")),
        objects.remove(["a"]),
        objects.check
      ]) {
        const error = yield* Effect.flip(Effect.scoped(call))
        assert.strictEqual(error.reason, "unavailable")
      }
      const kept = places[worked.indexOf(false)]!.kept
      assert.deepStrictEqual([...kept.keys()], [IDENTITY_KEY])
    })
  )

  test(
    "an empty folder beside a known store is a forgotten volume, also while the process runs; once mounted, it works again",
    Effect.gen(function* () {
      const { kept, store } = storeOf("/data/objects/files")
      const process = yield* start(store)
      assert.isTrue(yield* process.worked)
      const volume = new Map(kept)
      kept.clear()
      yield* process.examine
      assert.isFalse(yield* process.worked)
      assert.match(process.logged[0]!, /is empty.*mount the volume/)
      assert.lengthOf(kept, 0)
      const restarted = yield* start(store)
      assert.isFalse(yield* restarted.worked)
      for (const [key, bytes] of volume) kept.set(key, bytes)
      yield* process.examine
      assert.isTrue(yield* process.worked)
      assert.lengthOf(process.logged, 2)
    })
  )

  test(
    "a bucket whose rule expired the identity object gets it again; another bucket does not",
    Effect.gen(function* () {
      const { kept, store } = storeOf("s3.eu-west-1/files", "s3.eu-west-1/files")
      yield* start(store)
      const identity = kept.get(IDENTITY_KEY)
      kept.clear()
      assert.isTrue(yield* (yield* start(store)).worked)
      assert.deepStrictEqual(kept.get(IDENTITY_KEY), identity)
      const other = storeOf("s3.eu-west-1/other", "s3.eu-west-1/other")
      assert.isFalse(yield* (yield* start(other.store)).worked)
      assert.lengthOf(other.kept, 0)
    })
  )

  test(
    "a store that is adopted takes over; examining changes nothing",
    Effect.gen(function* () {
      const [first, second] = [storeOf("/one"), storeOf("/two")]
      assert.strictEqual((yield* examineStore(second.store)).state, "new")
      assert.lengthOf(second.kept, 0)
      const process = yield* start(first.store)
      yield* adoptStore(second.store)
      assert.strictEqual((yield* examineStore(second.store)).state, "same")
      yield* process.examine
      assert.isFalse(yield* process.worked)
      assert.isTrue(yield* (yield* start(second.store)).worked)
    })
  )

  test(
    "a store that does not answer is not taken for another: what was found before holds",
    Effect.gen(function* () {
      const { store } = storeOf("/one")
      const away = Effect.fail(new ObjectStoreError({ reason: "unavailable", key: IDENTITY_KEY }))
      let isAway = true
      const flaky = {
        ...store,
        objects: {
          ...store.objects,
          get: (key: string) => (isAway ? Stream.fromEffect(away) : store.objects.get(key))
        }
      }
      const process = yield* start(flaky)
      assert.isFalse(yield* process.worked, "before it could be identified")
      isAway = false
      yield* process.examine
      assert.isTrue(yield* process.worked)
      isAway = true
      yield* process.examine
      assert.isTrue(yield* process.worked)
      assert.deepStrictEqual(process.logged, [])
    })
  )

  test(
    "a worker without a batch bucket leaves alone what others have results of, once the database knows a batch store",
    Effect.gen(function* () {
      const { store } = storeOf("/files")
      const folder = storeOf("/data/objects/batch")
      const unset = { ...folder.store, name: "batch" } as const
      const worker = yield* start(store, unset)
      assert.isUndefined(yield* worker.batchRefusal)
      assert.lengthOf(folder.kept, 0, "it is never made the known one")
      const bucket = storeOf("s3.test/batch", "s3.test/batch").store
      yield* adoptStore({ ...bucket, name: "batch" })
      assert.isUndefined(yield* worker.batchRefusal, "it has not looked since")
      assert.match((yield* worker.refusalNow) ?? "", /is empty, and the database knows another/)
      yield* worker.examine
      assert.match(
        (yield* worker.batchRefusal) ?? "",
        /is empty, and the database knows another.*BATCH_CONVERSION_S3_BUCKET/
      )
      assert.isTrue(yield* worker.worked, "files are its own")
      assert.match(worker.logged.join(), /converts nothing that the batch lane has results of/)
      yield* worker.examine
      assert.lengthOf(worker.logged, 1)
    })
  )

  test(
    "an identity that comes in pieces of any size is the whole one, for who examines and for who adopts",
    Effect.gen(function* () {
      const { kept, store } = storeOf("s3.test/files", "s3.test/files")
      yield* start(store)
      const whole = new TextDecoder().decode(kept.get(IDENTITY_KEY))
      const inPieces = (size: number) => ({
        ...store,
        objects: {
          ...store.objects,
          get: (key: string) =>
            Stream.flatMap(store.objects.get(key), (bytes) =>
              Stream.fromIterable(
                Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
                  bytes.subarray(n * size, (n + 1) * size)
                )
              )
            )
        }
      })
      const { known } = yield* StoreIdentities
      for (const size of [1, 16, 35, 36]) {
        const small = inPieces(size)
        assert.isTrue(yield* (yield* start(small)).worked, `in pieces of ${size}`)
        yield* adoptStore(small)
        assert.strictEqual((yield* known("files"))?.identity, whole)
      }
    })
  )

  test(
    "bytes without an identity's shape say nothing of the store: what was found before holds, and nobody adopts them",
    Effect.gen(function* () {
      const { kept, store } = storeOf("/one")
      const process = yield* start(store)
      const identity = kept.get(IDENTITY_KEY)!
      const odd = [
        new Uint8Array(),
        new Uint8Array(5_000_000).fill(255),
        new Uint8Array([0, 1]),
        identity.subarray(0, 16)
      ]
      const { known } = yield* StoreIdentities
      for (const bytes of odd) {
        kept.set(IDENTITY_KEY, bytes)
        yield* process.examine
        assert.isTrue(yield* process.worked)
        const fresh = yield* start(store)
        assert.isFalse(yield* fresh.worked)
        assert.match(fresh.logged.join(), /cannot be identified.*holds no identity/)
        const refused = yield* Effect.flip(adoptStore(store))
        assert.strictEqual(refused._tag, "ObjectStoreError")
        assert.strictEqual((yield* known("files"))?.identity, new TextDecoder().decode(identity))
      }
      kept.set(IDENTITY_KEY, identity)
      assert.isTrue(yield* (yield* start(store)).worked)
    })
  )

  test(
    "a bucket that lost its identity alone gets it again; one that lost a recent file too is not worked with",
    Effect.gen(function* () {
      const { kept, store } = storeOf("the bucket", "s3.test/files")
      assert.isTrue(yield* (yield* start(store)).worked)
      const identity = kept.get(IDENTITY_KEY)!
      kept.delete(IDENTITY_KEY)
      const known = yield* StoreIdentities
      const withFile = Effect.provideService(
        StoreIdentities,
        StoreIdentities.of({ ...known, recentFile: Effect.succeed("files/a/source") })
      )
      const { logged, worked } = yield* withFile(start(store))
      assert.isFalse(yield* worked)
      assert.match(logged.join(), /has lost the files that the database names.*bring its objects back/)
      assert.isFalse(kept.has(IDENTITY_KEY))
      kept.set("files/a/source", new Uint8Array([1]))
      assert.isTrue(yield* (yield* withFile(start(store))).worked)
      assert.deepStrictEqual(kept.get(IDENTITY_KEY), identity)
    })
  )
})
