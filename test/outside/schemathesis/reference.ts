import { readFile } from "node:fs/promises"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { type Artefact, type Check, judged, type Reference } from "../reference.ts"
import { pip, run } from "../tools.ts"

const SPEC = "schemathesis==4.32.5"
const CREDENTIALS: ReadonlyArray<readonly [who: string, header: string | undefined]> = [
  ["nobody", undefined],
  ["a service", "X-Proxy-Secret: outside-proxy-secret"],
  ["an admin", "Authorization: Bearer outside-admin-token"],
  ["an owner", "Authorization: Bearer outside-owner-token"]
]

const ARTEFACTS: ReadonlyArray<Artefact> = []

/**
 * What failed, from the JUnit report: the operation, the check, what the request did wrong where it did, and what the server answered.
 */
const complaintsIn = (report: string): ReadonlyArray<string> => {
  const complaints = new Set<string>()
  for (const [, operation = "", body = ""] of report.matchAll(
    /<testcase name="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g
  ))
    for (const found of body.split(/\n- (?=ST\d)/).slice(1)) {
      const [check = ""] = found.split("\n")
      const component = /Invalid component: .*/.exec(found)?.[0] ?? ""
      const answer = /\n\[\d{3}\][^\n]*/.exec(found)?.[0].trim() ?? ""
      const detail = /"detail":"[^"]*"/.exec(found)?.[0] ?? ""
      complaints.add(`${operation}: ${check}; ${component}; ${answer} ${detail}`)
    }
  return [...complaints]
}

const operationsIn = (report: string) =>
  [...report.matchAll(/<testcase name="([^"]*)"/g)].map(([, name = ""]) => name)

export const schemathesis: Reference = {
  name: "schemathesis",
  version: "4.32.5",
  checks:
    "every operation of the document against a running server, with four credentials and all of its checks",
  needs: ["python3"],
  install: async ({ cache }) => void (await pip(cache, SPEC, "schemathesis")),
  run: async ({ cache, work }) => {
    const program = await pip(cache, SPEC, "schemathesis")
    const complaints = new Set<string>()
    const held: Array<Check> = []
    for (const [who, header] of CREDENTIALS) {
      // A server for each: what one credential leaves behind is nothing to the next.
      const server = await startAttacked({
        PROXY_SHARED_SECRET: "outside-proxy-secret",
        ADMIN_TOKEN: "outside-admin-token",
        OWNER_TOKEN: "outside-owner-token"
      })
      const report = join(work, `${who.replaceAll(" ", "-")}.xml`)
      try {
        const { stdout } = await run(
          program,
          [
            "run",
            `${server.url}/openapi.json`,
            ...(header === undefined ? [] : ["--header", header]),
            "--checks",
            "all",
            "--phases",
            "examples,coverage,fuzzing",
            "--max-examples",
            "10",
            "--seed",
            "4711",
            "--continue-on-failure",
            // A stream of events ends with its conversion.
            "--exclude-path-regex",
            "/stream$",
            "--request-timeout",
            "20",
            "--max-time",
            "120",
            "--report",
            "junit",
            "--report-junit-path",
            report
          ],
          // It keeps what it found in the folder that it runs in.
          { cwd: work, env: { NO_COLOR: "1" }, seconds: 900 }
        )
        const text = await readFile(report, "utf8").catch(() => {
          throw new Error(stdout.slice(-3000))
        })
        const found = complaintsIn(text)
        for (const complaint of found) complaints.add(`as ${who}: ${complaint}`)
        for (const name of operationsIn(text))
          if (!found.some((complaint) => complaint.startsWith(`${name}: `)))
            held.push({ name: `as ${who}: ${name}`, outcome: "held" })
      } finally {
        await server.stop()
      }
    }
    return [...held, ...judged([...complaints], ARTEFACTS)]
  }
}
