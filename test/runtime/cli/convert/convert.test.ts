import { execFile } from "node:child_process"
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as fc from "fast-check"

import { encodePng } from "../../../../src/reader/sources/pdf/content/png.ts"
import { parsePages } from "../../../../src/runtime/cli/convert/convert.ts"
import { barOf } from "../../../../src/runtime/cli/convert/progress.ts"
import { encryptPdf } from "../../../support/files/pdf-encrypt.ts"
import { notPdf, withoutPages } from "../../../support/files/pdf-hostile.ts"
import { numbered } from "../../../support/files/pdf-samples.ts"
import { scannedPdf } from "../../../support/files/scanned-pages.ts"
import { typedPicture } from "../../../support/files/typed-picture.ts"
import { makeFolder, runChild } from "../../../support/processes/child.ts"
import { jsonOf, run } from "../harness.ts"

/** A folder with these files. */
const folderWith = (files: Readonly<Record<string, Uint8Array>>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const folder = await makeFolder()
        for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder.path, name), bytes)
        return folder
      }),
      ({ remove }) => Effect.promise(remove)
    ),
    ({ path }) => path
  )

/** A document of one page, which is a picture of text. */
const scan = Effect.map(typedPicture, ({ picture }) => scannedPdf([picture]))

const textOf = (path: string) => Effect.promise(() => readFile(path, "utf8"))
const namesIn = (path: string) => Effect.promise(async () => (await readdir(path)).sort())

describe("postlane convert", () => {
  it.live("writes one accessible file beside the document, without server, database or settings", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "report.v2.pdf": numbered(45) })
      const ran = yield* run(["convert", join(folder, "report.v2.pdf")], {
        DB_URL: "postgres://u:p@127.0.0.1:1/nowhere",
        POSTLANE_DATA_DIR: "/nonexistent"
      })
      assert.strictEqual(ran.code, 0, ran.err)
      assert.match(ran.out, /report\.v2\.html: 45 pages, \d+ KB/)
      // Elsewhere than on a terminal: a few plain lines.
      const lines = ran.err.split("\n")
      assert.strictEqual(lines[0], "Reading the document")
      assert.strictEqual(lines.at(-2), "Converting: 45 of 45 pages")
      assert.strictEqual(lines.at(-1), "Putting it together")
      assert.isAtMost(lines.length, 13)
      const html = yield* textOf(join(folder, "report.v2.html"))
      for (const page of [1, 20, 21, 45]) assert.include(html, `Page number ${page}`)
      assert.match(html, /<main|<h1/)
      // Nothing is left of the work.
      assert.deepStrictEqual(yield* namesIn(folder), ["report.v2.html", "report.v2.pdf"])
    })
  )

  it.live("--format writes Markdown, text or data, beside the document", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "a.pdf": numbered(2) })
      const source = join(folder, "a.pdf")
      for (const format of ["markdown", "text", "json"]) {
        const ran = yield* run(["convert", source, "--format", format])
        assert.strictEqual(ran.code, 0, ran.err)
      }
      assert.deepStrictEqual(yield* namesIn(folder), ["a.json", "a.md", "a.pdf", "a.txt"])
      assert.include(yield* textOf(join(folder, "a.md")), "<!-- page 2 -->")
      assert.match(yield* textOf(join(folder, "a.txt")), /Page number 1[\s\S]*Page number 2/)
      const data = JSON.parse(yield* textOf(join(folder, "a.json"))) as {
        readonly blocks: ReadonlyArray<unknown>
      }
      assert.isNotEmpty(data.blocks)
    })
  )

  it.live("takes a range of pages; overwrites an existing file only with --force", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "a.pdf": numbered(30), "a.html": Buffer.from("mine") })
      const [source, beside] = [join(folder, "a.pdf"), join(folder, "a.html")]
      const refused = yield* run(["convert", source])
      assert.strictEqual(refused.code, 1)
      assert.include(refused.err, "To replace it: --force")
      assert.strictEqual(yield* textOf(beside), "mine")
      const ran = yield* run(["convert", source, "--pages", "19-22", "-o", beside, "--json"])
      assert.strictEqual(ran.code, 0, ran.out)
      assert.strictEqual(ran.err, "")
      const html = yield* textOf(beside)
      assert.deepInclude(jsonOf<object>(ran), {
        ok: true,
        input: source,
        output: beside,
        pages: 4,
        bytes: Buffer.byteLength(html),
        unreadablePages: []
      })
      for (const page of [19, 20, 21, 22]) assert.include(html, `Page number ${page}`)
      for (const page of [18, 23]) assert.notInclude(html, `Page number ${page}`)
      const beyond = yield* run(["convert", source, "--pages", "31-", "-o", beside])
      assert.strictEqual(beyond.code, 1)
      assert.include(beyond.err, "30 pages only")
      assert.strictEqual(yield* textOf(beside), html)
      const forced = yield* run(["convert", source, "--pages", "2", "--force"])
      assert.strictEqual(forced.code, 0, forced.err)
      assert.include(yield* textOf(beside), "Page number 2")
    })
  )

  it.live("replaces no document by its own result, and no folder", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "a.html": numbered(1), "b.pdf": numbered(1) })
      yield* Effect.promise(() => mkdir(join(folder, "b.html")))
      for (const [name, said] of [
        ["a.html", "is the document itself"],
        ["b.pdf", "is a folder"]
      ] as const) {
        const ran = yield* run(["convert", join(folder, name), "--force"])
        assert.strictEqual(ran.code, 1)
        assert.include(ran.err, said)
      }
    })
  )

  it.live("shows a bar on a terminal, and takes it away", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "a.pdf": numbered(4) })
      const drawn: Array<string> = []
      const ran = yield* run(
        ["convert", join(folder, "a.pdf")],
        {},
        { status: (text) => void drawn.push(text) }
      )
      assert.strictEqual(ran.code, 0)
      assert.strictEqual(ran.err, "")
      assert.isTrue(drawn.some((text) => text.endsWith(barOf("Converting: 2 of 4 pages", 2, 4))))
      assert.strictEqual(drawn.at(-1), "\r\u001b[K")
    })
  )

  it.live("says what is wrong, ends with 1 and leaves nothing", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({
        "document.pdf": numbered(1),
        "text.pdf": notPdf(),
        "empty.pdf": withoutPages(),
        "nothing.pdf": Buffer.alloc(0)
      })
      yield* Effect.promise(async () => {
        const locked = await encryptPdf(join(folder, "document.pdf"), "hunter2")
        await writeFile(join(folder, "locked.pdf"), locked)
        await mkdir(join(folder, "dir.pdf"))
        await symlink(join(folder, "document.pdf"), join(folder, "link.pdf"))
      })
      const before = yield* namesIn(folder)
      for (const [args, words] of [
        [["locked.pdf"], /password/i],
        [["text.pdf"], /plain text/],
        [["empty.pdf"], /page/],
        [["nothing.pdf"], /empty file/],
        [["missing.pdf"], /cannot be read: there is nothing of that name$/],
        [["dir.pdf"], /it is no file/],
        [["document.pdf", "--pages", "x"], /--pages x: write/],
        [["document.pdf", "-o", join(folder, "no", "x.html")], /cannot be written/],
        [["document.pdf", "-o", join(folder, "document.pdf")], /is the document itself/],
        [["document.pdf", "-o", join(folder, "link.pdf")], /is the document itself/],
        [["document.pdf", "-o", join(folder, "dir.pdf")], /is a folder/],
        [["document.pdf", "-o", "-", "--json"], /leave one out/]
      ] as const) {
        const name = args[0]
        const rest: ReadonlyArray<string> = args.slice(1)
        const ran = yield* run(["convert", join(folder, name), ...rest])
        const said = rest.includes("--json") ? ran.out : ran.err
        assert.strictEqual(ran.code, 1, name)
        assert.match(said, words, name)
        assert.notInclude(said, "hunter2")
        assert.notMatch(said, /\n\s+at /)
      }
      const result = yield* run(["convert", join(folder, "text.pdf"), "--json"])
      assert.deepInclude(jsonOf<object>(result), { ok: false })
      assert.deepStrictEqual(yield* namesIn(folder), before)
    })
  )

  it.live("writes into a pipe or a device, and puts no file in its place; a link stays one", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "a.pdf": numbered(2), "target.html": Buffer.from("old") })
      const [source, pipe, link] = [join(folder, "a.pdf"), join(folder, "pipe"), join(folder, "link.html")]
      yield* Effect.promise(async () => {
        await promisify(execFile)("mkfifo", [pipe])
        await symlink(join(folder, "target.html"), link)
      })
      const reader = yield* Effect.forkChild(textOf(pipe))
      assert.strictEqual((yield* run(["convert", source, "-o", pipe])).code, 0)
      const isPipe = yield* Effect.promise(async () => (await lstat(pipe)).isFIFO())
      assert.isTrue(isPipe, "before it is waited for, which would never end")
      assert.include(yield* Fiber.join(reader), "Page number 2")

      assert.strictEqual((yield* run(["convert", source, "-o", link])).code, 0)
      assert.isTrue(yield* Effect.promise(async () => (await lstat(link)).isSymbolicLink()))
      assert.include(yield* textOf(join(folder, "target.html")), "Page number 2")
    })
  )

  it.live("reads a picture of text on this machine", () =>
    Effect.gen(function* () {
      const { picture, words } = yield* typedPicture
      const png = encodePng({ ...picture, channels: 1, data: picture.bytes })
      const folder = yield* folderWith({ "note.png": png })
      const ran = yield* run(["convert", join(folder, "note.png"), "--json"])
      assert.strictEqual(ran.code, 0, ran.err)
      assert.deepInclude(jsonOf<object>(ran), {
        pages: 1,
        recognisedPages: 1,
        unreadPictures: [],
        hasText: true
      })
      const html = yield* textOf(join(folder, "note.html"))
      for (const word of words) assert.include(html, word)
      const ranged = yield* run(["convert", join(folder, "note.png"), "--pages", "1", "-o", "-"])
      assert.include(ranged.err, "it has no pages to choose")
      const off = yield* run(["convert", join(folder, "note.png"), "--ocr", "off", "-o", "-"])
      assert.match(off.err, /stayed a picture.*--ocr is off/)
    }).pipe(Effect.scoped)
  )

  it.live("says of a scan whose text was not read that it stayed a picture", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "scan.pdf": yield* scan })
      const ran = yield* run(["convert", join(folder, "scan.pdf"), "--ocr", "off"])
      assert.strictEqual(ran.code, 0, ran.err)
      assert.match(
        ran.out,
        /\n1 page stayed a picture, .*\(1\): .*--ocr is off\nThere is no word of text in it$/
      )
      const shown = yield* run(["convert", join(folder, "scan.pdf"), "--ocr", "off", "-o", "-"])
      assert.match(shown.err, /stayed a picture/, "beside the document, which is all that the output holds")
    })
  )

  it.live("as a process: the document on the output and nothing else, code 0", () =>
    Effect.gen(function* () {
      const folder = yield* folderWith({ "a.pdf": numbered(2) })
      const ended = yield* Effect.acquireUseRelease(
        Effect.sync(() =>
          runChild("src/runtime/entries/cli.ts", ["convert", join(folder, "a.pdf"), "-o", "-"], {})
        ),
        (child) =>
          Effect.map(
            Effect.promise(() => child.ended),
            ({ code }) => ({ code, out: child.lines.join("\n") })
          ),
        (child) => Effect.promise(child.destroy)
      )
      assert.strictEqual(ended.code, 0)
      assert.match(ended.out, /^<!doctype html>[\s\S]*<\/html>$/)
      assert.include(ended.out, "Page number 2")
    })
  )
})

describe("a range of pages", () => {
  it("is read as it is written, and is never empty", () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999 }), fc.nat(1000), (first, more) => {
        const last = first + more
        assert.deepStrictEqual(parsePages(`${first}-${last}`), { first: first - 1, end: last })
        assert.deepStrictEqual(parsePages(` ${first} `), { first: first - 1, end: first })
        assert.strictEqual(parsePages(`${first}-`)?.first, first - 1)
        if (more > 0) assert.isUndefined(parsePages(`${last}-${first}`))
      })
    ))

  it("is total: other text is none", () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d-]{0,9}$/)), (text) => {
        const range = parsePages(text)
        if (range !== undefined) assert.isTrue(range.first >= 0 && range.end > range.first)
      })
    ))
})
