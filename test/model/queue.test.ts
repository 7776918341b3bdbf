import { assert, describe, it } from "vitest"

import { explore, namesOf, type Walk } from "./explore.ts"
import { HOOK_LITERAL, HOOK_RULES, type HookLiteral, hookModel, hookRulesWith } from "./hooks.ts"
import { PACE_BOUNDS, PACE_LITERAL, PACE_RULES, type PaceLiteral, paceModel, paceRulesWith } from "./pace.ts"
import { LITERAL, type Literal } from "./queue/rules.ts"
import { mostCopies, QUEUE_FAILS, SMALL_BOUNDS, walkQueue } from "./queue/walks.ts"
import {
  VISIBILITY_LITERAL,
  VISIBILITY_RULES,
  type VisibilityLiteral,
  visibilityModel,
  visibilityRulesWith
} from "./visibility.ts"

/** What a walk found; nothing where it went through every state. */
const found = ({ isWhole, violation }: Walk): string =>
  violation === undefined ? (isWhole ? "" : "cut off") : [violation.text, ...violation.trace].join("\n")

const begins = (text: string, { violation }: Walk): boolean => violation?.text.startsWith(text) === true

describe("the states of one queued request, walked to the end", () => {
  it.each(SMALL_BOUNDS)("break nothing, and reach an end from each: %j", (bounds) => {
    assert.strictEqual(found(walkQueue(bounds)), "")
  })

  it.each(namesOf<Literal>(LITERAL))("break a promise by: %s", (literal) => {
    const [broken, bounds] = QUEUE_FAILS[literal]
    assert.isTrue(begins(broken, walkQueue(bounds, literal)))
  })

  it("leave a provider that does not dedupe as often as there are attempts in doubt: one more a retry, one more a crash", () => {
    const sure = { fallback: undefined }
    assert.deepStrictEqual(
      [
        { ...sure, retries: 0 },
        { ...sure, retries: 1 },
        { ...sure, retries: 3 },
        { ...sure, retries: 1, crashes: 1 }
      ].map(mostCopies),
      [1, 2, 4, 3]
    )
  })
})

describe("transactions that queue mail, in every order of their ends", () => {
  const single = [["a"], ["b"], ["c"]]
  const crossed = [["a", "b"], ["b", "a"], ["c"]]

  it.each([single, crossed])("strand no request, and share no key: %j, …", (...keys) => {
    assert.strictEqual(found(explore(visibilityModel(VISIBILITY_RULES, keys))), "")
  })

  it.each([
    ["a floor", "no end", single],
    ["seen before its commit", "Q1", single],
    ["looked for, and then inserted", "Q1", crossed],
    ["keys in the caller's order", "no end", crossed]
  ] satisfies ReadonlyArray<readonly [VisibilityLiteral, string, ReadonlyArray<ReadonlyArray<string>>]>)(
    "break a promise by: %s",
    (literal, broken, keys) => {
      assert.isTrue(begins(broken, explore(visibilityModel(visibilityRulesWith(literal), keys))))
    }
  )

  it("have no first wording without a test", () => {
    assert.lengthOf(Object.keys(VISIBILITY_LITERAL), 4)
  })
})

describe("the pace of a provider, over two processes", () => {
  it.each(Object.entries(PACE_BOUNDS))("holds: %s", (_, bounds) => {
    assert.strictEqual(found(explore(paceModel(PACE_RULES, bounds))), "")
  })

  const FAILS: Readonly<Record<PaceLiteral, readonly [broken: string, bounds: keyof typeof PACE_BOUNDS]>> = {
    "a fixed window": ["Q5", "faults"],
    "a limiter that forgets": ["Q5", "faults"],
    "a token that is good for ever": ["Q5", "faults"],
    "direct sends take every token": ["the queue had no token", "direct"],
    "strictly by category": ["Q4: the oldest", "categories"],
    "by insertion": ["Q4: a request of the highest", "categories"],
    "one line for all providers": ["Q3", "held"]
  }
  it.each(namesOf<PaceLiteral>(PACE_LITERAL))("breaks by: %s", (literal) => {
    const [broken, bounds] = FAILS[literal]
    assert.isTrue(begins(broken, explore(paceModel(paceRulesWith(literal), PACE_BOUNDS[bounds]))))
  })
})

describe("the events of two mails, by two dispatchers", () => {
  const NONE = { mails: ["a", "a", "b"], crashes: 0, leases: 0, redeliveries: 0 }

  it.each([
    { ...NONE, mails: ["a", "a", "b", "b"] },
    { ...NONE, mails: ["a", "a"], crashes: 1, leases: 1, redeliveries: 1 }
  ])("are each received or dead, in order by their first deliveries: %j", (bounds) => {
    assert.strictEqual(found(explore(hookModel(HOOK_RULES, bounds))), "")
  })

  const FAILS: Readonly<Record<HookLiteral, readonly [broken: string, mails: ReadonlyArray<string>]>> = {
    "a cursor over ids": ["no end", ["a", "b"]],
    "no lock of a mail": ["O1: event 2 is sent before", ["a", "a"]],
    "no order in a mail": ["O1: event 2 is sent before", ["a", "a"]],
    "a failure after its lease": ["O1: the failure", ["a", "a"]]
  }
  it.each(namesOf<HookLiteral>(HOOK_LITERAL))("break a promise by: %s", (literal) => {
    const [broken, mails] = FAILS[literal]
    assert.isTrue(begins(broken, explore(hookModel(hookRulesWith(literal), { ...NONE, mails, leases: 1 }))))
  })
})
