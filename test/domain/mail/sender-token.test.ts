import { Result } from "effect"
import { expect, it } from "vitest"

import {
  defaultCategory,
  readSenderToken,
  type SenderToken,
  senderIssues
} from "../../../src/domain/mail/sender-token.ts"

const TOKEN: SenderToken = {
  id: "t",
  name: "shop",
  categories: ["notification", "auth"],
  from: ["shop@x.test", "@y.test"],
  ratePerMinute: undefined
}
const DEFAULTS = {
  from: { name: "Postlane", local: "noreply", domain: "postlane.test" },
  domains: { sender: "postlane.test", legacy: "legacy.test" }
}
const fields = (from: string | undefined, token = TOKEN, category: "auth" | "marketing" = "auth") =>
  senderIssues(token, { category, from }, DEFAULTS).map(({ path }) => path)

it("holds a mail to the token's categories and From addresses, by field (FRONT-1)", () => {
  expect(fields("shop@x.test")).toEqual([])
  expect(fields("Shop <SHOP@X.test>")).toEqual([])
  expect(fields("anybody@y.test")).toEqual([])
  expect(fields("shop@x.test", TOKEN, "marketing")).toEqual(["category"])
  for (const from of ["other@x.test", "shop@sub.y.test", "shop@xy.test", "no address", undefined])
    expect(fields(from)).toEqual(["from"])
  expect(fields(undefined, { ...TOKEN, from: ["@postlane.test"] })).toEqual([])
  expect(fields("other@z.test", { ...TOKEN, from: [], categories: [] }, "marketing")).toEqual([])
})

it("takes an address of the legacy domain as it is written and as it is sent", () => {
  for (const rule of ["@legacy.test", "@postlane.test", "a@legacy.test", "a@postlane.test"])
    expect(fields("a@legacy.test", { ...TOKEN, from: [rule] })).toEqual([])
  expect(fields("a@postlane.test", { ...TOKEN, from: ["a@legacy.test"] })).toEqual(["from"])
})

it("reads a new token, or says what is wrong by field", () => {
  expect(
    Result.getOrThrow(
      readSenderToken({
        name: " shop ",
        from: ["Shop@X.test", "@BÜCHER.test", "shop@x.test"],
        categories: ["auth", "auth"]
      })
    )
  ).toEqual({
    name: "shop",
    categories: ["auth"],
    from: ["shop@x.test", "@xn--bcher-kva.test"],
    ratePerMinute: undefined
  })
  expect(
    Result.getOrThrow(readSenderToken({ name: "n".repeat(100), from: [" @X.test ", " a@x.test "] }))
  ).toEqual({
    name: "n".repeat(100),
    categories: [],
    from: ["@x.test", "a@x.test"],
    ratePerMinute: undefined
  })
  expect(Result.getOrThrow(readSenderToken({ name: "a", ratePerMinute: 7 })).ratePerMinute).toBe(7)
  for (const name of ["", " ", "n".repeat(101), "a\u0085"])
    expect(Result.isFailure(readSenderToken({ name }))).toBe(true)
  expect(defaultCategory(TOKEN)).toBe("notification")
  expect(defaultCategory({ ...TOKEN, categories: [] })).toBe("transactional")
  const wrong = readSenderToken({ name: "a\nb", from: ["x", "A <a@x.test>", "@x_y.test"], ratePerMinute: 0 })
  expect(Result.isFailure(wrong) && wrong.failure.map(({ path }) => path)).toEqual([
    "name",
    "from.0",
    "from.1",
    "from.2",
    "ratePerMinute"
  ])
})
