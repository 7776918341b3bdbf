import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { CustomerId } from "../../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

const PDF = numbered(2)

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

const uploaded = async (owner: CustomerId, name = "a.pdf"): Promise<string> =>
  (await world.upload(owner, PDF, name)).json.file.id
const convert = async (owner: CustomerId, id: string): Promise<string> =>
  (await world.ask("POST", `/api/v1/files/${id}/convert`, owner)).json.job.id
const get = (owner: CustomerId, path: string) => world.ask("GET", path, owner)
const timed = async <A>(work: Promise<A>) => {
  const began = performance.now()
  return { answer: await work, ms: performance.now() - began }
}

describe("GET /api/v1/jobs/:jobId (DOC-45)", () => {
  it("is the conversion's state; the file says how its newest one ended", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    expect((await get(owner, `/api/v1/files/${id}`)).json.file.lastJob).toBeNull()
    const job = await convert(owner, id)
    expect((await get(owner, `/api/v1/jobs/${job}`)).json.job).toEqual({
      id: job,
      fileId: id,
      bulkId: null,
      status: "pending",
      error: null,
      endedAt: null
    })
    await world.ask("POST", `/api/v1/files/${id}/cancel`, owner)
    const { file } = (await get(owner, `/api/v1/files/${id}`)).json
    expect([file.status, file.lastJob.id, file.lastJob.status]).toEqual(["uploaded", job, "cancelled"])
    expect((await get(owner, `/api/v1/jobs/${job}`)).json.job.status).toBe("cancelled")
  })

  it("404 for somebody else's, for a deleted file's, and for anything else", async () => {
    const [owner, stranger] = [await world.customer(), await world.customer()]
    const id = await uploaded(owner)
    const job = await convert(owner, id)
    const theirs = await get(stranger, `/api/v1/jobs/${job}?wait=60`)
    expect([theirs.status, theirs.json.code]).toEqual([404, "NOT_FOUND"])
    for (const other of [anyId(), "x", "%00"])
      expect((await get(owner, `/api/v1/jobs/${other}`)).status).toBe(404)
    await world.ask("DELETE", `/api/v1/files/${id}`, owner)
    expect((await get(owner, `/api/v1/jobs/${job}`)).status).toBe(404)
  })
})

describe("?wait= (DOC-45)", () => {
  it("answers as soon as the conversion has ended, for file, job and bulk order alike", async () => {
    const owner = await world.customer()
    const [a, b] = [await uploaded(owner), await uploaded(owner)]
    const { bulkId, jobs } = (
      await world.ask("POST", "/api/v1/bulk", owner, { items: [{ fileId: a }, { fileId: b }] })
    ).json
    const job = jobs[0].id as string
    const waiting = Promise.all([
      timed(get(owner, `/api/v1/files/${a}?wait=60`)),
      timed(get(owner, `/api/v1/jobs/${job}?wait=60`)),
      timed(get(owner, `/api/v1/bulk/${bulkId}?wait=60`))
    ])
    await world.work()
    const [file, one, bulk] = await waiting
    expect([file.answer.json.file.status, one.answer.json.job.status]).toEqual(["completed", "completed"])
    expect(bulk.answer.json.bulk.counts).toEqual({
      waiting: 0,
      processing: 0,
      completed: 2,
      failed: 0,
      cancelled: 0
    })
    for (const { ms } of [file, one, bulk]) expect(ms).toBeLessThan(40_000)
  })

  it("answers with the state after the time, at once where nothing is under way, and asks the store once a look", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    const idle = await timed(get(owner, `/api/v1/files/${id}?wait=60`))
    expect([idle.answer.json.file.status, idle.ms < 10_000]).toEqual(["uploaded", true])
    const job = await convert(owner, id)
    const before = world.looks()
    const [late] = await Promise.all([
      timed(get(owner, `/api/v1/jobs/${job}?wait=2`)),
      ...Array.from({ length: 20 }, () => get(owner, `/api/v1/files/${id}?wait=2`))
    ])
    expect([late.answer.json.job.status, late.ms >= 1900]).toEqual(["pending", true])
    // Twenty-one callers, one query for all of them, twice a second.
    expect(world.looks() - before).toBeLessThan(12)
  })

  it("400 for a time that is none", async () => {
    const owner = await world.customer()
    const id = await uploaded(owner)
    for (const wait of ["61", "-1", "x", "1.5"])
      expect((await get(owner, `/api/v1/files/${id}?wait=${wait}`)).json.code).toBe("INVALID_REQUEST")
    expect((await get(owner, `/api/v1/files/${id}?wait=`)).status).toBe(200)
  })
})

describe("GET /api/v1/bulk/:bulkId (DOC-51)", () => {
  it("counts its conversions by state, and pages through its files", async () => {
    const owner = await world.customer()
    const ids = [await uploaded(owner), await uploaded(owner), await uploaded(owner)]
    await uploaded(owner)
    const body = { items: ids.map((fileId) => ({ fileId })), reference: "order-17" }
    const { bulkId, jobs } = (await world.ask("POST", "/api/v1/bulk", owner, body)).json
    await world.execute()
    await world.ask("POST", `/api/v1/files/${ids[0]}/cancel`, owner)
    await world.run(ConversionStore.use((store) => store.failJob(jobs[1].id, "no")))
    const order = (await get(owner, `/api/v1/bulk/${bulkId}?limit=2`)).json
    expect(order.bulk).toMatchObject({ id: bulkId, reference: "order-17", ended: false })
    expect(order.bulk.counts).toEqual({ waiting: 1, processing: 0, completed: 0, failed: 1, cancelled: 1 })
    const rest = (await get(owner, `/api/v1/bulk/${bulkId}?limit=2&cursor=${order.nextCursor}`)).json
    const files = [...order.files, ...rest.files] as ReadonlyArray<{ readonly id: string }>
    expect(files.map(({ id }) => id)).toEqual([...ids].reverse())
    expect(rest.nextCursor).toBeNull()
    const stranger = await world.customer()
    const refused = await get(stranger, `/api/v1/bulk/${bulkId}`)
    expect([refused.status, refused.json.code]).toEqual([404, "NOT_FOUND"])
    expect((await get(owner, "/api/v1/bulk/x")).status).toBe(404)
  })
})

describe("GET /api/v1/files (DOC-45)", () => {
  it("is the list of /api/files, restricted by status, name and day", async () => {
    const owner = await world.customer()
    const [a] = [await uploaded(owner, "Rivers.pdf"), await uploaded(owner, "Lakes.pdf")]
    await convert(owner, a)
    const names = async (query: string) =>
      (
        (await get(owner, `/api/v1/files${query}`)).json.files as ReadonlyArray<{ readonly name: string }>
      ).map(({ name }) => name)
    expect(await names("")).toEqual(["Lakes.pdf", "Rivers.pdf"])
    expect(await names("?name=RIV&status=")).toEqual(["Rivers.pdf"])
    expect(await names("?status=uploaded")).toEqual(["Lakes.pdf"])
    expect(await names("?since=2999-01-01")).toEqual([])
    expect((await get(owner, "/api/files?name=lake")).json.files).toHaveLength(1)
    for (const query of ["?status=done", "?since=today", "?until=2026-13-01"])
      expect((await get(owner, `/api/v1/files${query}`)).json.code).toBe("INVALID_REQUEST")
  })
})
