import { execFile, spawn } from "node:child_process"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, expect, it, vi } from "vitest"

import { ALARMS } from "../../src/domain/delivery/alarm-rules.ts"
import { run } from "../runtime/cli/harness.ts"
import { codeOf, type Snippet, snippetsOf } from "../support/files/snippets.ts"
import { type Child, makeFolder, programOf, runChild } from "../support/processes/child.ts"
import { LONGEST_WAIT_MS } from "../support/time-limits.ts"
import { fakeResend } from "../support/vendors/fake-resend.ts"
import { fakeSes } from "../support/vendors/fake-ses.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = (path: string) => new URL(`../../docs/${path}`, import.meta.url)
const SECRET = "tutorial-secret"

const GUIDES = ["guides/from-resend.md", "guides/from-ses.md", "guides/from-nodemailer.md"]

let child: Child
let folder: Awaited<ReturnType<typeof makeFolder>>
let api = ""

/** What the pages' shells have: `npm run postlane` is run by this Node, on the instance of this test. */
const PRELUDE = `
set -u
npm() { shift; [ "$1" = -s ] && shift; shift; [ "$1" = -- ] && shift; "$NODE" "$CLI" "$@"; }
export API=$TEST_API SECRET=${SECRET}
`

const shell = (script: string): Promise<{ readonly code: number | null; readonly output: string }> =>
  new Promise((resolve) => {
    const running = spawn("bash", ["-c", PRELUDE + script], {
      cwd: root,
      env: {
        PATH: process.env["PATH"],
        NODE: process.execPath,
        CLI: programOf("src/runtime/entries/cli.ts"),
        TEST_API: api,
        POSTLANE_DATA_DIR: folder.path,
        PROXY_SHARED_SECRET: SECRET
      }
    })
    let output = ""
    for (const stream of [running.stdout, running.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
    running.on("close", (code) => resolve({ code, output }))
  })

const isShell = ({ language, info }: Snippet) => language === "sh" && info === ""

/** The command that starts the tutorial's instance, with its settings in front of it. */
const START = /^npm ci\n(.+ )npm start$/

beforeAll(async () => {
  const [start] = snippetsOf(page("tutorial.md"))
  const settings = START.exec(start?.text ?? "")?.[1] ?? assert.fail("the tutorial begins with npm start")
  folder = await makeFolder()
  child = runChild("src/runtime/entries/start.ts", [], {
    ...Object.fromEntries(
      settings
        .trim()
        .split(" ")
        .map((one) => one.split("=") as [string, string])
    ),
    PORT: "0",
    SMTP_PORT: "0",
    SUBMISSION_PORT: "0",
    POSTLANE_DATA_DIR: folder.path,
    PROXY_SHARED_SECRET: SECRET
  })
  api = await child.line((line) => /^ {2}API +(\S+)/.exec(line)?.[1])
})
afterAll(async () => {
  await child.destroy()
  await folder.remove()
})

describe("the tutorial", () => {
  it("does what it says, step by step", async () => {
    const all = snippetsOf(page("tutorial.md")).slice(1)
    let functions = ""
    for (const [at, snippet] of all.entries()) {
      if (!isShell(snippet)) continue
      const expected = all[at + 1]?.language === "text" ? all[at + 1]?.text.split("\n") : undefined
      const script = functions + snippet.text
      const step = async () => {
        const { output } = await shell(script)
        for (const line of expected ?? [])
          expect([snippet.line, output]).toEqual([snippet.line, expect.stringContaining(line)])
      }
      // Every step may be repeated: that is what keys are for.
      await (expected === undefined ? step() : vi.waitFor(step, { timeout: LONGEST_WAIT_MS, interval: 500 }))
      functions += /^\w+\(\) \{\n(?:.*\n)*?\}\n/m.exec(`${snippet.text}\n`)?.[0] ?? ""
    }
  })
})

describe("the runbooks", () => {
  it("there is one for each alarm, each log line and each alarm of CloudWatch", async () => {
    const text = await readFile(page("operate/runbooks.md"), "utf8")
    const named = new Set([...text.matchAll(/^## `(\w+)`$/gm)].map((match) => match[1]))
    const template = await readFile(
      new URL("../infra/templates/postlane.template.json", import.meta.url),
      "utf8"
    )
    const { Resources } = JSON.parse(template) as {
      readonly Resources: Readonly<Record<string, { readonly Type: string }>>
    }
    const cloud = Object.entries(Resources)
      .filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm")
      // CDK appends eight digits of a hash.
      .map(([id]) => id.slice(0, -8))
    expect(cloud.length).toBeGreaterThan(0)
    for (const name of [...ALARMS, ...cloud, "EMAIL_ALARM", "EMAIL_FAILOVER", "HIFI_UNAVAILABLE"])
      expect([...named], `a runbook of ${name}`).toContain(
        name === "EmailAlarm" ? "EMAIL_ALARM" : name === "FailoverAlarm" ? "EMAIL_FAILOVER" : name
      )
    for (const name of cloud) expect(text).toContain(`\`${name}\``)
  })

  it("every command of theirs and of the guides runs", async () => {
    const pages = ["operate/runbooks.md", ...GUIDES].flatMap((name) => snippetsOf(page(name)).filter(isShell))
    const resend = await fakeResend({ suppressed: [{ email: "a@x.test", origin: "bounce" }] }).listen()
    const suppressed = [{ EmailAddress: "b@x.test", Reason: "COMPLAINT" }]
    const ses = await fakeSes({ account: () => ({ suppressed }) }).listen()
    const accounts = {
      PROVIDERA_API_KEY: "re_key",
      PROVIDERA_BASE_URL: resend.url,
      PROVIDERB_ENDPOINT: ses.url,
      CLOUD_ACCESS_KEY_ID: "AKIA",
      CLOUD_SECRET_ACCESS_KEY: "secret"
    }
    const commands = new Set(pages.flatMap(({ text }) => text.split("\n")))
    for (const command of commands) {
      const args = /^(?:npx postlane|npm run (?:-s )?postlane --) (.+)$/.exec(command)?.[1]
      assert.isDefined(args, `${command}: only commands of postlane are run here`)
      // In this process: a process of its own for each would take most of the test's time.
      const env = {
        POSTLANE_DATA_DIR: folder.path,
        PROXY_SHARED_SECRET: SECRET,
        ...(args.includes("--from ") ? accounts : {})
      }
      const { code, err, out } = await Effect.runPromise(run(args.split(" "), env))
      // The doctor's verdict on this machine is its own; that it ran to its end is what counts.
      const ended = args === "doctor" ? /database/i.test(out) : code === 0
      assert.isTrue(ended, `${command}: ${out}${err}`)
    }
    await Promise.all([resend.close(), ses.close()])
  })
})

describe("the guides", () => {
  const place = join(root, ".postlane", `snippets-${process.pid}`)
  beforeAll(() => mkdir(place, { recursive: true }))
  afterAll(() => rm(place, { recursive: true, force: true }))

  it.each(GUIDES)("every snippet of %s sends", async (name) => {
    const snippets = snippetsOf(page(name)).filter(({ language }) => language === "ts" || language === "diff")
    expect(snippets.length).toBeGreaterThan(0)
    const provider = fakeResend()
    await provider.listen()
    const files = await Promise.all(
      snippets.map(async (snippet) => {
        const file = join(place, `${name.replaceAll(/\W/g, "-")}-${snippet.line}.ts`)
        await writeFile(file, codeOf(snippet))
        return file
      })
    )
    const all = files.map((file) => `await import(${JSON.stringify(file)})`).join("\n")
    const hook = join(root, "test/support/processes/postlane-by-name.ts")
    const failure = await new Promise<string>((resolve) => {
      execFile(
        process.execPath,
        ["--import", hook, "--input-type=module", "--eval", all],
        {
          cwd: root,
          env: {
            PATH: process.env["PATH"],
            POSTLANE_TEST_PROGRAMS: process.env["POSTLANE_TEST_PROGRAMS"],
            RESEND_API_KEY: "re_key",
            PROVIDERA_API_KEY: "re_key",
            PROVIDERA_BASE_URL: provider.url
          }
        },
        (error, _, stderr) => resolve(error === null ? "" : stderr)
      )
    })
    await provider.close()
    expect(failure).toBe("")
    expect(provider.accepted.length).toBeGreaterThanOrEqual(snippets.length)
  })
})
