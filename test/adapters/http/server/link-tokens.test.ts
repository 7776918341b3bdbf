import * as fc from "fast-check"
import { expect, it } from "vitest"

import { withoutLinkTokens } from "../../../../src/adapters/http/server/link-tokens.ts"

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

it.each(["/", "/health", "/unsubscribe", "/shared/", "/api/v1/files/4711/share", "/api/files?x=/", "*", ""])(
  "%s stays as it is",
  (url) => expect(withoutLinkTokens(url)).toBe(url)
)
