import { globSync, readFileSync } from "node:fs"

import { assert, describe, it } from "@effect/vitest"

import { WORDS, wordsOf } from "../../scripts/words-of.ts"
import { CHANNEL_NAMES } from "../../src/domain/delivery/alert-policy.ts"
import { SuppressionReason } from "../../src/domain/mail/suppression/policy.ts"

/**
 * Files outside of vendors' adapters that name a provider in code. It may only fall: what differs from provider to provider is a fact
 * of `PROVIDERS`.
 */
const NAME_A_PROVIDER = 12

const NAMED = /["']provider_[ab]["']|\bprovider_[ab]:|\.provider_[ab]\b/
/** Adapters of vendors, and what is generated from the record. */
const VENDORS =
  /^src\/adapters\/(?:(?:resend|ses|simulated|client\/generated)\/|http\/pages\/assets\/words\.js$)/

/** The words of each check on a column, in the numbered migrations. */
const checksOn = (column: string, file: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...readFileSync(`migrations/${file}`, "utf8").matchAll(/check \((\w+) in \(([^)]*)\)\)/g)].flatMap(
    ([, name, words = ""]) =>
      name === column ? [words.split(",").map((word) => word.trim().slice(1, -1))] : []
  )

describe("words of the product", () => {
  it("a made-up word of each kind is known to the database and the browser once it is in its record", () => {
    const files = wordsOf({
      providers: { ...WORDS.providers, made_up_provider: { dedupes: true, vendor: "Made Up" } },
      statuses: { ...WORDS.statuses, made_up_status: { rank: 7, mood: "wait", accepted: true } },
      jobs: { ...WORDS.jobs, made_up_job: { mood: "good" } },
      reasons: { ...WORDS.reasons, made_up_reason: { mood: "bad" } },
      kinds: { ...WORDS.kinds, made_up_kind: { endings: ["madeup"], name: "Made-up file" } }
    })
    const text = (ending: string) => {
      const found = Object.entries(files).find(([path]) => path.endsWith(ending))
      return found?.[1] ?? ""
    }
    assert.include(text("provider_dedupes.sql"), "'made_up_provider'")
    assert.include(text("email_status_rank.sql"), "when 'made_up_status' then 7")
    assert.include(text("email_log_words_are_known.sql"), "'made_up_status'")
    const browser = text("words.js")
    assert.include(browser, 'made_up_status: "wait"')
    assert.include(browser, 'made_up_job: "good"')
    assert.include(browser, 'made_up_reason: "bad"')
    assert.include(browser, '"madeup"')
    assert.include(browser, 'made_up_kind: "Made-up file"')
  })

  it("checks of the tables have the words of the records", () => {
    const words = (list: ReadonlyArray<string>) => [...list].sort()
    const both = checksOn("reason", "0002_mail.sql")
    assert.strictEqual(both.length, 2)
    for (const listed of both) assert.deepStrictEqual(words(listed), words(SuppressionReason.literals))
    assert.deepStrictEqual(checksOn("channel", "0003_delivery.sql").map(words), [words(CHANNEL_NAMES)])
    assert.deepStrictEqual(
      checksOn("kind", "0005_conversion.sql").map(words)[0],
      words(Object.keys(WORDS.kinds))
    )
  })

  it("few files outside of vendors' adapters name a provider", () => {
    const naming = globSync("src/**/*.{ts,js}")
      .map((path) => path.replaceAll("\\", "/"))
      .filter((path) => !VENDORS.test(path) && NAMED.test(readFileSync(path, "utf8")))
    assert.strictEqual(naming.length, NAME_A_PROVIDER, naming.join("\n"))
  })
})
