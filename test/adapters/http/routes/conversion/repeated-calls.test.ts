import type { Effect } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import type { CustomerId } from "../../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles(2)
})
afterAll(() => world.stop())

const PDF = numbered(2)
const keyed = (key: string = anyId()) => ({ "idempotency-key": key })
const uploaded = async (owner: CustomerId): Promise<string> => (await world.upload(owner, PDF)).json.file.id
const convert = (owner: CustomerId, fileId: string, key?: string, body?: object) =>
  world.ask("POST", `/api/v1/files/${fileId}/convert`, owner, body, key === undefined ? {} : keyed(key))

const sql = <A extends object>(use: (sql: WriteSql["Service"]) => Effect.Effect<ReadonlyArray<A>, unknown>) =>
  world.run(WriteSql.use(use))

/** What an owner has set aside or paid, and for how many pieces of work. */
const taken = async (owner: CustomerId) =>
  (
    await sql<{ credits: number; works: number }>(
      (on) => on`select coalesce(sum(credits), 0)::int as credits, count(*)::int as works from funds_holds
        where customer_id = ${owner}::uuid and state in ('held', 'settled')`
    )
  )[0]

/** The processes that answered died before they could keep an answer. */
const answersLost = (owner: CustomerId) =>
  sql(
    (on) => on`update request_keys set answer = null, held_until = now() where customer_id = ${owner}::uuid`
  )

describe("HTTP-16: a call under one Idempotency-Key", () => {
  it("is charged once, however often it is repeated, and has one answer", async () => {
    const owner = await world.customer()
    const fileId = await uploaded(owner)
    const key = anyId()
    const first = await convert(owner, fileId, key)
    expect(first.status).toBe(202)
    await world.work()
    for (const again of [await convert(owner, fileId, key), await convert(owner, fileId.toLowerCase(), key)])
      expect([again.status, again.json]).toEqual([202, first.json])
    expect(await taken(owner)).toEqual({ credits: 2, works: 1 })
    const anew = await convert(owner, fileId, anyId())
    expect(anew.json.job.id).not.toBe(first.json.job.id)
    await world.work()
    expect((await convert(owner, fileId, key)).json).toEqual(first.json)
    expect(await taken(owner)).toEqual({ credits: 4, works: 2 })
  })

  it("is found by what it made where no answer was kept, whatever came after it", async () => {
    const owner = await world.customer()
    const fileId = await uploaded(owner)
    const key = anyId()
    const first = await convert(owner, fileId, key)
    await answersLost(owner)
    expect((await convert(owner, fileId, key)).json.job.id).toBe(first.json.job.id)
    await world.ask("POST", `/api/v1/files/${fileId}/cancel`, owner)
    await answersLost(owner)
    expect((await convert(owner, fileId, key)).json.job.id).toBe(first.json.job.id)
    await convert(owner, fileId)
    await world.work()
    await answersLost(owner)
    expect((await convert(owner, fileId, key)).json.job.id).toBe(first.json.job.id)
    expect(await taken(owner)).toEqual({ credits: 2, works: 1 })
  })

  it("is one call, however many come at once, at whichever process", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 8 }), async (servers) => {
        const owner = await world.customer()
        const fileId = await uploaded(owner)
        const key = anyId()
        const ask = (second: boolean) =>
          fetch(`${world.servers[second ? 1 : 0]!.url}/api/v1/files/${fileId}/convert`, {
            method: "POST",
            headers: { ...world.as(owner), ...keyed(key) }
          }).then(async (answer) => ({ status: answer.status, json: await answer.json() }))
        const answers = await Promise.all(servers.map(ask))
        const last = await ask(false)
        // An attempt that waits too long for the answer gets a 409.
        for (const answer of answers.filter(({ json }) => json.code !== "IDEMPOTENCY_IN_PROGRESS"))
          expect(answer).toEqual({ status: 202, json: last.json })
        expect(await taken(owner)).toEqual({ credits: 2, works: 1 })
      }),
      { numRuns: 6 }
    )
  })

  it("is another call of another account; another request under the key is a conflict", async () => {
    const [ann, ben] = [await world.customer(), await world.customer()]
    const [a, b, b2] = [await uploaded(ann), await uploaded(ben), await uploaded(ben)]
    const key = anyId()
    expect((await convert(ann, a, key)).status).toBe(202)
    expect((await convert(ben, b, key)).status).toBe(202)
    for (const other of [
      await convert(ben, b2, key),
      await convert(ben, b, key, { options: { highFidelity: true } }),
      await world.ask("POST", `/api/v1/files/${b}/preserve-formatting`, ben, undefined, keyed(key)),
      await world.upload(ben, PDF, "a.pdf", keyed(key))
    ])
      expect([other.status, other.json.code]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
    expect(await taken(ben)).toEqual({ credits: 2, works: 1 })
  })

  it("that was refused leaves the key free", async () => {
    const owner = await world.customer(3)
    const [one, two] = [await uploaded(owner), await uploaded(owner)]
    await convert(owner, one)
    const key = anyId()
    expect((await convert(owner, two, key)).status).toBe(402)
    expect((await convert(owner, anyId(), key)).status).toBe(404)
    await world.ask("POST", `/api/v1/files/${one}/cancel`, owner)
    expect((await convert(owner, two, key)).status).toBe(202)
  })

  it("needs a key of 1 to 255 visible ASCII characters", async () => {
    const owner = await world.customer()
    const fileId = await uploaded(owner)
    for (const key of ["a b", "k".repeat(256), "\u00fc"]) {
      const answer = await convert(owner, fileId, key)
      expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
      expect(answer.json.detail).toContain("visible ASCII")
    }
    expect((await convert(owner, fileId, "k".repeat(255))).status).toBe(202)
  })
})

describe("HTTP-16: under its key", () => {
  it("an upload enters one file, and other bytes or another name are a conflict", async () => {
    const owner = await world.customer()
    const before = (await world.objects()).length
    const key = anyId()
    const first = await world.upload(owner, PDF, "a.pdf", keyed(key))
    expect(first.status).toBe(201)
    const again = await world.upload(owner, PDF, "a.pdf", keyed(key))
    expect([again.status, again.json]).toEqual([201, first.json])
    for (const [bytes, name] of [
      [numbered(3), "a.pdf"],
      [PDF, "b.pdf"]
    ] as const)
      expect((await world.upload(owner, bytes, name, keyed(key))).json.code).toBe("IDEMPOTENCY_CONFLICT")
    await answersLost(owner)
    expect((await world.upload(owner, numbered(3), "a.pdf", keyed(key))).json.code).toBe(
      "IDEMPOTENCY_CONFLICT"
    )
    expect((await world.upload(owner, PDF, "a.pdf", keyed(key))).json).toEqual(first.json)
    expect((await world.ask("GET", "/api/files", owner)).json.files).toHaveLength(1)
    expect((await world.objects()).length).toBe(before + 1)
  })

  it("an uploaded file is converted as any other", async () => {
    const owner = await world.customer()
    const { id } = (await world.upload(owner, PDF, "a.pdf", keyed())).json.file
    await convert(owner, id)
    await world.work()
    expect((await world.ask("GET", `/api/v1/files/${id}`, owner)).json.file.status).toBe("completed")
  })

  it("an upload whose process died while it was stored is entered by the next, with its own bytes", async () => {
    const owner = await world.customer()
    const key = anyId()
    const { json } = await world.upload(owner, PDF, "a.pdf", keyed(key))
    await sql((on) => on`delete from files where id = ${json.file.id}::uuid`)
    await answersLost(owner)
    const again = await world.upload(owner, PDF, "a.pdf", keyed(key))
    expect(again.json.file.id).toBe(json.file.id)
    const [row] = await sql<{ object_key: string }>(
      (on) => on`select object_key from files where id = ${json.file.id}::uuid`
    )
    expect(await world.objects()).toContain(row!.object_key.split("/").at(-1))
  })

  it("a refused upload leaves nothing, and its key is free", async () => {
    const owner = await world.customer()
    const before = (await world.objects()).length
    const key = anyId()
    expect((await world.upload(owner, Buffer.from("no document"), "a.pdf", keyed(key))).status).toBe(415)
    expect((await world.objects()).length).toBe(before)
    expect((await world.upload(owner, PDF, "a.pdf", keyed(key))).status).toBe(201)
  })

  it("a bulk order is placed once", async () => {
    const owner = await world.customer()
    const items = [{ fileId: await uploaded(owner) }, { fileId: await uploaded(owner) }]
    const key = anyId()
    const order = (body: object) => world.ask("POST", "/api/v1/bulk", owner, body, keyed(key))
    const first = await order({ items, reference: "March" })
    expect([first.status, first.json.reference]).toEqual([202, "March"])
    expect((await order({ items, reference: "March" })).json).toEqual(first.json)
    await answersLost(owner)
    const { bulkId, jobs } = (await order({ items, reference: "March" })).json
    expect([bulkId, jobs.map(({ id }: { id: string }) => id)]).toEqual([
      first.json.bulkId,
      first.json.jobs.map(({ id }: { id: string }) => id)
    ])
    expect((await order({ items })).json.code).toBe("IDEMPOTENCY_CONFLICT")
    expect(await taken(owner)).toEqual({ credits: 4, works: 2 })
  })

  it("a layout-true result is ordered once, and the free reflow is chosen once", async () => {
    const owner = await world.customer()
    const fileId = await uploaded(owner)
    const key = anyId()
    const ask = () =>
      world.ask("POST", `/api/v1/files/${fileId}/preserve-formatting`, owner, undefined, keyed(key))
    const first = await ask()
    expect(first.status).toBe(202)
    await answersLost(owner)
    expect((await ask()).json).toEqual(first.json)
    expect(await taken(owner)).toEqual({ credits: 2, works: 1 })
    const flyerId = first.json.flyerJob.id
    await sql(
      (on) => on`update flyer_jobs set status = 'completed', result_key = 'k' where id = ${flyerId}::uuid`
    )
    const reflow = (name: string) =>
      world.ask("POST", `/api/v1/flyer-jobs/${flyerId}/reflow`, owner, undefined, keyed(name))
    const chosen = await reflow("reflow")
    expect(chosen.status).toBe(202)
    await answersLost(owner)
    expect((await reflow("reflow")).json).toEqual(chosen.json)
    expect((await reflow("another")).json.code).toBe("ALREADY_RESOLVED")
  })

  it("a share mails each recipient under a key of its own, the same at each attempt", async () => {
    const owner = await world.customer()
    const fileId = await uploaded(owner)
    await convert(owner, fileId)
    await world.work()
    const body = { recipients: ["b@x.test", "a@x.test"] }
    const share = (name: string) =>
      world.ask("POST", `/api/v1/files/${fileId}/share`, owner, body, keyed(name))
    const keys = () =>
      world.post.requests
        .splice(0)
        .map(({ idempotencyKey, to }) => `${String(to)} ${idempotencyKey}`)
        .sort()
    world.post.requests.length = 0
    const first = await share("share")
    expect([first.status, first.json]).toEqual([200, { recipients: 2, unsentRecipients: [] }])
    const sent = keys()
    expect(new Set(sent).size).toBe(2)
    expect((await share("share")).json).toEqual(first.json)
    expect(keys()).toEqual([])
    await answersLost(owner)
    expect((await share("share")).json).toEqual(first.json)
    expect(keys()).toEqual(sent)
  })
})

describe("HTTP-17: a reference of the caller's own", () => {
  it("stays with file and order, and lists them", async () => {
    const owner = await world.customer()
    const upload = (query: string) =>
      world.ask("POST", `/api/v1/files?name=a.pdf${query}`, owner, PDF, {
        "content-type": "application/octet-stream"
      })
    const own = (await upload("&reference=case%2017")).json.file
    const plain = (await upload("")).json.file
    expect([own.reference, plain.reference]).toEqual(["case 17", null])
    await world.ask("POST", "/api/v1/bulk", owner, { items: [{ fileId: plain.id }], reference: "case 17" })
    const ids = async (query: string, who = owner) =>
      (await world.ask("GET", `/api/files${query}`, who)).json.files.map(({ id }: { id: string }) => id)
    expect(await ids("?reference=case%2017")).toEqual([plain.id, own.id])
    expect(await ids("?reference=other")).toEqual([])
    expect(await ids("?reference=")).toEqual([plain.id, own.id])
    expect(await ids("?reference=case%2017", await world.customer())).toEqual([])
    expect((await upload(`&reference=${"r".repeat(201)}`)).status).toBe(400)
  })

  it("is gone with its file", async () => {
    const owner = await world.customer()
    const { json } = await world.ask("POST", "/api/v1/files?name=a.pdf&reference=secret", owner, PDF, {
      "content-type": "application/octet-stream"
    })
    await world.run(ConversionStore.use((store) => store.deleteFile(json.file.id, owner)))
    const [row] = await sql<{ reference: string | null }>(
      (on) => on`select reference from files where id = ${json.file.id}::uuid`
    )
    expect(row).toEqual({ reference: null })
  })
})
