/**
 * `MailPreferences`: who left a list, or all marketing, and came back.
 *
 * Adapters: memory, postgres. Rules: MAIL-67.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import fc from "fast-check"

import { type LeftRow, MailPreferences } from "../../../src/ports/mail/preferences.ts"

const EMAILS = ["ann@x.test", "bob@x.test", "zoe@y.test"] as const
const LISTS = [undefined, "offers", "weekly"] as const
const by = { actor: "desk", note: undefined }

/** One word of one person, or of somebody for several. */
const step = fc.oneof(
  fc.record({
    what: fc.constantFrom("leave", "back"),
    email: fc.constantFrom(...EMAILS),
    list: fc.constantFrom(...LISTS)
  }),
  fc.record({
    what: fc.constant("import" as const),
    rows: fc.array(
      fc.record({ email: fc.constantFrom(...EMAILS), list: fc.constantFrom(null, "offers", "weekly") }),
      { maxLength: 4 }
    )
  })
)

const nameOf = ({ email, list }: LeftRow): string => `${email} ${list ?? ""}`

export const suite = (
  adapter: string,
  runs: number,
  world: Layer.Layer<MailPreferences>,
  test: typeof it.live = it.effect
) =>
  describe(`mail preferences: ${adapter}`, () => {
    test("shows what was left and not come back to, and lists it page by page (MAIL-67)", () =>
      Effect.gen(function* () {
        const preferences = yield* MailPreferences
        const services = yield* Effect.context<MailPreferences>()
        const clear = Effect.forEach(EMAILS, (email) =>
          Effect.forEach(LISTS, (list) => preferences.comeBack({ email, list }))
        )
        const follow = Effect.fnUntraced(function* (
          steps: ReadonlyArray<typeof step extends fc.Arbitrary<infer S> ? S : never>
        ) {
          yield* clear
          const model = new Map<string, LeftRow>()
          const put = (row: LeftRow) => model.set(nameOf(row), row)
          for (const one of steps) {
            if (one.what === "import") {
              const fresh = new Set(one.rows.map(nameOf).filter((name) => !model.has(name)))
              const added = yield* preferences.leaveAll({ entries: one.rows, ...by })
              assert.strictEqual(added, fresh.size)
              one.rows.forEach(put)
            } else if (one.what === "back") {
              yield* preferences.comeBack({ email: one.email, list: one.list, by })
              model.delete(nameOf({ email: one.email, list: one.list ?? null }))
            } else {
              const row = { email: one.email, list: one.list ?? null }
              yield* one.list === undefined
                ? preferences.leaveAll({ entries: [row], ...by })
                : preferences.leave({ email: one.email, list: one.list })
              put(row)
            }
          }
          for (const email of EMAILS) {
            const own = [...model.values()].filter((row) => row.email === email)
            assert.deepStrictEqual(yield* preferences.of(email), {
              all: own.some(({ list }) => list === null),
              lists: own.flatMap(({ list }) => list ?? []).toSorted()
            })
          }
          const listed: Array<LeftRow> = []
          for (;;) {
            const page = yield* preferences.page({ after: listed.at(-1), limit: 2 })
            listed.push(...page)
            if (page.length < 2) break
          }
          assert.deepStrictEqual(listed.map(nameOf), [...model.keys()].toSorted())
        })
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(step, { maxLength: 8 }), (steps) =>
              Effect.runPromise(Effect.provideContext(follow(steps), services))
            ),
            { numRuns: runs }
          )
        )
      }).pipe(Effect.provide(world)))
  })
