import { Effect, Stream } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import type { CustomerId } from "../../../../../src/domain/ids.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

const withResult = async (owner: CustomerId, name: string): Promise<string> => {
  const id: string = (await world.upload(owner, numbered(1), name)).json.file.id
  await world.run(
    Effect.gen(function* () {
      const key = `jobs/${anyId()}/result-1.html`
      yield* FileObjects.use((objects) =>
        objects.put(key, Stream.make(Buffer.from(`<p>${name}`)), { contentType: "x" })
      )
      yield* WriteSql.use(
        (sql) => sql`update files set status = 'completed', result_key = ${key} where id = ${id}::uuid`
      )
    })
  )
  return id
}

it("results of many files are one archive for their owner: all or none", async () => {
  const [owner, other] = [await world.customer(), await world.customer()]
  const ids = [await withResult(owner, "Same.pdf"), await withResult(owner, "Same.pdf")]
  const get = (query: string, customer = owner) => world.ask("GET", `/api/v1/results?ids=${query}`, customer)
  const archive = await get(ids.join(","))
  expect([archive.status, archive.headers["content-type"]]).toEqual([200, "application/zip"])
  expect(archive.headers["content-disposition"]).toBe('attachment; filename="results.zip"')
  const again = (etag: string | undefined) =>
    world.ask("GET", `/api/v1/results?ids=${ids.join(",")}`, owner, undefined, { "if-none-match": `${etag}` })
  expect((await again(archive.headers["etag"])).status).toBe(304)
  expect((await again('"other"')).text).toBe(archive.text)
  for (const name of ["Same.html", "Same (2).html"]) expect(archive.text).toContain(name)

  expect((await get(ids.join(","), other)).json.code).toBe("FILE_NOT_FOUND")
  const bare = (await world.upload(owner, numbered(1), "Bare.pdf")).json.file.id
  expect((await get(`${ids[0]},${bare}`)).json.code).toBe("RESULT_NOT_READY")
  for (const wrong of ["", "x", "%00", ",,,", "'%20or%20true"])
    expect((await get(`${ids[0]},${wrong}`)).status).toBeGreaterThanOrEqual(400)
  expect((await get(Array.from({ length: 201 }, () => anyId()).join(","))).status).toBe(400)
  expect((await world.ask("GET", "/api/v1/results", owner)).status).toBe(400)
})
