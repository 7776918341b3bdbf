import { Effect } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import { BulkMessages } from "../../../../../src/application/conversion/bulk-messages.ts"
import { MAX_BULK_ITEMS } from "../../../../../src/application/conversion/bulk.ts"
import type { CustomerId, JobId } from "../../../../../src/domain/ids.ts"
import { IdempotencyConflict, IdempotencyInProgress } from "../../../../../src/domain/mail/send-result.ts"
import { BulkOrders } from "../../../../../src/ports/conversion/bulk-orders.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { pngOf } from "../../../../support/files/picture-files.ts"
import { later } from "../../../../support/later.ts"
import { empty } from "../../../../support/postgres/empty.ts"
import { sent } from "../../harness.ts"
import { type FilesWorld, LEASE, startFiles } from "./files-world.ts"

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())
beforeEach(async () => {
  world.post.requests.length = 0
  world.post.send = () => Effect.succeed(sent)
  await world.run(empty("bulk_orders, convert_queue"))
})

const PDF = numbered(2)
const uploaded = async (owner: CustomerId, bytes: Uint8Array = PDF, name = "a.pdf"): Promise<string> =>
  (await world.upload(owner, bytes, name)).json.file.id
const order = (owner: CustomerId, body: unknown) => world.ask("POST", "/api/v1/bulk", owner, body)
const start = async (owner: CustomerId, ids: ReadonlyArray<string>, options?: object) =>
  (await order(owner, { items: ids.map((fileId) => ({ fileId })), ...(options && { options }) })).json

const sql = <A extends object>(use: (sql: WriteSql["Service"]) => Effect.Effect<ReadonlyArray<A>, unknown>) =>
  world.run(WriteSql.use(use))
const held = async (owner: CustomerId) =>
  (
    await sql<{ held: number }>(
      (on) => on`select coalesce(sum(credits), 0)::int as held from funds_holds
        where customer_id = ${owner}::uuid and state = 'held'`
    )
  )[0]?.held
const sendDue = () => world.run(BulkMessages.use(({ sendDue: due }) => due))
/** Time for a claimed message to be claimed anew. */
const lapse = () => sql((on) => on`update bulk_orders set notifying_until = now() - interval '1 second'`)

describe("POST /api/v1/bulk", () => {
  it("202 with a job for each item; what is not urgent opts in to the batch lane, what is never does", async () => {
    const owner = await world.customer()
    const [a, b] = [await uploaded(owner), await uploaded(owner)]
    const answer = await order(owner, {
      items: [{ fileId: a }, { fileId: b.toUpperCase(), urgent: true }],
      options: { highFidelity: true }
    })
    expect([answer.status, answer.json]).toEqual([
      202,
      {
        bulkId: expect.stringMatching(/^[\da-f-]{36}$/),
        reference: null,
        price: 4,
        jobs: [
          { id: expect.any(String), fileId: a, status: "pending" },
          { id: expect.any(String), fileId: b, status: "pending" }
        ]
      }
    ])
    const rows = await sql<{ id: string; options: object; bulk: string }>(
      (on) => on`select file_id as id, options, bulk_id as bulk from convert_queue order by created_at`
    )
    expect(rows).toEqual([
      { id: a, options: { highFidelity: true, _batchLane: true }, bulk: answer.json.bulkId },
      { id: b, options: { highFidelity: true }, bulk: answer.json.bulkId }
    ])
    expect(await held(owner)).toBe(4)
  })

  it("an item may have options of its own, in place of the order's", async () => {
    const owner = await world.customer()
    const [a, b] = [await uploaded(owner), await uploaded(owner)]
    const answer = await order(owner, {
      items: [
        { fileId: a, urgent: true, options: { highFidelity: false } },
        { fileId: b, urgent: true }
      ],
      options: { highFidelity: true }
    })
    expect(answer.status).toBe(202)
    const rows = await sql<{ id: string; options: object }>(
      (on) => on`select file_id as id, options from convert_queue where customer_id = ${owner}::uuid`
    )
    expect(new Map(rows.map(({ id, options }) => [id, options]))).toEqual(
      new Map([
        [a, { highFidelity: false }],
        [b, { highFidelity: true }]
      ])
    )
  })

  it("all or nothing: one unknown file, one active one, or too few credits for the sum, and nothing was started", async () => {
    const [owner, stranger] = [await world.customer(5), await world.customer()]
    const [a, b, c] = [await uploaded(owner), await uploaded(owner), await uploaded(owner)]
    const theirs = await uploaded(stranger)
    const refused = async (ids: ReadonlyArray<string>) => {
      const { json, status } = await order(owner, { items: ids.map((fileId) => ({ fileId })) })
      return [status, json.code, json.detail]
    }
    expect(await refused([a, b, theirs])).toEqual([404, "FILE_NOT_FOUND", expect.stringContaining(theirs)])
    expect(await refused([a, anyId()])).toEqual([404, "FILE_NOT_FOUND", expect.any(String)])
    expect(await refused([a, "../etc"])).toEqual([404, "FILE_NOT_FOUND", expect.not.stringContaining("etc")])
    expect(await refused([a, b, c])).toEqual([402, "INSUFFICIENT_CREDITS", expect.any(String)])
    expect(await held(owner)).toBe(0)
    await world.ask("POST", `/api/v1/files/${b}/convert`, owner)
    expect(await refused([a, b])).toEqual([409, "CONVERSION_ACTIVE", expect.stringContaining(b)])
    const { files } = (await world.ask("GET", "/api/files", owner)).json
    expect(files.map(({ status }: { status: string }) => status).sort()).toEqual([
      "chunked_processing",
      "uploaded",
      "uploaded"
    ])
    expect(await held(owner)).toBe(2)
    expect(await sql((on) => on`select 1 as one from bulk_orders`)).toEqual([])
  })

  it("400 that names the field", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    for (const [body, path] of [
      [{}, "items"],
      [{ items: [] }, "items"],
      [{ items: Array.from({ length: MAX_BULK_ITEMS + 1 }, () => ({ fileId: anyId() })) }, "items"],
      [{ items: [{ fileId: id, urgent: "yes" }] }, "items.0.urgent"],
      [{ items: [{}] }, "items.0.fileId"],
      [{ items: [{ fileId: id }, { fileId: id.toUpperCase() }] }, "items.1.fileId"],
      [{ items: [{ fileId: id }], options: { parser: "x" } }, "options.parser"],
      [{ items: [{ fileId: id }], options: { _batchLane: true } }, "options._batchLane"],
      [{ items: [{ fileId: id, options: { parser: "x" } }] }, "items.0.options.parser"],
      [{ items: [{ fileId: id, options: { _batchPrimed: true } }] }, "items.0.options._batchPrimed"]
    ] as const) {
      const answer = await order(owner, body)
      expect([answer.status, answer.json.code, answer.json.issues?.[0]?.path]).toEqual([
        400,
        "INVALID_REQUEST",
        path
      ])
    }
    expect((await order(anyId("nobody"), { items: [{ fileId: id }] })).status).toBe(401)
    expect(await held(owner)).toBe(0)
  })

  it("orders of the same files at once: each file goes to one, none waits for another for ever", async () => {
    const owner = await world.customer()
    const ids = [await uploaded(owner), await uploaded(owner), await uploaded(owner)]
    const orders = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        order(owner, { items: (n % 2 === 0 ? ids : [...ids].reverse()).map((fileId) => ({ fileId })) })
      )
    )
    expect(orders.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      202,
      ...Array.from({ length: 7 }, () => 409)
    ])
    expect(await held(owner)).toBe(6)
  })
})

describe("the completion message", () => {
  it("goes out once, when the last job has ended however it did: who, from whom, with which links", async () => {
    const owner = await world.customer()
    const ids = [
      await uploaded(owner, PDF, "good.pdf"),
      await uploaded(owner, PDF, "stopped.pdf"),
      await uploaded(owner, PDF, "broken.pdf"),
      await uploaded(owner, pngOf(), "picture.png")
    ] as const
    const { bulkId, jobs } = await start(owner, ids, { parser: "layout" })
    await world.ask("POST", `/api/v1/files/${ids[1]}/cancel`, owner)
    await world.execute()
    await world.run(ConversionStore.use((store) => store.failJob(jobs[2].id, "It is upside down")))
    await world.work()
    expect(await sendDue()).toBe(0)
    expect(world.post.requests).toEqual([])
    const lease = anyId()
    await world.run(
      ConversionStore.use((store) =>
        Effect.gen(function* () {
          const inline = yield* store.claimInline(lease, LEASE)
          if (inline !== undefined)
            yield* store.finishInline({ fileId: inline.fileId, lease }, "jobs/x/r.html", [])
        })
      )
    )
    const rounds = await Promise.all([sendDue(), sendDue(), sendDue()])
    expect(rounds.reduce((sum, done) => sum + done, 0)).toBe(1)
    expect(world.post.requests.length).toBe(1)
    const message = world.post.requests[0]!
    expect(message).toMatchObject({
      to: `${owner}@x.test`,
      from: "Postlane <noreply@postlane.test>",
      replyTo: "convert@legacy.postlane.test",
      category: "transactional",
      source: "api:bulk",
      idempotencyKey: `bulk-completed:${bulkId}`
    })
    for (const name of ["good.pdf", "stopped.pdf", "broken.pdf", "picture.png"])
      expect(message.text).toContain(name)
    expect(message.subject).toContain("2 of 4")
    const links = message.text?.match(/https:\/\/p\.test\/shared\/[\w.-]+/g) ?? []
    expect(links.length).toBe(2)
    const shown = await world.ask("GET", new URL(links[0]!).pathname, anyId("nobody"))
    expect([shown.status, shown.text.includes("Page number 2")]).toEqual([200, true])
    await lapse()
    expect(await sendDue()).toBe(0)
    expect(world.post.requests.length).toBe(1)
  })

  const ended = async (owner: CustomerId) => {
    const ids = [await uploaded(owner), await uploaded(owner)]
    const { bulkId } = await start(owner, ids)
    for (const id of ids) await world.ask("POST", `/api/v1/files/${id}/cancel`, owner)
    return { bulkId, ids }
  }

  it("is the same bytes after a crash between sending and noting it, so that its key settles it", async () => {
    const { ids } = await ended(await world.customer())
    // One of its files is a result with a link.
    await sql(
      (on) => on`update large_conversion_jobs set status = 'completed' where file_id = ${ids[0]!}::uuid`
    )
    const claim = { lease: LEASE, maxAttempts: 20 }
    world.post.send = () => Effect.die(new Error("killed"))
    await sendDue().catch(() => undefined)
    expect(await world.run(BulkOrders.use((orders) => orders.claimMessage(claim)))).toBeUndefined()
    await lapse()
    world.post.send = () => Effect.succeed(sent)
    expect(await world.run(BulkMessages.use(({ sendDue: due }) => later("1 hour")(due)))).toBe(1)
    const [first, second] = world.post.requests
    expect(first?.text).toContain("https://p.test/shared/")
    expect(second).toEqual(first)
    await lapse()
    expect(await sendDue()).toBe(0)
  })

  it("is retried only where nobody accepted it", async () => {
    const failed = (kind: "rejected" | "unavailable" | "ambiguous") =>
      Effect.succeed({
        ...sent,
        ok: false,
        status: "failed",
        error: "e",
        kind,
        providerMessageId: null
      } as const)
    const suppressed = Effect.succeed({
      ...sent,
      ok: false,
      status: "suppressed",
      error: "e",
      providerMessageId: null
    } as const)
    for (const [outcome, again] of [
      [failed("unavailable"), true],
      [Effect.fail(new IdempotencyInProgress({ idempotencyKey: "k" })), true],
      [failed("ambiguous"), false],
      [failed("rejected"), false],
      [suppressed, false],
      [Effect.fail(new IdempotencyConflict({ idempotencyKey: "k" })), false]
    ] as const) {
      world.post.requests.length = 0
      await ended(await world.customer())
      world.post.send = () => outcome
      expect(await sendDue()).toBe(again ? 0 : 1)
      await lapse()
      world.post.send = () => Effect.succeed(sent)
      expect([again, await sendDue()]).toEqual([again, again ? 1 : 0])
      expect(world.post.requests.length).toBe(again ? 2 : 1)
    }
  })

  it("goes to nobody whose account was closed; names no deleted file", async () => {
    const closed = await world.customer()
    await ended(closed)
    await sql((on) => on`select * from close_account(${closed}::uuid)`)
    expect(await sendDue()).toBe(1)
    expect(world.post.requests).toEqual([])
    const owner = await world.customer()
    const id = await uploaded(owner, PDF, "private.pdf")
    await start(owner, [id])
    await world.ask("DELETE", `/api/v1/files/${id}`, owner)
    expect(await sendDue()).toBe(1)
    expect(world.post.requests.length).toBe(1)
    expect(world.post.requests[0]?.text).not.toContain("private.pdf")
  })

  it("whatever ends when, each order gets exactly one message, after its last job", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
        fc.infiniteStream(fc.nat(100)),
        async (sizes, choices) => {
          world.post.requests.length = 0
          const owner = await world.customer()
          const live: Array<{ bulkId: string; jobId: JobId }> = []
          for (const size of sizes) {
            const ids: Array<string> = []
            for (let n = 0; n < size; n++) ids.push(await uploaded(owner, pngOf()))
            const pdf = await uploaded(owner)
            const { bulkId, jobs } = await start(owner, [...ids, pdf])
            for (const { id } of jobs) live.push({ bulkId, jobId: id })
          }
          await world.execute()
          while (live.length > 0) {
            const [one] = live.splice((choices.next().value ?? 0) % live.length, 1)
            // A failure, of a job or of what has none.
            await sql(
              (on) =>
                on`select fail_conversion_job(${one!.jobId}::uuid, 'x'), release_hold(${one!.jobId}::uuid, 'failed')`
            )
            const open = live.some(({ bulkId }) => bulkId === one!.bulkId)
            expect(await sendDue()).toBe(open ? 0 : 1)
          }
          expect(world.post.requests.length).toBe(sizes.length)
        }
      ),
      { numRuns: 3 }
    )
  })
})
