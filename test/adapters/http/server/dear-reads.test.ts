import { Deferred, Effect, Layer } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import type { Principal } from "../../../../src/domain/accounts/principal.ts"
import { Access, MagicLinks } from "../../../../src/ports/accounts/access.ts"
import { call, startServer, type TestServer } from "../harness.ts"

/** H3: one principal cannot use up what others need. */

const reader = (actor: string): Principal => ({
  actor,
  customerId: undefined,
  rights: ["admin:read"],
  via: "token"
})
const access = Layer.merge(
  Layer.mock(Access, { byToken: (token) => Effect.succeed(reader(token)) }),
  Layer.mock(MagicLinks, {})
)

let server: TestServer
/** Searches for this part of a subject wait until the test lets them go. */
const SLOW = "slow"
let release = Effect.runSync(Deferred.make<void>())
let running = 0
let mostRunning = 0
let began: () => void = () => undefined

beforeAll(async () => {
  server = await startServer({
    access,
    page: ({ subject }) =>
      subject === SLOW
        ? Effect.acquireUseRelease(
            Effect.sync(() => {
              mostRunning = Math.max(mostRunning, ++running)
              began()
            }),
            () => Effect.as(Deferred.await(release), { rows: [], nextCursor: null }),
            () => Effect.sync(() => running--)
          )
        : Effect.succeed({ rows: [], nextCursor: null })
  })
})
afterAll(() => server.stop())
beforeEach(() => {
  release = Effect.runSync(Deferred.make<void>())
  running = mostRunning = 0
})

const get = (who: string, path: string) => call(server, path, { headers: { authorization: `Bearer ${who}` } })
const search = (who: string) => get(who, `/api/admin/email-log?subject=${SLOW}`)
const exported = (who: string) => get(who, `/api/admin/email-log.csv?subject=${SLOW}`)
const letGo = () => Effect.runPromise(Deferred.succeed(release, undefined))

/** Asks, and waits until the read has begun. */
const begin = async <A>(ask: () => Promise<A>): Promise<{ readonly answer: Promise<A> }> => {
  const reading = new Promise<void>((resolve) => (began = resolve))
  const answer = ask()
  await reading
  return { answer }
}

describe("reads of admins (H3)", () => {
  it("run one after another for each principal, and those beyond a few are answered 429 at once", async () => {
    const statuses: Array<number> = []
    let refused: () => void = () => undefined
    const sixteenRefused = new Promise<void>((resolve) => (refused = resolve))
    const searches = Array.from({ length: 20 }, async () => {
      const answer = await search("greedy")
      statuses.push(answer.status)
      if (statuses.length === 16) refused()
      return answer
    })
    await sixteenRefused
    expect(new Set(statuses)).toEqual(new Set([429]))
    // Somebody else's are answered meanwhile.
    expect((await get("board", "/api/admin/email-log")).status).toBe(200)
    const other = await begin(() => search("other"))
    expect(running).toBe(2)
    await letGo()
    const answers = await Promise.all(searches)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
    expect(answers.find(({ status }) => status === 429)?.json).toMatchObject({
      code: "RATE_LIMITED",
      retryable: true
    })
    expect((await other.answer).status).toBe(200)
    expect(mostRunning).toBe(2)
    expect((await search("greedy")).status).toBe(200)
  })

  it("a read whose caller goes away gives its turn back", async () => {
    const aborted = new AbortController()
    const { answer } = await begin(() =>
      fetch(`${server.url}/api/admin/email-log?subject=${SLOW}`, {
        headers: { authorization: "Bearer gone" },
        signal: aborted.signal
      }).catch(() => undefined)
    )
    const next = begin(() => search("gone"))
    aborted.abort()
    await answer
    const second = await next
    await letGo()
    expect((await second.answer).status).toBe(200)
  })
})

describe("exports (H3)", () => {
  it("have two places in a process, one for each principal, for as long as they run", async () => {
    const first = await begin(() => exported("a"))
    const again = exported("a")
    const second = await begin(() => exported("b"))
    const third = await exported("c")
    expect([third.status, third.json.code]).toEqual([429, "RATE_LIMITED"])
    expect(third.headers["retry-after"]).toBe("30")
    await letGo()
    // The second export of one principal waits for its turn, and the first is over by then.
    expect((await first.answer).status).toBe(200)
    expect((await second.answer).status).toBe(200)
    expect((await again).status).toBe(200)
    expect((await exported("c")).status).toBe(200)
  })
})
