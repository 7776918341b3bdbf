import { Console, Effect, Result } from "effect"
import * as NetAddress from "effect/net/NetAddress"
import { assert, describe, it } from "vitest"

import { announce } from "../../../src/runtime/process/banner.ts"
import { decodeSettings } from "../../../src/runtime/settings/settings.ts"

const bannerOf = async (env: Readonly<Record<string, string>>, simulates = true) => {
  const settings = Result.getOrThrow(decodeSettings(env, { embedded: true }))
  const lines: Array<string> = []
  const record: Console.Console = { ...globalThis.console, log: (line: string) => void lines.push(line) }
  await Effect.runPromise(
    Effect.provideService(
      announce(settings, {
        address: Result.getOrThrow(
          NetAddress.inetAddressV4(NetAddress.ipv4Loopback, Number(env["PORT"] ?? 8787))
        ),
        database: "embedded",
        queue: true,
        simulates: { provider_a: simulates, provider_b: true, smtp: true, postmark: true },
        seconds: 1
      }),
      Console.Console,
      record
    )
  )
  return lines.join("\n")
}

describe("what the start tells of the first mail", () => {
  it("leads to the outbox only where the primary is simulated", async () => {
    assert.include(await bannerOf({}), "and read it at http://127.0.0.1:8787/dev.")
    const real = await bannerOf({}, false)
    assert.notMatch(real, /(?:read it|answers) at/)
    assert.include(real, "with an address of yours in place of you@example.com: Resend sends it for real.")
  })
})

describe("what the start tells of convert-by-email", () => {
  it("names the address and the port, and a command that reaches them", async () => {
    const banner = await bannerOf({})
    assert.match(banner, /^ {2}dashboard {3}http:\S+\/dashboard .* http:\S+\/admin\)$/m)
    assert.include(banner, "smtp://127.0.0.1:2525, for convert@legacy.postlane.test")
    assert.include(banner, "npm run demo:mail -- examples/sample.pdf\n")
  })

  it("tells the command what is elsewhere", async () => {
    const banner = await bannerOf({ PORT: "9000", HOST: "::1", SMTP_PORT: "2626", LEGACY_DOMAIN: "old.test" })
    assert.include(banner, "smtp://[::1]:2626, for convert@old.test")
    assert.include(
      banner,
      "npm run demo:mail -- --host ::1 --port 2626 --url http://127.0.0.1:9000 --to convert@old.test examples/sample.pdf\n"
    )
  })

  it("says so where this process takes no mail", async () => {
    const banner = await bannerOf({ POSTLANE_ROLES: "api" })
    assert.include(banner, "none here")
    assert.notInclude(banner, "demo:mail")
  })
})
