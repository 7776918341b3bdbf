import * as fc from "fast-check"
import { expect, it } from "vitest"

import { withoutLinkTokens } from "../../../../src/adapters/http/around/link-tokens.ts"

const PREFIXES = ["/unsubscribe/", "/invites/", "/shared/", "/convert-email/results/"]

it("whatever is in the place of a link's token is redacted", () => {
  const token = fc.stringMatching(/^[A-Za-z0-9_.~%-]{6,200}$/)
  fc.assert(
    fc.property(
      fc.constantFrom(...PREFIXES),
      token,
      fc.constantFrom("", "?x=1", "/more"),
      (prefix, secret, rest) => {
        const redacted = withoutLinkTokens(`${prefix}${secret}${rest}`)
        expect(redacted).toBe(`${prefix}:token${rest.startsWith("?") ? rest : ""}`)
        expect(withoutLinkTokens(redacted)).toBe(redacted)
        expect(withoutLinkTokens(`http://x.test/${prefix.toUpperCase()}${secret}`)).not.toContain(secret)
      }
    )
  )
})

it("an escaped sign that would end a token ends none", () => {
  expect(withoutLinkTokens("/unsubscribe/%%23A~~")).toBe("/unsubscribe/:token")
  expect(withoutLinkTokens("/x?url=%2Fshared%2Fab%253Fcd%2523ef")).toBe("/x?url=/shared/:token")
})

it("a link that is written otherwise is redacted, too", () => {
  const escaped = (text: string, times: number): string => {
    let written = text.replace(/[a-z/]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
    for (let time = 1; time < times; time += 1) written = written.replaceAll("%", "%25")
    return written
  }
  fc.assert(
    fc.property(
      fc.constantFrom(...PREFIXES),
      fc.stringMatching(/^[A-Za-z0-9_-]{20,60}$/),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom("", "/sign-in?next=", "/x?a=b&url=http%3A%2F%2Fx.test", "/", "?q="),
      (prefix, secret, times, before) => {
        for (const written of [
          `/%${prefix.charCodeAt(1).toString(16)}${prefix.slice(2)}`,
          escaped(prefix, times),
          encodeURIComponent(prefix),
          encodeURIComponent(encodeURIComponent(prefix))
        ])
          expect(withoutLinkTokens(`${before}${written}${secret}`)).not.toContain(secret)
      }
    )
  )
})

it.each([
  "/",
  "/health",
  "/unsubscribe",
  "/shared/",
  "/api/v1/files/4711/share",
  "/api/files?x=/",
  "/api/files?x=%2F%25&y=100%",
  "*",
  ""
])("%s stays as it is", (url) => expect(withoutLinkTokens(url)).toBe(url))
