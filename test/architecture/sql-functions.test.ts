import { globSync, readFileSync } from "node:fs"
import { basename, dirname } from "node:path"

import { assert, describe, it } from "@effect/vitest"

const FOLDER = "migrations/functions"

/** Lines of the function itself, without the comment before it. */
const functionLines = (text: string) => text.slice(text.indexOf("create or replace")).split("\n").length - 1

const files = globSync(`${FOLDER}/**/*.sql`).map((path) => ({
  path,
  name: basename(path, ".sql"),
  text: readFileSync(path, "utf8")
}))

describe("functions of the database", () => {
  it("fit on a page: 70 lines, and 120 lines with their comment", () => {
    assert.isAbove(files.length, 200)
    assert.deepStrictEqual(
      files.filter(({ text }) => text.split("\n").length - 1 > 120).map(({ path }) => path),
      []
    )
    assert.deepStrictEqual(
      files.filter(({ text }) => functionLines(text) > 70).map(({ path }) => path),
      []
    )
  })

  it("say what they do before they do it", () => {
    assert.deepStrictEqual(
      files.filter(({ text }) => !text.startsWith("-- ")).map(({ path }) => path),
      []
    )
  })

  it("treat all leased work alike: by id and lease, costs first, the hold kept alive", () => {
    const leased = files.filter(({ name }) =>
      /^(?:heartbeat|(?:heartbeat|hand_back|complete|fail)_(?:chunk|assembly|inline|flyer|mail))$/.test(name)
    )
    assert.sameMembers(
      leased.map(({ name }) => name),
      [
        "heartbeat",
        ...["heartbeat", "hand_back", "complete", "fail"].map((verb) => `${verb}_chunk`),
        // `fail_conversion_job` fails an assembly.
        ...["hand_back", "complete"].map((verb) => `${verb}_assembly`),
        // Failing them without a number of attempts hands them back.
        ...["complete", "fail"].flatMap((verb) => [`${verb}_inline`, `${verb}_flyer`]),
        // `end_mail` ends a mail without a result.
        ...["hand_back", "complete"].map((verb) => `${verb}_mail`)
      ]
    )
    for (const { name, text } of leased) {
      assert.match(
        text,
        new RegExp(
          String.raw`^create or replace function ${name}\(\s*(?:p_kind text, )?p_id uuid, p_lease uuid`,
          "m"
        )
      )
      assert.match(text, /\blease (?:= p_lease|is distinct from p_lease)/, name)
      if (name.startsWith("heartbeat")) assert.match(text, /perform refresh_hold\(\w+, p_window\)/, name)
      if (text.includes("p_costs jsonb"))
        assert.match(
          text,
          /\nbegin\n {2}perform book_costs\(p_costs\);\n/,
          `${name} books costs before anything else`
        )
    }
  })

  it("stand in folders of at most 20, each of which the README names", () => {
    const readme = readFileSync(`${FOLDER}/README.md`, "utf8")
    const folders = Map.groupBy(files, ({ path }) => dirname(path).slice(FOLDER.length + 1))
    for (const [folder, { length }] of folders) {
      assert.isAtMost(length, 20, folder)
      assert.include(readme, `| \`${folder}\` |`)
    }
  })
})
