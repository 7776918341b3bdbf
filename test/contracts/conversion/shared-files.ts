/**
 * `SharedFiles`: a link shows the newest result of one file, for its time and until its owner stops it.
 *
 * Adapters: memory, postgres. Rules: DOC-15, DOC-50.
 */
import { assert, layer as suiteLayer } from "@effect/vitest"
import { Clock, Effect, type Layer } from "effect"

import { SHARE_SECONDS } from "../../../src/application/conversion/share-token.ts"
import type { CustomerId } from "../../../src/domain/ids.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { SharedFiles } from "../../../src/ports/conversion/shared-files.ts"
import { anyId } from "../../support/any-id.ts"
import { addFile, ask, clean, customer, DocumentsWorld, STALE } from "./documents-world.ts"

export const BASE_URL = "https://p.test"

/** A file with a result. */
const withResult = Effect.fnUntraced(function* (owner: CustomerId, resultKey: string) {
  const store = yield* ConversionStore
  const fileId = yield* addFile(owner, 1, "png")
  yield* ask(owner, fileId)
  yield* store.finishInline((yield* store.claimInline(anyId(), STALE))!, resultKey, [])
  return fileId
})

const tokenOf = (url: string | undefined) => (url ?? "").slice(`${BASE_URL}/shared/`.length)

/** What every maker of links does. */
export const suite = (name: string, stores: Layer.Layer<SharedFiles | ConversionStore | DocumentsWorld>) =>
  suiteLayer(stores)(`links to results: ${name}`, (it) => {
    it.effect("a link shows the newest result of its file, until the file or its owner is gone", () =>
      Effect.gen(function* () {
        yield* clean
        const world = yield* DocumentsWorld
        const store = yield* ConversionStore
        const links = yield* SharedFiles
        const owner = yield* customer(10)
        const [fileId, other] = [yield* withResult(owner, "first"), yield* withResult(owner, "other")]
        const link = yield* links.link({ fileId, customerId: owner })
        const now = yield* Clock.currentTimeMillis
        assert.deepInclude(link, {
          fileName: "a.png",
          sender: `${owner}@x.test`,
          expiresAt: new Date((Math.floor(now / 1000) + SHARE_SECONDS) * 1000).toISOString()
        })
        assert.match(link?.url ?? "", /^https:\/\/p\.test\/shared\/[\w.-]{74}$/)
        const open = links.open(tokenOf(link?.url))
        assert.deepStrictEqual(yield* open, { fileName: "a.png", resultKey: "first" })
        yield* ask(owner, fileId)
        yield* store.finishInline((yield* store.claimInline(anyId(), STALE))!, "second", [])
        assert.deepStrictEqual(yield* open, { fileName: "a.png", resultKey: "second" })
        yield* store.deleteFile(fileId, owner)
        assert.isUndefined(yield* open)
        const kept = links.open(tokenOf((yield* links.link({ fileId: other, customerId: owner }))?.url))
        assert.isDefined(yield* kept)
        yield* world.closeAccount(owner)
        assert.isUndefined(yield* kept)
        assert.isUndefined(yield* links.link({ fileId: other, customerId: owner }))
      })
    )

    it.effect(
      "the owner sees whom a file is shared with, and stops every link that was made until then",
      () =>
        Effect.gen(function* () {
          yield* clean
          const links = yield* SharedFiles
          const store = yield* ConversionStore
          const [owner, stranger] = [yield* customer(10), yield* customer(10)]
          const [fileId, other] = [yield* withResult(owner, "shared"), yield* withResult(owner, "kept")]
          const [mine, theirs] = [
            { fileId, customerId: owner },
            { fileId, customerId: stranger }
          ]
          const { expiresAt, url } = (yield* links.link(mine))!
          const kept = (yield* links.link({ fileId: other, customerId: owner }))!
          yield* links.note({ fileId, recipients: ["bob@x.test", "Ann@x.test"], expiresAt })
          yield* links.note({ fileId, recipients: ["bob@x.test"], expiresAt })
          yield* links.note({ fileId: other, recipients: ["eve@x.test"], expiresAt: kept.expiresAt })
          const shares = yield* links.shares(mine)
          assert.deepStrictEqual(shares.map(({ email }) => email).toSorted(), ["Ann@x.test", "bob@x.test"])
          assert.strictEqual(shares[0]?.expiresAt, expiresAt)
          const all = yield* links.allShares(owner, 10)
          assert.deepStrictEqual(
            all.map(({ email, fileId: of, fileName }) => `${email} ${of} ${fileName}`).toSorted(),
            [`Ann@x.test ${fileId} a.png`, `bob@x.test ${fileId} a.png`, `eve@x.test ${other} a.png`]
          )
          assert.deepStrictEqual(
            all.find(({ email }) => email === shares[0]?.email),
            { ...shares[0]!, fileId, fileName: "a.png" }
          )
          assert.lengthOf(yield* links.allShares(owner, 2), 2)
          assert.deepStrictEqual(yield* links.allShares(stranger, 10), [])
          assert.deepStrictEqual(yield* links.shares(theirs), [])
          assert.isFalse(yield* links.stop(theirs))
          assert.isFalse(yield* links.stop({ fileId: anyId(), customerId: owner }))
          assert.isDefined(yield* links.open(tokenOf(url)))
          assert.isTrue(yield* links.stop(mine))
          assert.isUndefined(yield* links.open(tokenOf(url)))
          assert.deepStrictEqual(yield* links.shares(mine), [])
          assert.deepStrictEqual(
            (yield* links.allShares(owner, 10)).map(({ email }) => email),
            ["eve@x.test"]
          )
          assert.isDefined(yield* links.open(tokenOf(kept.url)))
          // In the same second as the stop.
          const anew = (yield* links.link(mine))!
          assert.isDefined(yield* links.open(tokenOf(anew.url)))
          yield* links.note({ fileId, recipients: ["bob@x.test"], expiresAt: anew.expiresAt })
          yield* store.deleteFile(fileId, owner)
          assert.deepStrictEqual(yield* links.shares(mine), [])
          assert.isFalse(yield* links.stop(mine))
        })
    )

    it.effect("each whom a file is shared with has a link of their own, which the owner may stop alone", () =>
      Effect.gen(function* () {
        yield* clean
        const links = yield* SharedFiles
        const [owner, stranger] = [yield* customer(10), yield* customer(10)]
        const fileId = yield* withResult(owner, "shared")
        const mine = { fileId, customerId: owner }
        const { expiresAt, url } = (yield* links.link(mine))!
        const noting = (...recipients: ReadonlyArray<string>) =>
          Effect.map(links.note({ fileId, recipients, expiresAt }), (noted) =>
            Object.fromEntries(noted.map((one) => [one.email, tokenOf(one.url)]))
          )
        const tokens = yield* noting("Ann@x.test", "bob@x.test")
        const [ann, bob] = [tokens["Ann@x.test"]!, tokens["bob@x.test"]!]
        assert.notStrictEqual(ann, bob)
        assert.deepStrictEqual(yield* noting("bob@x.test"), { "bob@x.test": bob })
        const opens = (...all: ReadonlyArray<string>) =>
          Effect.forEach(all, (token) => Effect.map(links.open(token), (found) => found?.resultKey))
        assert.deepStrictEqual(yield* opens(ann, bob), ["shared", "shared"])
        assert.isFalse(yield* links.revoke({ fileId, customerId: stranger, email: "bob@x.test" }))
        assert.isFalse(yield* links.revoke({ ...mine, email: "BOB@x.test" }))
        assert.isTrue(yield* links.revoke({ ...mine, email: "bob@x.test" }))
        assert.isFalse(yield* links.revoke({ ...mine, email: "bob@x.test" }))
        assert.deepStrictEqual(yield* opens(ann, bob, tokenOf(url)), ["shared", undefined, "shared"])
        assert.deepStrictEqual(
          (yield* links.shares(mine)).map(({ email }) => email),
          ["Ann@x.test"]
        )
        const again = (yield* noting("bob@x.test"))["bob@x.test"]!
        assert.deepStrictEqual(yield* opens(again, bob), ["shared", undefined])
        for (const text of [`${ann}A`, ann.slice(1), ann.replace(".", ""), ann.toUpperCase()])
          assert.deepStrictEqual(yield* opens(text), [undefined])
        assert.isTrue(yield* links.stop(mine))
        assert.deepStrictEqual(yield* opens(ann, again), [undefined, undefined])
      })
    )

    it.effect("somebody else's file has no link; a file without a result shows nothing", () =>
      Effect.gen(function* () {
        yield* clean
        const links = yield* SharedFiles
        const owner = yield* customer(10)
        const fileId = yield* addFile(owner, 1)
        assert.isUndefined(yield* links.link({ fileId, customerId: yield* customer(1) }))
        assert.isUndefined(yield* links.link({ fileId: anyId(), customerId: owner }))
        const link = yield* links.link({ fileId, customerId: owner })
        assert.isUndefined(yield* links.open(tokenOf(link?.url)))
      })
    )

    it.effect(
      "the same moment gives the same address; one of two weeks ago has expired; no other text opens",
      () =>
        Effect.gen(function* () {
          yield* clean
          const links = yield* SharedFiles
          const owner = yield* customer(10)
          const fileId = yield* withResult(owner, "result")
          const now = yield* Clock.currentTimeMillis
          const urlFrom = (agoSeconds: number) => links.urlFrom(fileId, new Date(now - agoSeconds * 1000))
          const url = yield* urlFrom(0)
          assert.strictEqual(yield* urlFrom(0), url)
          assert.isDefined(yield* links.open(tokenOf(yield* urlFrom(SHARE_SECONDS - 60))))
          assert.isUndefined(yield* links.open(tokenOf(yield* urlFrom(SHARE_SECONDS))))
          const token = tokenOf(url)
          for (const text of [
            "",
            "x",
            token.slice(1),
            `${token}A`,
            token.toUpperCase(),
            token.replace(".", "")
          ])
            assert.isUndefined(yield* links.open(text), text)
        })
    )
  })
