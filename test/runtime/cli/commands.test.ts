import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { assert, describe, it as test, layer } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach } from "vitest"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import type { EmailLogPage } from "../../../src/ports/delivery/email-log-query.ts"
import type { SuppressionRow } from "../../../src/ports/mail/suppression-list.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { jsonOf, run } from "./harness.ts"

/** Rows by their changes, as `--json` prints them. */
type Changes = EmailLogPage & { readonly changedUntil: string }

const resend = fakeResend()
let folder = ""
beforeAll(async () => {
  await resend.listen()
  folder = await mkdtemp(join(tmpdir(), "postlane-cli-"))
})
afterAll(async () => {
  await resend.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => resend.always("ok"))

const API_KEY = "re_the_api_key"

const environment = TestDatabase.use(({ url }) =>
  Effect.succeed({
    DB_URL: url,
    PROVIDERA_API_KEY: API_KEY,
    PROVIDERA_BASE_URL: resend.url,
    EMAIL_DEFER_QUEUE_URL: "postgres:cli-test"
  })
)
const postlane = (...args: ReadonlyArray<string>) => Effect.flatMap(environment, (env) => run(args, env))
const onTerminal = (columns: number, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(environment, (env) => run(args, env, { columns }))

const MAIL = ["--subject", "Hello", "--category", "transactional", "--source", "cli"]
const to = (address: string) => ["send", "--to", address, ...MAIL, "--text", "First mail"]

describe("the command line on a database", () => {
  layer(layerPostgres, { excludeTestServices: true })((it) => {
    it.effect("send: sends once a key, writes the row, and says so in words", () =>
      Effect.gen(function* () {
        const first = yield* postlane(...to("once@x.test"), "--key", "order-17", "--json")
        assert.strictEqual(first.code, 0, first.err)
        const again = yield* postlane(...to("once@x.test"), "--key", "order-17", "--json")
        assert.deepStrictEqual(jsonOf<SendResult>(again), jsonOf<SendResult>(first))
        assert.lengthOf(
          resend.accepted.filter(({ key }) => key === "order-17"),
          1
        )
        const words = yield* postlane(...to("once@x.test"), "--key", "order-17")
        assert.match(words.out, /^Sent by provider_a; its id: /)
        const other = yield* postlane(...to("twice@x.test"), "--key", "order-17")
        assert.strictEqual(other.code, 1)
        assert.include(other.err, "used with another payload")
      })
    )

    it.effect("send: a refused mail ends with code 1, its reason and what to do", () =>
      Effect.gen(function* () {
        yield* Effect.promise(() => resend.always("422"))
        const refused = yield* postlane(...to("refused@x.test"))
        assert.strictEqual(refused.code, 1)
        assert.match(refused.err, /^Failed \(rejected\): .*\nThe message is at fault/)
        assert.match(refused.out, /^Row [^\n]*, key [^\n]*$/)
        const json = jsonOf<SendResult>(yield* postlane(...to("refused@x.test"), "--json"))
        assert.isFalse(json.ok)
      })
    )

    it.effect("send: an ambiguous one is deferred, and that counts as done", () =>
      Effect.gen(function* () {
        yield* Effect.promise(() => resend.always("504"))
        const deferred = yield* postlane(...to("later@x.test"))
        assert.strictEqual(deferred.code, 0)
        assert.match(deferred.out, /^Deferred: .* in 2 minutes/)
      })
    )

    it.effect("send: body and attachments from files; what cannot be read is named", () =>
      Effect.gen(function* () {
        const page = join(folder, "page.html")
        const data = join(folder, "data.bin")
        yield* Effect.promise(() =>
          Promise.all([writeFile(page, "<p>Grüße</p>"), writeFile(data, new Uint8Array([0, 255, 10]))])
        )
        const args = ["send", "--to", "file@x.test", ...MAIL, "--attach", data]
        const sent = yield* postlane(...args, "--file", page, "--text", "Grüße")
        assert.strictEqual(sent.code, 0, sent.err)
        assert.deepInclude(resend.accepted.at(-1)?.payload, {
          html: "<p>Grüße</p>",
          text: "Grüße",
          attachments: [{ filename: "data.bin", content: "AP8K" }]
        })
        const missing = yield* postlane(...args, "--file", join(folder, "gone.html"))
        assert.strictEqual(missing.code, 1)
        assert.include(missing.err, "gone.html cannot be read")
        const unreadable = yield* postlane(...args, "--file", data)
        assert.strictEqual(unreadable.code, 1)
        assert.include(unreadable.err, "data.bin is no text in UTF-8")
        const twice = yield* postlane(...args, "--file", page, "--html", "x")
        assert.include(twice.err, "leave one out")
        const bare = yield* postlane(...args)
        assert.include(bare.err, "one of html and text is required")
        const injected = yield* postlane(
          "send",
          "--to",
          "a@x.test",
          ...MAIL.with(1, "a\r\nBcc: b@x.test"),
          "--text",
          "t"
        )
        assert.include(injected.err, "holds a line break")
      })
    )

    it.effect("admins: invites, lists and removes; what could not be done goes to the error output", () =>
      Effect.gen(function* () {
        assert.match((yield* postlane("admins", "list")).out, /^Nobody signs in as an admin by mail\. /)
        const invited = yield* postlane("admins", "invite", "Ann <Ann@X.test>")
        assert.deepStrictEqual([invited.code, invited.err], [0, ""])
        assert.match(
          invited.out,
          /^ann@x\.test may sign in as an admin now, at http.*\/sign-in\?reason=admin$/
        )
        const mails = jsonOf<EmailLogPage>(yield* postlane("log", "--recipient", "ann@x.test", "--json"))
        assert.deepStrictEqual(
          mails.rows.map(({ source, status }) => [source, status]),
          [["api:admin-invite", "sent"]]
        )
        const [invitation] = mails.rows
        for (const named of [
          ["--id", invitation!.id],
          ["--key", invitation!.idempotency_key!],
          ["--message-id", invitation!.provider_message_id!]
        ]) {
          const found = jsonOf<EmailLogPage>(yield* postlane("log", ...named, "--json"))
          assert.deepStrictEqual(found.rows, mails.rows, named.join(" "))
        }
        const notAnId = yield* postlane("log", "--id", "order-17")
        assert.deepStrictEqual([notAnId.code, notAnId.err.includes("must be the id of a row")], [1, true])
        const reader = yield* postlane("admins", "invite", "ann@x.test", "--right", "admin:read", "--json")
        assert.deepInclude(jsonOf<object>(reader), { answer: "changed", inviteSent: true })
        const { admins } = jsonOf<{ readonly admins: ReadonlyArray<object> }>(
          yield* postlane("admins", "list", "--json")
        )
        assert.strictEqual(admins.length, 1)
        assert.deepInclude(admins[0], {
          email: "ann@x.test",
          rights: ["admin:read"],
          invitedBy: "cli:tester"
        })
        assert.match(
          (yield* onTerminal(80, "admins", "list")).out,
          /RIGHT.*\n.*ann@x\.test +admin:read +cli:tester$/
        )
        yield* Effect.promise(() => resend.always("422"))
        const unheard = yield* postlane("admins", "invite", "Bob <bob@bücher.test>")
        assert.match(unheard.out, /^bob@xn--bcher-kva\.test may sign in/)
        assert.match(unheard.err, /^The mail to them did not go out/)
        assert.strictEqual(unheard.code, 1)
        for (const [wrong, said] of [
          [["remove", "nobody@x.test"], "Nobody of the address nobody@x.test"],
          [["invite", "no address"], "no address: "],
          [["invite", "a@x.test", "--right", "owner"], "admin:read"]
        ] as const) {
          const refused = yield* postlane("admins", ...wrong)
          assert.deepStrictEqual([refused.code, refused.out], [1, ""])
          assert.include(refused.err, said)
        }
        const removed = yield* postlane("admins", "remove", "ANN@x.test ")
        assert.match(removed.out, /^ann@x\.test is no admin any more/)
        // As it was written at the invitation.
        const bob = yield* postlane("admins", "remove", "Bob <bob@bücher.test>")
        assert.match(bob.out, /^bob@xn--bcher-kva\.test is no admin any more/)
        assert.deepStrictEqual(
          yield* WriteSql.use(
            (sql) => sql`select action, actor, target from admin_audit_log
            where target = 'ann@x.test' order by created_at`
          ),
          ["admin_invited", "admin_changed", "admin_removed"].map((action) => ({
            action,
            actor: "cli:tester",
            target: "ann@x.test"
          }))
        )
      })
    )

    it.effect("what is not there: nothing on the output, the problem on the error output, code 1", () =>
      Effect.gen(function* () {
        for (const command of [
          ["dead-letters", "redrive", "none"],
          ["dead-letters", "remove", "none"],
          ["token", "revoke", "none"],
          ["unsuppress", "nobody@x.test"]
        ]) {
          const { code, err, out } = yield* postlane(...command)
          assert.deepStrictEqual([code, out], [1, ""], command.join(" "))
          assert.include(err, command.at(-1) ?? "", "names what is not there")
          const json = yield* postlane(...command, "--json")
          assert.deepStrictEqual([json.code, json.err], [1, ""])
          jsonOf(json)
        }
      })
    )

    it.effect(
      "import suppressions: counts, bad lines by number, nothing twice, and a dry run that writes nothing",
      () =>
        Effect.gen(function* () {
          const file = join(folder, "suppressions.csv")
          const many = Array.from({ length: 1200 }, (_, at) => `imported-${at}@x.test,BOUNCE`)
          yield* Effect.promise(() => writeFile(file, ["Email,Reason", ...many, "nobody,BOUNCE"].join("\n")))
          const dry = yield* postlane("import", "suppressions", file, "--dry-run")
          assert.match(
            dry.out,
            /^1200 suppressions in all: 1200 hard bounces, 0 complaints, 0 manual\.\nNothing/
          )
          assert.match(dry.err, /^1 line could not be read:\n {2}line 1202: /)
          assert.strictEqual(dry.code, 1)
          const first = yield* postlane("import", "suppressions", file, "--json")
          assert.deepInclude(jsonOf<Record<string, unknown>>(first), { ok: false, added: 1200, bad: 1 })
          const again = yield* postlane("import", "suppressions", file)
          assert.include(again.out, "0 added; 1200 stood on the list already")
          const listed = yield* postlane("suppressions", "--email", "imported-7@x.test", "--json")
          assert.deepStrictEqual(
            jsonOf<{ readonly rows: ReadonlyArray<SuppressionRow> }>(listed).rows.map(({ reason }) => reason),
            ["hard_bounce"]
          )
          const none = yield* postlane("import", "suppressions", join(folder, "none.csv"))
          assert.match(none.err, /none\.csv cannot be read/)
          yield* WriteSql.use((sql) => sql`delete from email_suppressions where email like 'imported-%'`)
        })
    )

    it.effect(
      "suppress, send, unsuppress: the address gets nothing in between, and the audit log says who",
      () =>
        Effect.gen(function* () {
          const added = yield* postlane("suppress", "Someone <Quiet@X.test>", "--note", "asked", "--json")
          assert.deepInclude(jsonOf<SuppressionRow>(added), {
            email: "quiet@x.test",
            reason: "manual",
            note: "asked"
          })
          const blocked = yield* postlane(...to("quiet@x.test"))
          assert.strictEqual(blocked.code, 1)
          assert.match(blocked.err, /^Not sent\. Recipient suppressed: /)
          assert.match(blocked.out, /^Row [^\n]*$/)
          const listed = yield* onTerminal(80, "suppressions", "--email", "QUIET@x.test")
          assert.match(listed.out, /ADDRESS.*\n.*manual +quiet@x\.test +asked$/)

          const removed = yield* postlane("unsuppress", "quiet@X.TEST", "--note", "changed their mind")
          assert.strictEqual(removed.code, 0, removed.err)
          const sql = yield* WriteSql
          assert.deepStrictEqual(
            yield* sql`select action, actor, target, note from admin_audit_log where target = 'quiet@x.test' order by created_at`,
            [
              { action: "email_suppress", actor: "cli:tester", target: "quiet@x.test", note: "asked" },
              {
                action: "email_unsuppress",
                actor: "cli:tester",
                target: "quiet@x.test",
                note: "changed their mind"
              }
            ]
          )
          const again = yield* postlane("unsuppress", "quiet@x.test")
          assert.strictEqual(again.code, 1)
          assert.include(again.err, "is not suppressed")
          for (const text of ["no address", "a@b"]) {
            const wrong = yield* postlane("suppress", text, "--json")
            assert.strictEqual(wrong.code, 1)
            assert.isFalse(jsonOf<{ readonly ok: boolean }>(wrong).ok)
          }
        })
    )

    it.effect("log: filters, pages and cursors; every page as one JSON document; a table that fits", () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        yield* sql`insert into email_log (status, category, to_addresses, subject, created_at)
          select 'bounced', 'marketing', array['many@x.test'], 'Number ' || n || E' \u001b[31m', now() - n * interval '1 hour'
          from generate_series(1, 450) as n`
        const filter = ["log", "--recipient", "MANY@x.test"]
        const first = jsonOf<EmailLogPage>(yield* postlane(...filter, "--limit", "2", "--json"))
        assert.lengthOf(first.rows, 2)
        const next = yield* postlane(...filter, "--limit", "2", "--json", "--cursor", first.nextCursor ?? "")
        const second = jsonOf<EmailLogPage>(next)
        assert.isTrue(second.rows[0]!.created_at < first.rows[1]!.created_at)
        const all = jsonOf<EmailLogPage>(yield* postlane(...filter, "--all", "--json"))
        assert.lengthOf(all.rows, 450)
        assert.strictEqual(new Set(all.rows.map(({ id }) => id)).size, 450)
        const none = jsonOf<EmailLogPage>(yield* postlane(...filter, "--status", "opened", "--all", "--json"))
        assert.deepStrictEqual(none, { rows: [], nextCursor: null })

        const shown = yield* onTerminal(72, ...filter, "--limit", "3", "--category", "marketing")
        const lines = shown.out.split("\n")
        assert.match(lines[0]!, /^TIME \(UTC\) +STATUS +CATEGORY +PROVIDER +TO/)
        assert.lengthOf(lines, 4)
        for (const line of lines) {
          assert.isAtMost(line.length, 72)
          assert.notInclude(line, "\u001b", "a subject does not get to colour the terminal")
        }
        assert.match(shown.err, /More: --cursor \S+/)

        const wrong = yield* postlane("log", "--cursor", "nonsense")
        assert.strictEqual(wrong.code, 1)
        assert.include(wrong.err, "unknown --cursor")
        for (const limit of ["0", "201", "x"]) {
          assert.strictEqual((yield* postlane("log", "--limit", limit)).code, 1, limit)
        }
      })
    )

    it.effect("log --changed-since: each change from a moment on, and from when to ask next", () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        yield* sql`insert into email_log (status, category, to_addresses, subject, created_at, updated_at)
          select 'bounced', 'marketing', array['changed@x.test'], 'Change ' || n, timestamptz '2026-01-31 12:00Z',
            timestamptz '2026-01-31 12:00Z' + n * interval '1 second'
          from generate_series(1, 250) as n`
        const filter = ["log", "--recipient", "changed@x.test", "--changed-since", "2026-01-31T12:00:41Z"]
        const first = jsonOf<Changes>(yield* postlane(...filter, "--limit", "2", "--json"))
        assert.deepStrictEqual(
          first.rows.map(({ subject }) => subject),
          ["Change 41", "Change 42"]
        )
        const all = jsonOf<Changes>(yield* postlane(...filter, "--all", "--json"))
        assert.lengthOf(all.rows, 210)
        const last = yield* postlane(...filter.slice(0, -1), all.changedUntil, "--all")
        assert.match(last.err, /\n0 mails\n\nNext time: --changed-since \d{4}-\d\d-\d\dT[\d:.]+Z$/)
        assert.include((yield* postlane(...filter, "--limit", "2")).err, "More: --cursor")
        for (const [more, words] of [
          [["--follow"], /leave --follow/],
          [["--by-mail"], /leave --follow and --by-mail out/]
        ] as const)
          assert.match((yield* postlane(...filter, ...more)).err, words)
        assert.match((yield* postlane("log", "--changed-since", "yesterday")).err, /must be a moment/)
      })
    )

    it.effect("dead-letters: lists them without the mail, and puts back one or all", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* postlane("dead-letters")).out, "No dead letters.")
        yield* Effect.promise(() => resend.always("504"))
        for (const name of ["d1", "d2", "d3"]) {
          const sent = yield* postlane(...to(`dead-${name}@x.test`), "--key", name)
          assert.strictEqual(sent.code, 0, sent.err + sent.out)
        }
        const sql = yield* WriteSql
        yield* sql`update email_defer_queue set state = 'failed', attempts = 3, last_failure = 'it broke'
          where queue_name = 'cli-test' and element like '%dead-d%@x.test%'`
        interface Listed {
          readonly deadLetters: ReadonlyArray<{ readonly id: string; readonly idempotencyKey: string }>
        }
        const list = Effect.map(
          postlane("dead-letters", "list", "--json"),
          (ran) => jsonOf<Listed>(ran).deadLetters
        )
        const dead = yield* list
        assert.sameMembers(
          dead.map(({ idempotencyKey }) => idempotencyKey),
          ["d1", "d2", "d3"]
        )
        assert.notInclude(JSON.stringify(dead), "First mail")
        const table = yield* onTerminal(200, "dead-letters")
        assert.include(table.out, "it broke")

        const one = dead[0]!.id
        assert.strictEqual((yield* postlane("dead-letters", "remove", one)).code, 1, "it can be read")
        yield* sql`insert into email_defer_queue (id, queue_name, element, state, attempts, visible_at, created_at, updated_at)
          values ('unreadable', 'cli-test', '"?"', 'failed', 1, now(), now(), now())`
        assert.strictEqual(
          (yield* postlane("dead-letters", "remove", "unreadable")).out,
          "unreadable is removed."
        )
        assert.lengthOf(yield* list, 3)

        assert.strictEqual((yield* postlane("dead-letters", "redrive", one)).code, 0)
        assert.strictEqual(
          (yield* postlane("dead-letters", "redrive", one)).code,
          1,
          "it is no dead letter now"
        )
        assert.lengthOf(yield* list, 2)
        const unclear = yield* postlane("dead-letters", "redrive")
        assert.include(unclear.err, "Name one id, or say --all")
        assert.strictEqual((yield* postlane("dead-letters", "redrive", "x", "--all")).code, 1)
        const rest = jsonOf<{ readonly redriven: ReadonlyArray<string> }>(
          yield* postlane("dead-letters", "redrive", "--all", "--json")
        )
        assert.lengthOf(rest.redriven, 2)
        assert.lengthOf(yield* list, 0)
      })
    )

    it.effect("no command shows a secret, and each tells what to do where the database is not there", () =>
      Effect.gen(function* () {
        const env = { ...(yield* environment), DB_URL: "postgres://u:hunter2-hunter2@127.0.0.1:1/mail" }
        for (const args of [
          ["log"],
          ["suppressions"],
          ["suppress", "a@x.test"],
          ["dead-letters"],
          ["doctor"]
        ]) {
          const ran = yield* run(args, env)
          assert.strictEqual(ran.code, 1, args.join(" "))
          assert.match(ran.err + ran.out, /cannot be reached/)
          assert.notMatch(ran.err + ran.out, /hunter2|re_the_api_key/)
        }
        const nowhere = yield* run(["log"], { POSTLANE_DATA_DIR: join(folder, "none") })
        assert.include(nowhere.err, "There is no database: set DB_URL")
        const wrong = yield* run(["log"], { PORT: "many", EMAIL_PRIMARY: "pigeon" })
        assert.match(wrong.err, /PORT must be[^]*EMAIL_PRIMARY must be/)
      })
    )
  })
})

describe("wrong arguments", () => {
  test.effect("are named in a few lines on the error output, with the place of the help", () =>
    Effect.gen(function* () {
      for (const [args, words] of [
        [["send", "--to", "a@x.test"], /--subject/],
        [["log", "--limit", "many"], /limit/],
        [["suppress"], /email/],
        [["docter"], /doctor/]
      ] as const) {
        const ran = yield* run(args)
        assert.strictEqual(ran.code, 1)
        assert.strictEqual(ran.out, "")
        assert.match(ran.err, words)
        assert.isAtMost(ran.err.split("\n").length, 12, ran.err)
        assert.match(ran.err, /\nUsage: postlane.*\nHelp: {2}postlane.* --help$/)
      }
    })
  )
})
