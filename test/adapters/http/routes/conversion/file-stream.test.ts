import { type ClientRequest, request } from "node:http"

import { assert, it as effectIt } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { Headers } from "effect/http"
import { TestClock } from "effect/testing"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"

import { MAX_STREAMS } from "../../../../../src/adapters/http/routes/conversion/files.ts"
import { eventStream } from "../../../../../src/adapters/http/server/responses.ts"
import { WriteSql } from "../../../../../src/adapters/postgres/client.ts"
import type { CustomerId, FileId } from "../../../../../src/domain/ids.ts"
import { ConversionStore } from "../../../../../src/ports/conversion/conversion-store.ts"
import { anyId } from "../../../../support/any-id.ts"
import { numbered } from "../../../../support/files/pdf-samples.ts"
import { LONGEST_WAIT_MS } from "../../../../support/time-limits.ts"
import type { Json } from "../../harness.ts"
import { type FilesWorld, startFiles } from "./files-world.ts"

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles(2)
})
afterAll(() => world.stop())

const open: Array<ClientRequest> = []
afterEach(() => {
  for (const one of open.splice(0)) one.destroy()
})

interface Watching {
  readonly events: ReadonlyArray<{ readonly event: string; readonly data: Json }>
  /** Of the events. */
  readonly ids: ReadonlyArray<string>
  readonly headers: () => Json
  readonly closed: () => boolean
  readonly leave: () => void
}

/** Watches a file on one of the servers. */
const watch = (fileId: FileId, owner: CustomerId, server = 0, lastId = "7"): Watching => {
  const events: Array<{ event: string; data: Json }> = []
  const ids: Array<string> = []
  let headers: Json
  let closed = false
  let text = ""
  const outgoing = request({
    host: "127.0.0.1",
    port: world.servers[server]!.port,
    path: `/api/convert/${fileId}/stream`,
    agent: false,
    headers: { ...world.as(owner), accept: "text/event-stream", "last-event-id": lastId }
  })
  open.push(outgoing)
  outgoing.on("error", () => undefined)
  outgoing.on("response", (incoming) => {
    headers = incoming.headers
    incoming.on("error", () => undefined)
    incoming.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8")
      const blocks = text.split("\n\n")
      text = blocks.pop() ?? ""
      for (const block of blocks) {
        const found = /^event: (\w+)\ndata: (.*)\nid: ([\w-]{3,20})$/.exec(block)
        if (found === null) continue
        events.push({ event: found[1]!, data: JSON.parse(found[2]!) })
        ids.push(found[3]!)
      }
    })
    incoming.on("end", () => (closed = true))
  })
  outgoing.end()
  return { events, ids, headers: () => headers, closed: () => closed, leave: () => outgoing.destroy() }
}

const until = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: LONGEST_WAIT_MS, interval: 20 })

const uploaded = async () => {
  const owner = await world.customer()
  const id: string = (await world.upload(owner, numbered(45))).json.file.id
  return { owner, id }
}

const convert = (owner: CustomerId, id: string) => world.ask("POST", `/api/v1/files/${id}/convert`, owner)

describe("GET /api/convert/:fileId/stream", () => {
  it("tells the state now first, each change after, and closes after the terminal one", async () => {
    const { id, owner } = await uploaded()
    const { job } = (await convert(owner, id)).json
    const watching = watch(anyId(id), owner)
    await until(() => expect(watching.events.length).toBe(1))
    expect(watching.events[0]).toEqual({
      event: "progress",
      data: {
        fileId: id,
        jobId: job.id,
        status: expect.stringMatching(/^(?:chunked_processing|pending)$/),
        phase: expect.stringMatching(/^Queued/),
        done: 0,
        total: 45,
        readyPages: []
      }
    })
    expect(watching.headers()).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no"
    })
    await world.work()
    await until(() => expect(watching.closed()).toBe(true))
    expect(watching.events.at(-1)).toEqual({
      event: "completed",
      data: {
        fileId: id,
        jobId: job.id,
        status: "completed",
        phase: null,
        done: 45,
        total: 45,
        readyPages: []
      }
    })
    const done = watching.events.map(({ data }) => data.done)
    expect(done).toEqual([...done].sort((a, b) => a - b))
    // A client that comes back later gets the end at once.
    const again = watch(anyId(id), owner)
    await until(() => expect(again.closed()).toBe(true))
    expect(again.events.map(({ event }) => event)).toEqual(["completed"])
    expect(again.ids).toEqual(watching.ids.slice(-1))
    // One that had the end gets none again, from whichever server.
    const over = watch(anyId(id), owner, 1, again.ids[0])
    await until(() => expect(over.closed()).toBe(true))
    expect([over.headers()["content-type"], over.events]).toEqual([undefined, []])
  })

  it("names pages as they are ready, to one that is opened late or again too; the file names the same", async () => {
    await world.work()
    const { id, owner } = await uploaded()
    await convert(owner, id)
    const watching = watch(anyId(id), owner)
    const ready = ({ events }: Watching) => events.at(-1)?.data.readyPages
    const named = async () => (await world.ask("GET", `/api/v1/files/${id}`, owner)).json.file.readyPages
    expect(await named()).toEqual([])
    for (const last of [20, 40]) {
      await world.workOnce()
      await until(() => expect(ready(watching)).toEqual([{ first: 1, last }]))
      expect(await named()).toEqual([{ first: 1, last }])
    }
    const late = watch(anyId(id), owner, 1)
    await until(() => expect(late.events.length).toBe(1))
    expect(ready(late)).toEqual([{ first: 1, last: 40 }])
    // Nothing has changed since that event.
    const again = watch(anyId(id), owner, 1, late.ids[0])
    await until(() => expect(again.headers()).toBeDefined())
    await world.work()
    await until(() => expect(again.closed()).toBe(true))
    expect(again.ids).not.toContain(late.ids[0])
    expect(ready(again)).toEqual([])
    expect(await named()).toBeUndefined()
  })

  it("goes on where it broke off, without loss, nothing twice", async () => {
    const { id, owner } = await uploaded()
    await convert(owner, id)
    const first = watch(anyId(id), owner)
    await until(() => expect(first.events.length).toBe(1))
    first.leave()
    const second = watch(anyId(id), owner, 1, first.ids[0])
    await until(() => expect(second.headers()).toBeDefined())
    await world.work()
    await until(() => expect(second.closed()).toBe(true))
    expect(second.events.at(-1)?.event).toBe("completed")
    expect(second.ids).not.toContain(first.ids[0])
    expect(new Set(second.ids).size).toBe(second.ids.length)
    // What changed while it was away comes at once.
    const third = watch(anyId(id), owner, 0, first.ids[0])
    await until(() => expect(third.closed()).toBe(true))
    expect(third.events.map(({ event }) => event)).toEqual(["completed"])
  })

  it("429 for an owner that holds all of its streams, until one is left; others have their own", async () => {
    const { id, owner } = await uploaded()
    const other = await uploaded()
    const held = Array.from({ length: MAX_STREAMS }, () => watch(anyId(id), owner))
    await until(() => expect(held.every(({ events }) => events.length === 1)).toBe(true))
    const refused = await world.ask("GET", `/api/convert/${id}/stream`, owner)
    expect([refused.status, refused.json.code]).toEqual([429, "RATE_LIMITED"])
    const others = watch(anyId(other.id), other.owner)
    await until(() => expect(others.events.length).toBe(1))
    held[0]!.leave()
    await until(async () => {
      const again = watch(anyId(id), owner)
      await until(() => expect(again.headers()).toBeDefined())
      again.leave()
      expect(again.headers()["content-type"]).toBe("text/event-stream")
    })
  })

  it("tells a cancel that another process took, to every watcher", async () => {
    const { id, owner } = await uploaded()
    await convert(owner, id)
    await world.execute()
    const watchers = [watch(anyId(id), owner, 0), watch(anyId(id), owner, 1), watch(anyId(id), owner, 1)]
    await until(() => {
      for (const { events } of watchers) expect(events.length).toBeGreaterThan(0)
    })
    await world.ask("POST", `/api/v1/files/${id}/cancel`, owner)
    await until(() => {
      for (const { closed } of watchers) expect(closed()).toBe(true)
    })
    for (const { events } of watchers) {
      expect(events.at(-1)).toMatchObject({ event: "cancelled", data: { fileId: id, status: "cancelled" } })
    }
  })

  it("tells why a conversion failed", async () => {
    const { id, owner } = await uploaded()
    const { job } = (await convert(owner, id)).json
    await world.execute()
    const watching = watch(anyId(id), owner)
    await until(() => expect(watching.events.length).toBeGreaterThan(0))
    await world.run(ConversionStore.use((store) => store.failJob(job.id, "It is upside down")))
    await until(() => expect(watching.closed()).toBe(true))
    expect(watching.events.at(-1)).toMatchObject({
      event: "failed",
      data: { status: "failed", phase: "It is upside down" }
    })
  })

  it("ends when the file is deleted", async () => {
    const { id, owner } = await uploaded()
    const watching = watch(anyId(id), owner)
    await until(() => expect(watching.events.length).toBe(1))
    expect(watching.events[0]?.event).toBe("progress")
    await world.ask("DELETE", `/api/v1/files/${id}`, owner)
    await until(() => expect(watching.closed()).toBe(true))
    expect(watching.events.length).toBe(1)
  })

  it("of a conversion whose file is deleted: cancelled with it", async () => {
    const { id, owner } = await uploaded()
    const { job } = (await convert(owner, id)).json
    const watching = watch(anyId(id), owner)
    await until(() => expect(watching.events.length).toBe(1))
    await world.ask("DELETE", `/api/v1/files/${id}`, owner)
    await until(() => expect(watching.closed()).toBe(true))
    expect(watching.events.at(-1)).toMatchObject({
      event: "cancelled",
      data: { fileId: id, jobId: job.id, status: "cancelled" }
    })
  })

  it("forgets a watcher that goes away, and no other", async () => {
    const { id, owner } = await uploaded()
    await convert(owner, id)
    const [first, second] = [watch(anyId(id), owner, 1), watch(anyId(id), owner, 1)]
    await until(() => expect(world.watched[1]).toEqual([id]))
    await until(() => expect(second.events.length).toBeGreaterThan(0))
    first.leave()
    await world.execute()
    await until(() => expect(second.events.at(-1)?.data.phase).toBe("Queued: 0/3 chunks"))
    second.leave()
    // Another file is watched from then on: what is looked at is that one alone.
    const other = await uploaded()
    await convert(other.owner, other.id)
    watch(anyId(other.id), other.owner, 1)
    await until(() => expect(world.watched[1]).toEqual([other.id]))
  })

  it("401 for nobody, 404 for no file, before any event", async () => {
    for (const [owner, status] of [
      [anyId("nobody"), 401],
      [await world.customer(), 404]
    ] as const) {
      const answer = await world.ask("GET", `/api/convert/${anyId()}/stream`, owner)
      expect([answer.status, answer.headers["content-type"]]).toEqual([status, "application/problem+json"])
    }
  })

  it("outlives a database that does not answer for a while", async () => {
    const { id, owner } = await uploaded()
    await convert(owner, id)
    await world.execute()
    const watching = watch(anyId(id), owner)
    await until(() => expect(watching.events.length).toBeGreaterThan(0))
    await world.run(WriteSql.use((sql) => sql`alter table files rename to files_away`))
    const before = world.looks()
    await until(() => expect(world.looks()).toBeGreaterThan(before + 2))
    await world.run(WriteSql.use((sql) => sql`alter table files_away rename to files`))
    await world.ask("POST", `/api/v1/files/${id}/cancel`, owner)
    await until(() => expect(watching.events.at(-1)?.event).toBe("cancelled"))
  })
})

effectIt.effect("a quiet stream has a comment line every 15 s, and none holds it open after its end", () =>
  Effect.gen(function* () {
    const moment = {
      event: "progress",
      data: {
        fileId: anyId("f"),
        jobId: null,
        status: "uploaded",
        phase: null,
        done: 0,
        total: 0,
        readyPages: []
      }
    } as const
    const { body } = eventStream(
      { headers: Headers.empty },
      Stream.concat(
        Stream.make(moment),
        Stream.fromEffect(Effect.as(Effect.sleep("40 seconds"), { ...moment, event: "completed" as const }))
      )
    )
    assert.strictEqual(body._tag, "Stream")
    if (body._tag !== "Stream") return
    const reading = yield* Effect.forkChild(Stream.mkString(Stream.decodeText(Stream.orDie(body.stream))), {
      startImmediately: true
    })
    for (let second = 0; second < 40; second++) yield* TestClock.adjust("1 second")
    const text = yield* Fiber.join(reading)
    assert.deepStrictEqual(
      text.split("\n\n").map((block) => block.split("\n")[0]),
      ["event: progress", ": still here", ": still here", "event: completed", ""]
    )
  })
)
