import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { CustomerId, FileId } from "../../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { type FilesWorld, LEASE, startFiles } from "./files-world.ts"

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

/** A file of the owner's whose layout-true result is there. */
const made = async (owner: CustomerId): Promise<{ readonly fileId: FileId; readonly id: string }> => {
  const fileId: FileId = (await world.upload(owner, numbered(2))).json.file.id
  const { json } = await world.ask("POST", `/api/v1/files/${fileId}/preserve-formatting`, owner)
  await world.run(
    ConversionStore.use((store) =>
      Effect.gen(function* () {
        const claim = yield* store.claimFlyer(anyId(), LEASE)
        if (claim === undefined) return yield* Effect.die(new Error("nothing to claim"))
        return yield* store.finishFlyer(claim, "k", [])
      })
    )
  )
  return { fileId, id: json.flyerJob.id }
}

const reflow = (owner: CustomerId, id: string) => world.ask("POST", `/api/v1/flyer-jobs/${id}/reflow`, owner)

describe("POST /api/v1/flyer-jobs/:id/reflow", () => {
  it("is taken once: 409 ALREADY_RESOLVED, until that reflow is cancelled", async () => {
    const owner = await world.customer()
    const { fileId, id } = await made(owner)
    expect((await reflow(owner, id)).status).toBe(202)
    const again = await reflow(owner, id)
    expect([again.status, again.json.code]).toEqual([409, "ALREADY_RESOLVED"])
    await world.execute()
    expect((await world.ask("POST", `/api/v1/files/${fileId}/cancel`, owner)).status).toBe(200)
    expect((await reflow(owner, id)).status).toBe(202)
  })

  it("404 for a flyer job that is none of the caller's", async () => {
    const { id } = await made(await world.customer())
    const answer = await reflow(await world.customer(), id)
    expect(answer.status).toBe(404)
  })
})
