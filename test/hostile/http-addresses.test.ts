import { afterAll, beforeAll, expect, it } from "vitest"

import { withoutLinkTokens } from "../../src/adapters/http/around/link-tokens.ts"
import { call, startServer, type TestServer } from "../adapters/http/harness.ts"
import { MAX_STALL_MS, stallOf } from "./stalls.ts"

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

/** Nearly all that a listener takes as headers. */
const LENGTH = 15_500

const PATHS: ReadonlyArray<string> = [
  "/".repeat(LENGTH),
  `/unsubscribe${"/".repeat(LENGTH)}?x`,
  "/convert-email/".repeat(LENGTH / 15),
  "/convert-email/results".repeat(LENGTH / 22),
  `/convert-email${"/".repeat(LENGTH)}`,
  "/%2F".repeat(LENGTH / 4),
  `/functions/v1${"/".repeat(LENGTH)}x`,
  `/?${"&".repeat(LENGTH)}`,
  `/?${"a=".repeat(LENGTH / 2)}`,
  `/${"../".repeat(LENGTH / 3)}`
]

it.each(PATHS)("ten requests of a hostile address do not hold the others up (%.30s…)", async (path) => {
  const stall = await stallOf(() =>
    Promise.all(
      Array.from({ length: 10 }, () =>
        call(server, path).then(({ status }) => expect(status).toBeLessThan(500))
      )
    )
  )
  expect(stall).toBeLessThan(MAX_STALL_MS)
})

it.each(PATHS)("an address is rid of its links' tokens in linear time (%.30s…)", async (path) => {
  const stall = await stallOf(async () => withoutLinkTokens(path))
  expect(stall).toBeLessThan(MAX_STALL_MS)
})
