import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import { payloadOf, SHARE_SECONDS, subjectOf } from "../../../../../src/application/conversion/share-token.ts"
import type { CustomerId } from "../../../../../src/domain/ids.ts"
import { SharedFiles } from "../../../../../src/ports/conversion/shared-files.ts"
import { FileObjects } from "../../../../../src/ports/object-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { call, sent } from "../../harness.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

const HTML = "<!doctype html><title>t</title><p>Shared words"

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())
beforeEach(() => {
  world.post.requests.length = 0
  world.post.send = () => Effect.succeed(sent)
})

const withResult = async (owner: CustomerId): Promise<string> => {
  const id: string = (await world.upload(owner, numbered(1), "Report.pdf")).json.file.id
  await world.run(
    Effect.gen(function* () {
      const key = `jobs/${anyId()}/result-1.html`
      yield* FileObjects.use((objects) =>
        objects.put(key, Stream.make(Buffer.from(HTML)), { contentType: "x" })
      )
      yield* WriteSql.use(
        (sql) => sql`update files set status = 'completed', result_key = ${key} where id = ${id}::uuid`
      )
    })
  )
  return id
}

const share = (owner: CustomerId, id: string, body: unknown) =>
  world.ask("POST", `/api/v1/files/${id}/share`, owner, body)

const open = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  call(world.server, path, { method, headers })

/** The path of the link in the newest mail. */
const linkOf = (at = -1): string =>
  /\/shared\/[\w.-]+/.exec(world.post.requests.at(at)?.text ?? "")?.[0] ?? "none"

describe("/api/v1/files/:fileId/shares", () => {
  it("lists whom a file is shared with, for its owner alone, and stops every link", async () => {
    const [owner, other] = [await world.customer(), await world.customer()]
    const id = await withResult(owner)
    await share(owner, id, { recipients: ["Bob <bob@x.test>"] })
    const link = linkOf()
    const path = `/api/v1/files/${id}/shares`
    const { json } = await world.ask("GET", path, owner)
    expect(json.shares).toEqual([
      { email: "bob@x.test", sharedAt: expect.any(String), expiresAt: expect.any(String) }
    ])
    expect((await open(link)).status).toBe(200)
    for (const method of ["GET", "DELETE"]) {
      expect((await world.ask(method, path, other)).json.code).toBe("FILE_NOT_FOUND")
      expect((await world.ask(method, "/api/v1/files/x/shares", owner)).status).toBe(404)
    }
    expect((await open(link)).status).toBe(200)
    expect((await world.ask("DELETE", path, owner)).status).toBe(204)
    expect((await open(link)).status).toBe(404)
    expect((await world.ask("GET", path, owner)).json.shares).toEqual([])
    await share(owner, id, { recipients: ["bob@x.test"] })
    expect((await open(linkOf())).status).toBe(200)
  })
})

describe("DELETE /api/v1/files/:fileId/shares/:email", () => {
  it("stops one recipient's link alone, for the owner of the file", async () => {
    const [owner, other] = [await world.customer(), await world.customer()]
    const id = await withResult(owner)
    await share(owner, id, { recipients: ["ann+x@x.test", "bob@x.test"] })
    const linkTo = (to: string) => linkOf(world.post.requests.findIndex((request) => request.to === to))
    const [ann, bob] = [linkTo("ann+x@x.test"), linkTo("bob@x.test")]
    const path = `/api/v1/files/${id}/shares/${encodeURIComponent("ann+x@x.test")}`
    expect((await world.ask("DELETE", path, other)).json.code).toBe("FILE_NOT_FOUND")
    for (const wrong of ["nobody@x.test", "%00", "x".repeat(900)])
      expect((await world.ask("DELETE", `/api/v1/files/${id}/shares/${wrong}`, owner)).json.code).toBe(
        "NOT_FOUND"
      )
    expect([(await open(ann)).status, (await open(bob)).status]).toEqual([200, 200])
    expect((await world.ask("DELETE", path, owner)).status).toBe(204)
    expect([(await open(ann)).status, (await open(bob)).status]).toEqual([404, 200])
    expect((await world.ask("DELETE", path, owner)).status).toBe(404)
  })
})

describe("POST /api/v1/files/:fileId/share", () => {
  it("mails each recipient a link of their own mail, once; counts those that went out, lists the others", async () => {
    const owner = await world.customer()
    const id = await withResult(owner)
    world.post.send = (request) =>
      Effect.succeed(
        request.to === "bad@x.test"
          ? { ...sent, ok: false, status: "failed", error: "no", kind: "rejected", providerMessageId: null }
          : sent
      )
    const answer = await share(owner, id, {
      recipients: ["Bob <Bob@x.test>", "bad@x.test", "bob@X.test", " cy@x.test "],
      message: "Look"
    })
    expect([answer.status, answer.json]).toEqual([200, { recipients: 2, unsentRecipients: ["bad@x.test"] }])
    expect(world.post.requests.map(({ to }) => String(to)).sort()).toEqual([
      "Bob@x.test",
      "bad@x.test",
      "cy@x.test"
    ])
    for (const { category, source, text } of world.post.requests) {
      expect([category, source]).toEqual(["transactional", "api:share"])
      expect(text).toContain("Ann")
      expect(text).toContain("Look")
      expect(text).toContain("https://p.test/shared/")
    }
    const shown = await open(linkOf())
    expect([shown.status, shown.text]).toEqual([200, HTML])
  })

  it("400 that names the recipient; 404 before there is a result; nothing is sent", async () => {
    const owner = await world.customer()
    const id = await withResult(owner)
    for (const [body, path] of [
      [{ recipients: [] }, "recipients"],
      [{ recipients: ["a@x.test", "nobody"] }, "recipients.1"],
      [{ recipients: ["a@x.test\r\nBcc: b@x.test"] }, "recipients.0"],
      [{ recipients: ["a@x.test, b@x.test"] }, "recipients.0"],
      [{ recipients: Array.from({ length: 51 }, (_, n) => `r${n}@x.test`) }, "recipients"],
      [{ recipients: ["a@x.test"], message: "x".repeat(5001) }, "message"],
      [{}, "recipients"],
      ["{", ""]
    ] as const) {
      const answer = await share(owner, id, body)
      expect([answer.status, answer.json.code, answer.json.issues[0].path]).toEqual([
        400,
        "INVALID_REQUEST",
        path
      ])
    }
    const fresh = (await world.upload(owner, numbered(1))).json.file.id
    const early = await share(owner, fresh, { recipients: ["a@x.test"] })
    expect([early.status, early.json.code]).toEqual([404, "RESULT_NOT_READY"])
    expect(world.post.requests).toEqual([])
  })

  it("429 once a customer's shares are 200 mails a day; another customer's are not counted", async () => {
    const [owner, other] = [await world.customer(), await world.customer()]
    const id = await withResult(owner)
    const recipients = Array.from({ length: 50 }, (_, n) => `r${n}@x.test`)
    for (let round = 0; round < 4; round++) expect((await share(owner, id, { recipients })).status).toBe(200)
    const answer = await share(owner, id, { recipients })
    expect([answer.status, answer.json.code]).toEqual([429, "RATE_LIMITED"])
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0)
    const theirs = await withResult(other)
    expect((await share(other, theirs, { recipients })).status).toBe(200)
    expect(world.post.requests.length).toBe(250)
  })
})

describe("GET /shared/:token", () => {
  it("shows the result under a sandbox, uncached and unindexed, to anybody, by HEAD too", async () => {
    const owner = await world.customer()
    await share(owner, await withResult(owner), { recipients: ["a@x.test"] })
    for (const method of ["GET", "HEAD"]) {
      const answer = await open(linkOf(), {}, method)
      expect([answer.status, answer.text]).toEqual([200, method === "GET" ? HTML : ""])
      expect(answer.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-store",
        "x-robots-tag": "noindex, nofollow",
        "referrer-policy": "no-referrer"
      })
      expect(answer.headers["content-security-policy"]).toMatch(/^sandbox; default-src 'none';/)
    }
  })

  it("404 once the file is deleted, its account closed, its object gone: a page for people, a problem for programs", async () => {
    const endings = [
      (owner: CustomerId, id: string) => world.ask("DELETE", `/api/v1/files/${id}`, owner),
      (owner: CustomerId) =>
        world.run(WriteSql.use((sql) => sql`select * from close_account(${owner}::uuid)`)),
      async (_: string, id: string) => {
        const [row] = await world.run(
          WriteSql.use(
            (sql) => sql<{ key: string }>`select result_key as key from files where id = ${id}::uuid`
          )
        )
        await world.run(FileObjects.use((objects) => objects.remove([row!.key])))
      }
    ]
    for (const end of endings) {
      const owner = await world.customer()
      const id = await withResult(owner)
      await share(owner, id, { recipients: ["a@x.test"] })
      const path = linkOf()
      expect((await open(path)).status).toBe(200)
      await end(owner, id)
      const problem = await open(path)
      expect([problem.status, problem.json?.code]).toEqual([404, "NOT_FOUND"])
      const page = await open(path, { accept: "text/html,*/*" })
      expect([page.status, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"])
      expect(page.text).toContain("<h1>This link does not work</h1>")
    }
  })

  it("404 past its two weeks", async () => {
    const owner = await world.customer()
    const id = await withResult(owner)
    const pathFrom = async (agoMs: number) => {
      const url = await world.run(
        SharedFiles.use((files) => files.urlFrom(anyId(id), new Date(Date.now() - agoMs)))
      )
      return new URL(url).pathname
    }
    expect((await open(await pathFrom((SHARE_SECONDS - 60) * 1000))).status).toBe(200)
    expect((await open(await pathFrom(SHARE_SECONDS * 1000))).status).toBe(404)
  })

  it("404 for every token that differs from ours, and for any text", async () => {
    const owner = await world.customer()
    await share(owner, await withResult(owner), { recipients: ["a@x.test"] })
    const token = linkOf().slice("/shared/".length)
    const changed = fc
      .tuple(fc.nat(token.length - 1), fc.constantFrom("A", "B", "Q", "g", "w", "0", "8", "-", "_"))
      .map(([at, char]) => token.slice(0, at) + char + token.slice(at + 1))
      .filter((other) => other !== token)
    const texts = fc.oneof(
      changed,
      fc.string({ minLength: 1, maxLength: 80 }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc.constantFrom(token.slice(1), `${token}A`, `${token}=`, token.toUpperCase(), "%00", "..")
    )
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const answer = await open(`/shared/${text}`)
        expect([404, 429]).toContain(answer.status)
      }),
      { numRuns: 60 }
    )
  })
})

describe("what a share token carries", () => {
  const subjects = fc.record({ fileId: fc.uuid().map(anyId), expiresAt: fc.nat({ max: 2 ** 48 - 1 }) })

  it("reads back as it was written", () =>
    fc.assert(
      fc.property(subjects, (subject) => {
        expect(subjectOf(payloadOf(subject))).toEqual(subject)
      })
    ))

  it("is total: any bytes are read or are none, and one subject has one form", () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const subject = subjectOf(bytes)
        expect(subject === undefined ? bytes.length : payloadOf(subject)).toEqual(
          subject === undefined ? bytes.length : bytes
        )
        expect(subject !== undefined).toBe(bytes.length === 22)
      })
    ))
})
