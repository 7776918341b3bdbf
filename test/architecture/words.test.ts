import { globSync, readFileSync } from "node:fs"

import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

import { WORDS, wordsOf } from "../../scripts/words-of.ts"
import { ALERT_CHANNELS, CHANNEL_NAMES } from "../../src/domain/delivery/alert-policy.ts"
import { EMAIL_LOG_COLUMNS, EMAIL_LOG_FILTERS } from "../../src/domain/delivery/email-log-row.ts"
import { Provider, PROVIDERS } from "../../src/domain/mail/provider.ts"
import { SuppressionReason } from "../../src/domain/mail/suppression/policy.ts"
import { MAIL_WORKER_GROUPS } from "../../src/runtime/edge/email-layers.ts"
import { needsOf, PROVIDER_SETTINGS } from "../../src/runtime/settings/providers.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"
import { SETTINGS } from "../../src/runtime/settings/table.ts"

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

/** The exports of a module as it is made while its record has a row more; the record is as before afterwards. */
const madeWith = async (record: object, [name, facts]: readonly [string, unknown], module: string) => {
  const path = `../../src/${module}?with=${name}`
  Object.assign(record, { [name]: facts })
  try {
    return (await import(/* @vite-ignore */ path)) as Readonly<Record<string, unknown>>
  } finally {
    Reflect.deleteProperty(record, name)
  }
}

const schemaText = (schema: unknown): string =>
  JSON.stringify(Schema.toJsonSchemaDocument(schema as Schema.Top))

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

  it("a made-up column of the log is selected, and in the rows of lists and stories; a made-up filter is taken", async () => {
    const column = ["made_up_column", Schema.String] as const
    const query = "adapters/postgres/delivery/email-log-query.ts"
    assert.include((await madeWith(EMAIL_LOG_COLUMNS, column, query))["COLUMNS"], "made_up_column")
    const routes = "adapters/http/routes/delivery/mail-story.ts"
    const { ListedMail, mailStory } = await madeWith(EMAIL_LOG_COLUMNS, column, routes)
    assert.include(schemaText(ListedMail), "made_up_column")
    assert.include(schemaText([...(mailStory as { success: Set<unknown> }).success][0]), "made_up_column")
    const search = "adapters/http/routes/delivery/log-search.ts"
    assert.containsAllKeys((await madeWith(EMAIL_LOG_FILTERS, ["madeUp", Schema.String], search))["search"], [
      "madeUp"
    ])
  })

  it("what a send says is written by an insert and where an event was first", () => {
    const read = (file: string) => readFileSync(`migrations/${file}`, "utf8")
    const [, listed = ""] = /create type email_log_row as \(([^)]*)\)/.exec(read("0002_mail.sql")) ?? []
    const columns = listed.split(",").map((column) => column.trim().split(" ")[0]!)
    assert.include(columns, "subject")
    const unwritten = (file: string, beside: ReadonlyArray<string>) =>
      columns.filter(
        (column) =>
          !beside.includes(column) &&
          !new RegExp(`\\be\\.${column}\\b`, "u").test(read(`functions/mail/log/${file}`))
      )
    assert.deepStrictEqual(unwritten("insert_new_rows.sql", ["ordinal"]), [])
    assert.deepStrictEqual(unwritten("write_new_sends.sql", []), [])
    // The row keeps the provider's names, which the event brought.
    const kept = ["ordinal", "provider", "provider_message_id"]
    assert.deepStrictEqual(unwritten("complete_row_of_event.sql", kept), [])
  })

  it("a made-up channel can be chosen, and each names its settings", async () => {
    const names = CHANNEL_NAMES as Array<string>
    names.push("made_up_channel")
    try {
      const facts = { label: "by carrier pigeon", settings: "PIGEON" }
      const page = await madeWith(
        ALERT_CHANNELS,
        ["made_up_channel", facts],
        "ports/delivery/alert-channels.ts"
      )
      assert.include(JSON.stringify(page["DEFAULT_PREFERENCES"]), '"made_up_channel":true')
      const examples = await madeWith({}, ["channel", facts], "adapters/http/routes/request-examples.ts")
      assert.include(
        JSON.stringify(Object.values(examples).map((one) => [...(one as [])])),
        "made_up_channel"
      )
    } finally {
      names.pop()
    }
    const known = SETTINGS.map(({ name }): string => name)
    for (const { settings } of Object.values(ALERT_CHANNELS))
      assert.includeMembers(known, settings.split(" and "))
  })

  it("a provider's settings are an area of the table, which every way into the product reads", () => {
    assert.sameMembers(Object.keys(PROVIDER_SETTINGS), Object.keys(PROVIDERS))
    for (const provider of Provider.literals) {
      const { area } = PROVIDER_SETTINGS[provider]
      assert.isTrue(MAIL_WORKER_GROUPS.has(area), area)
      const needs = needsOf(provider)
      if (needs === undefined) continue
      assert.strictEqual(SETTINGS.find(({ name }) => name === needs.setting)?.area, area)
      const env = { EMAIL_PRIMARY: provider, SENDER_DOMAIN: "x.test" }
      const refused = decodeSettings(env, { embedded: false })
      assert.isTrue(
        Result.isFailure(refused) && refused.failure.some(({ setting }) => setting === needs.setting)
      )
    }
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
