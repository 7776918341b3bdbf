import { Duration, Effect } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import * as Html from "../../../../../src/adapters/html/html-assembly.ts"
import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import { processFlyer } from "../../../../../src/application/conversion/work/flyer-processing.ts"
import type { CustomerId, FileId } from "../../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { type FilesWorld, LEASE, startFiles } from "./files-world.ts"

const SHORT = numbered(2)

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

/** A file of the owner's with a flyer job asked for. */
const asked = async (owner: CustomerId): Promise<{ readonly fileId: FileId; readonly id: string }> => {
  const fileId: FileId = (await world.upload(owner, SHORT)).json.file.id
  const { json } = await world.ask("POST", `/api/v1/files/${fileId}/preserve-formatting`, owner)
  return { fileId, id: json.flyerJob.id }
}

/** Makes every flyer job that waits, for real. */
const work = () =>
  world.run(
    Effect.gen(function* () {
      const store = yield* ConversionStore
      while (true) {
        const claim = yield* store.claimFlyer(anyId(), LEASE)
        if (claim === undefined) break
        yield* processFlyer(claim, { heartbeat: Duration.seconds(10) })
      }
    }).pipe(Effect.provide(Html.layer))
  )

/** Fails the oldest waiting one as a worker would. */
const failOnce = (maxAttempts: number) =>
  world.run(
    ConversionStore.use((store) =>
      Effect.gen(function* () {
        const claim = yield* store.claimFlyer(anyId(), LEASE)
        if (claim === undefined) return yield* Effect.die(new Error("nothing to claim"))
        return yield* store.failFlyer(claim, { error: "It cannot be drawn", costs: [], maxAttempts })
      })
    )
  )

const flyer = (owner: CustomerId, id: string) => world.ask("GET", `/api/v1/flyer-jobs/${id}`, owner)
const result = (owner: CustomerId, id: string) => world.ask("GET", `/api/v1/flyer-jobs/${id}/result`, owner)

const NOT_READY = [404, "RESULT_NOT_READY", true]

describe("a flyer job", () => {
  it("is its owner's: somebody else's, one of a deleted file and none at all are one and the same 404", async () => {
    const [owner, stranger] = [await world.customer(), await world.customer()]
    const theirs = await asked(owner)
    await work()
    const deleted = await asked(stranger)
    await world.ask("DELETE", `/api/v1/files/${deleted.fileId}`, stranger)
    const ids = fc.oneof(
      fc.constantFrom(theirs.id, theirs.id.toUpperCase(), theirs.fileId, deleted.id),
      fc.uuid(),
      fc.constantFrom("x", "0", "%00", "..%2f..", "'%20or%201=1", `${theirs.id}%20`, "%F0%9F%92%A9", "{}")
    )
    await fc.assert(
      fc.asyncProperty(ids, fc.constantFrom("", "/result"), async (id, rest) => {
        const answer = await world.ask("GET", `/api/v1/flyer-jobs/${id}${rest}`, stranger)
        expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"])
      }),
      { numRuns: 40 }
    )
    const list = await world.ask("GET", `/api/v1/files/${theirs.fileId}/flyer-jobs`, stranger)
    expect([list.status, list.json.code]).toEqual([404, "FILE_NOT_FOUND"])
    expect((await flyer(owner, theirs.id)).json.flyerJob.status).toBe("completed")
  })

  it("is pending without a result, then completed with the layout-true document under a sandbox", async () => {
    const owner = await world.customer()
    const { fileId, id } = await asked(owner)
    const before = await flyer(owner, id)
    expect([before.status, before.json]).toEqual([
      200,
      {
        flyerJob: {
          id,
          fileId,
          status: "pending",
          error: null,
          compConversionId: null,
          unreadablePages: [],
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          waitsFor: { cause: "turn", seconds: expect.any(Number), others: expect.any(Number), within: null }
        }
      }
    ])
    const early = await result(owner, id)
    expect([early.status, early.json.code, early.json.retryable]).toEqual(NOT_READY)
    await work()
    expect((await flyer(owner, id)).json.flyerJob).toEqual({
      ...before.json.flyerJob,
      status: "completed",
      waitsFor: undefined
    })
    for (const method of ["GET", "HEAD"]) {
      const answer = await world.ask(method, `/api/v1/flyer-jobs/${id}/result`, owner)
      expect([method, answer.status, answer.headers["content-type"]]).toEqual([
        method,
        200,
        "text/html; charset=utf-8"
      ])
      const policy = answer.headers["content-security-policy"] ?? ""
      expect(policy).toMatch(/^sandbox; default-src 'none';/)
      expect(policy).not.toMatch(/allow-|script-src|https?:/)
      expect(answer.headers["x-content-type-options"]).toBe("nosniff")
      expect(answer.headers["cache-control"]).toContain("private")
      expect(answer.text.match(/<img src="data:image\/png;base64,/g)?.length).toBe(
        method === "GET" ? 2 : undefined
      )
    }
  })

  it("tells why it failed only once it has failed for good", async () => {
    const owner = await world.customer()
    const { id } = await asked(owner)
    expect(await failOnce(3)).toBe("pending")
    expect((await flyer(owner, id)).json.flyerJob).toMatchObject({ status: "pending", error: null })
    expect(await failOnce(1)).toBe("failed")
    expect((await flyer(owner, id)).json.flyerJob).toMatchObject({
      status: "failed",
      error: "It cannot be drawn"
    })
    const none = await result(owner, id)
    expect([none.status, none.json.code, none.json.retryable]).toEqual(NOT_READY)
  })

  it("was stopped: failed with the reason, and no result", async () => {
    const owner = await world.customer()
    const { fileId, id } = await asked(owner)
    await world.run(
      WriteSql.use((sql) => sql`select cancel_flyer_jobs_for_file(${fileId}::uuid, 'The user stopped it')`)
    )
    expect((await flyer(owner, id)).json.flyerJob).toMatchObject({
      status: "failed",
      error: "The user stopped it"
    })
    expect((await result(owner, id)).json.code).toBe("RESULT_NOT_READY")
  })

  it("is cancelled while it is made: failed by the user, nothing charged, its worker's result dropped; once", async () => {
    const owner = await world.customer(2)
    const stranger = await world.customer()
    const cancel = (who: string, id: string) =>
      world.ask("POST", `/api/v1/flyer-jobs/${id}/cancel`, anyId(who))
    const { fileId, id } = await asked(owner)
    const claim = await world.run(ConversionStore.use((store) => store.claimFlyer(anyId(), LEASE)))
    for (const nobodys of [id, anyId(), "x"]) {
      const refused = await cancel(stranger, nobodys)
      expect([refused.status, refused.json.code]).toEqual([404, "NOT_FOUND"])
    }
    const theirs = ConversionStore.use((store) => store.cancelFlyer(anyId(id), stranger))
    expect(await world.run(theirs)).toBe("not_found")
    const cancelled = await cancel(owner, id)
    expect([cancelled.status, cancelled.json.flyerJob]).toMatchObject([
      200,
      { id, fileId, status: "failed", error: "The user stopped the conversion" }
    ])
    expect(
      await world.run(
        ConversionStore.use((store) =>
          claim === undefined ? Effect.undefined : store.finishFlyer(claim, "late", [])
        )
      )
    ).toBe("stale")
    // The answer was lost: the same again.
    const again = ConversionStore.use((store) => store.cancelFlyer(anyId(id), owner))
    expect(await world.run(again)).toBe("cancelled")
    const twice = await cancel(owner, id)
    expect([twice.status, twice.json.code]).toEqual([409, "NOT_CONVERTING"])
    // Its pages are free for another.
    const other = await world.ask("POST", `/api/v1/files/${fileId}/preserve-formatting`, owner)
    expect(other.status).toBe(202)
    await work()
    const late = await cancel(owner, other.json.flyerJob.id)
    expect([late.status, late.json.code]).toEqual([409, "NOT_CONVERTING"])
    expect((await result(owner, other.json.flyerJob.id)).status).toBe(200)
    // One that completed between the look and the act.
    const lost = ConversionStore.use((store) => store.cancelFlyer(other.json.flyerJob.id, owner))
    expect(await world.run(lost)).toBe("not_active")
  })

  it("of a deleted file reports that the user stopped it, and releases its hold", async () => {
    const owner = await world.customer()
    const { fileId, id } = await asked(owner)
    await world.ask("DELETE", `/api/v1/files/${fileId}`, owner)
    const rows = await world.run(
      WriteSql.use(
        (sql) => sql`select j.status, j.error, h.state as held from flyer_jobs j
          join funds_holds h on h.job_id = j.id where j.id = ${id}::uuid`
      )
    )
    expect(rows).toEqual([
      { status: "failed", error: "The user stopped the conversion: the file was deleted", held: "released" }
    ])
  })

  it("names the free reflow that was chosen, and no longer once that is cancelled", async () => {
    const owner = await world.customer()
    const { fileId, id } = await asked(owner)
    await work()
    const { job } = (await world.ask("POST", `/api/v1/flyer-jobs/${id}/reflow`, owner)).json
    expect((await flyer(owner, id)).json.flyerJob.compConversionId).toBe(job.id)
    expect((await result(owner, id)).status).toBe(200)
    await world.ask("POST", `/api/v1/files/${fileId}/cancel`, owner)
    expect((await flyer(owner, id)).json.flyerJob.compConversionId).toBeNull()
  })

  it("503, not a half answer, where the object cannot be had", async () => {
    const owner = await world.customer()
    const { id } = await asked(owner)
    await work()
    const [row] = await world.run(
      WriteSql.use(
        (sql) => sql<{ result_key: string }>`select result_key from flyer_jobs where id = ${id}::uuid`
      )
    )
    await world.run(FileObjects.use((objects) => objects.remove([row?.result_key ?? ""])))
    const answer = await result(owner, id)
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([503, "UNAVAILABLE", true])
  })

  it("answers other methods with 405", async () => {
    const owner = await world.customer()
    const { fileId, id } = await asked(owner)
    for (const path of [`/flyer-jobs/${id}`, `/flyer-jobs/${id}/result`, `/files/${fileId}/flyer-jobs`]) {
      const answer = await world.ask("POST", `/api/v1${path}`, owner)
      expect([path, answer.status, answer.json.code, answer.headers["allow"]]).toEqual([
        path,
        405,
        "METHOD_NOT_ALLOWED",
        "GET, HEAD"
      ])
    }
  })
})

describe("GET /api/v1/files/:fileId/flyer-jobs", () => {
  it("the file's, newest first", async () => {
    const owner = await world.customer()
    const { fileId, id } = await asked(owner)
    await asked(owner)
    await work()
    const again = await world.ask("POST", `/api/v1/files/${fileId}/preserve-formatting`, owner)
    const { json, status } = await world.ask("GET", `/api/v1/files/${fileId}/flyer-jobs`, owner)
    expect(status).toBe(200)
    expect(json.flyerJobs.map((one: { id: string; status: string }) => [one.id, one.status])).toEqual([
      [again.json.flyerJob.id, "pending"],
      [id, "completed"]
    ])
  })
})
