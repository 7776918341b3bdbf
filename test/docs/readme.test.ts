import { type ChildProcessByStdio, spawn } from "node:child_process"
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { snippetsOf } from "../support/files/snippets.ts"
import { type Child, makeFolder, programOf, runChild } from "../support/processes/child.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const PAGES = ["README.md", "docs/guides/documents.md"]

const snippets = PAGES.flatMap((page) => snippetsOf(new URL(`../../${page}`, import.meta.url)))

let folder: Awaited<ReturnType<typeof makeFolder>>
let server: Child
let url = ""
let smtpPort = ""

/** What the blocks find where they are run: a document, the data folder of `npm start`, and the scripts of package.json. */
beforeAll(async () => {
  folder = await makeFolder()
  server = runChild("src/runtime/entries/start.ts", [], {
    PORT: "0",
    SMTP_PORT: "0",
    SUBMISSION_PORT: "0",
    POSTLANE_DATA_DIR: join(folder.path, ".postlane")
  })
  await writeFile(join(folder.path, "report.pdf"), numbered(2))
  await cp(join(root, "examples/sample.pdf"), join(folder.path, "examples/sample.pdf"))
  const scripts = {
    postlane: `node ${programOf("src/runtime/entries/cli.ts")}`,
    "demo:mail": `node ${join(root, "scripts/demo-mail.ts")}`
  }
  await writeFile(join(folder.path, "package.json"), JSON.stringify({ scripts }))
  url = await server.line((line) => / API +(http:\S+)/.exec(line)?.[1])
  smtpPort = await server.line((line) => /SMTP listens on \S+:(\d+)/.exec(line)?.[1])
})
afterAll(async () => {
  server.signal("SIGTERM")
  await server.ended
  await folder.remove()
})

const outputOf = (child: ChildProcessByStdio<null, Readable, Readable>) => {
  let output = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => (output += bytes.toString()))
  return new Promise<{ readonly code: number | null; readonly output: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, output }))
  )
}

/** Runs the block of TypeScript with these words, beside the document, with the owner's token. */
const runSnippet = async (words: string) => {
  const found = snippets.filter(({ language, text }) => language === "ts" && text.includes(words))
  assert.lengthOf(found, 1, words)
  const file = join(root, ".postlane", `readme-${process.pid}.ts`)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, (found[0]?.text ?? "").replaceAll("http://127.0.0.1:8787", url))
  const secrets = JSON.parse(await readFile(join(folder.path, ".postlane/secrets.json"), "utf8")) as {
    readonly OWNER_TOKEN: string
  }
  const hook = join(root, "test/support/processes/postlane-by-name.ts")
  const child = spawn(process.execPath, ["--import", hook, file], {
    cwd: folder.path,
    env: {
      PATH: process.env["PATH"],
      POSTLANE_TEST_PROGRAMS: process.env["POSTLANE_TEST_PROGRAMS"],
      OWNER_TOKEN: secrets.OWNER_TOKEN
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const ended = await outputOf(child)
  await rm(file)
  return ended
}

/** Runs blocks in one shell, as a reader would, one after the other; the first command that fails ends it. */
const paste = (...texts: ReadonlyArray<string>) => {
  const script = ["set -eu", ...texts].join("\n").replaceAll("http://127.0.0.1:8787", url)
  const child = spawn("bash", ["-c", script], {
    cwd: folder.path,
    env: {
      PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`,
      HOME: folder.path,
      SMTP_PORT: smtpPort,
      PORT: new URL(url).port
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  return outputOf(child)
}

/** The block with these words, which a reader pastes into a terminal. */
const blockWith = (...words: ReadonlyArray<string>) => {
  const found = snippets.filter(
    ({ language, text }) => language === "sh" && words.every((word) => text.includes(word))
  )
  assert.lengthOf(found, 1, words.join(", "))
  return found[0]?.text ?? ""
}

describe("the commands of README.md and of the guide to documents, as they are", () => {
  it("send a first mail, and show a fail-over", async () => {
    const { code, output } = await paste(
      blockWith("First mail"),
      "echo",
      blockWith("Second mail", "/dev/simulate")
    )
    assert.strictEqual(code, 0, output)
    assert.match(output, /"status":"sent".*"provider":"provider_a"/)
    const second = output.slice(output.lastIndexOf('"status":"sent"'))
    assert.match(second, /"provider":"provider_b"/)
    assert.match(second, /"failedOver":true/)
  })

  it("convert a document on this machine, then through the API and share it", async () => {
    const { code, output } = await paste(
      blockWith("npm run postlane -- convert"),
      blockWith("/api/v1/files/$ID/convert")
    )
    assert.strictEqual(code, 0, output)
    assert.include(output, "examples/sample.html: 1 page")
    assert.include(output, '"status":"completed"')
    assert.include(output, '{"recipients":1,"unsentRecipients":[]}')
    assert.include(await readFile(join(folder.path, "report.html"), "utf8"), "Page number 2")
  })

  it("convert a document through the client, and follow it to its end", async () => {
    const { code, output } = await runSnippet("postlane/client")
    assert.strictEqual(code, 0, output)
    assert.match(output, /^2 2$/m)
  })

  it("mail a document, and name the answer", async () => {
    const { code, output } = await paste(blockWith("npm run demo:mail"))
    assert.strictEqual(code, 0, output)
    assert.match(output, /^result: Re: Please convert report\.pdf$/m)
  })
})
