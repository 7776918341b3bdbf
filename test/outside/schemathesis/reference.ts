import { readFile } from "node:fs/promises"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { type Artefact, type Check, judged, type Reference } from "../reference.ts"
import { pip, run } from "../tools.ts"

const SPEC = "schemathesis==4.32.5"
const CREDENTIALS: ReadonlyArray<readonly [who: string, header: string | undefined]> = [
  ["nobody", undefined],
  ["a service", "x-proxy-secret: outside-proxy-secret"],
  ["an admin", "Authorization: Bearer outside-admin-token"],
  ["an owner", "Authorization: Bearer outside-owner-token"]
]

const ARTEFACTS: ReadonlyArray<Artefact> = [
  {
    pattern:
      /ST202 .*(?:is not one mail address|NUL character|control character|is not the id of a message|is unknown; use|is incomplete or unknown|signature headers|damaged or is not a PDF|length of at least 1|is empty|names no recipient|one of html and text|say nothing|is not the id of a row|must be an address that starts with|must be an address, user@domain|is not a number of)/,
    reason:
      "no schema says what an address, a signed token, a cursor or a whole PDF is: the server does, in words"
  },
  {
    pattern: /ST202 .*\[410\]/,
    reason: "the link of no mail: it would be a link only with the server's signature"
  },
  {
    pattern: /ST201 .*Invalid component: parameters? .*\(empty\)/,
    reason: "an empty filter counts as missing, for forms that send all of their fields"
  },
  {
    pattern: /ST201 .*Invalid component: in body - website/,
    reason: "a field that only robots fill in: who does is answered as if all was well"
  },
  {
    pattern: /ST201 .*Incorrect type \(null\)/,
    reason:
      "null stands for what is absent, as other languages write it; as a type of its own it makes generated clients clumsy"
  },
  {
    pattern: /GET \/api\/v1\/results: ST201 .*maxLength/,
    reason: "so long an address is refused with the connection, before there is an answer"
  },
  {
    pattern: /ST201 .*\[(?:413|431)\]/,
    reason: "it was refused, with a status that the tool does not count as a refusal"
  },
  {
    pattern: /ST103 .*\[431\]/,
    reason: "refused before the server knows which operation is meant"
  },
  {
    pattern: /ST202 .*name it as tag/,
    reason: "that one filter is nothing without another one, no schema of parameters says"
  },
  {
    pattern: /outreach\/sends: ST202 .*\[422\].*(?:wants no outreach|Recipient suppressed)/,
    reason: "a request before has taken the address off, or suppressed it"
  },
  {
    pattern: /notifications\/test: ST101 .*\[502\].*The channel did not take it/,
    reason: "a request before has set the simulated provider to refuse or to leave it open, and 502 says so"
  }
]

const ANSWER = /\n\[\d{3}\][^\n]*/

/**
 * What failed, from the JUnit report: the operation, the check, what the request did wrong where it did, and what the server answered.
 */
const complaintsIn = (report: string): ReadonlyArray<string> => {
  const complaints = new Set<string>()
  for (const [, operation = "", body = ""] of report.matchAll(
    /<testcase name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g
  )) {
    // What failed of one request stands above its one answer.
    const parts = body.split(/\n- (?=ST\d)/).slice(1)
    for (const [at, said] of parts.entries()) {
      const found = [
        said,
        ...parts.slice(at + 1, 1 + parts.findIndex((part, other) => other >= at && ANSWER.test(part)))
      ].join("\n")
      const [check = ""] = found.split("\n")
      const component = /Invalid component: .*/.exec(found)?.[0] ?? ""
      const member = /in body - (?:\w+(?:\.| -&gt; ))*(\w+): Incorrect type/.exec(component)?.[1]
      const isNull = member !== undefined && new RegExp(`${member}(?:"|&quot;): ?null`).test(found)
      const query = /https?:\/\/[^\s'"]*\?([^\s'"]*)/.exec(found)?.[1]?.replaceAll("&amp;", "&")
      const isEmpty = [...component.matchAll(/parameters? ((?:`\w+`(?:, )?)+)/g)].some(([, names = ""]) =>
        [...names.matchAll(/\w+/g)].every(([name]) =>
          new URLSearchParams(query).getAll(name).every((value) => value === "")
        )
      )
      const answer = ANSWER.exec(found)?.[0].trim() ?? ""
      const detail = /"detail":"[^"]*"/.exec(found)?.[0] ?? ""
      complaints.add(
        `${operation}: ${check}; ${component}${isNull ? " (null)" : ""}${isEmpty ? " (empty)" : ""}; ${answer} ${detail}`
      )
    }
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
        OWNER_TOKEN: "outside-owner-token",
        // Links of mailing lists have to be https: without it a list's mail is refused, which no schema tells.
        BASE_URL: "https://mail.example.com"
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
            "--max-response-time",
            "20",
            "--request-timeout",
            "20",
            "--max-time",
            "60",
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
    return [...held, ...judged([...complaints], ARTEFACTS, { isSampled: true })]
  }
}
