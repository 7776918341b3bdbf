import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { PAGE_PATHS } from "../../../src/adapters/http/pages/paths.ts"
import { pathTo } from "../../../src/domain/pages.ts"
import { type Attacked, startAttacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { ADMIN_TOKEN, arrived, without } from "../installation.ts"
import { type Artefact, judged, type Reference } from "../reference.ts"
import { comes } from "../services.ts"
import { isAtHand, npmPackage, run } from "../tools.ts"

const SPEC = "vnu-jar@26.9.27"
const ARTEFACTS: ReadonlyArray<Artefact> = [
  {
    pattern:
      / (?:info: The “(?:table|rowgroup|row|rowheader|columnheader|cell)” role is unnecessary|error: The “role” attribute must not be used on a “t[rdh]” element which has a “table” ancestor)/,
    reason:
      "a table that is laid out as cards where the screen is narrow, which some browsers take for no table unless it says so"
  },
  {
    pattern:
      /^_dashboard(?:_files_\w+)?\.html:\d+ error: Element “(?:a|img)” is missing|^_admin_email_log\.html:\d+ error: Element “a” is missing/,
    reason: "hidden until the page's script has given it its address"
  },
  {
    pattern: /^_docs\.html:\d+ (?:error: Forbidden code point|info: Text run is not in Unicode)/,
    reason: "the page carries the script of its viewer, whose strings hold such characters"
  },
  {
    pattern: /^_docs\.html:\d+ info: Trailing slash on void elements/,
    reason: "the viewer's library writes the page's head"
  }
]
const OWNER = "outside-owner-token"
const SECRET = "outside-proxy-secret"

interface Message {
  readonly type: string
  readonly url: string
  readonly lastLine?: number
  readonly message: string
}

const home = async (cache: string) =>
  join(await npmPackage(cache, SPEC), "node_modules/vnu-jar/build/dist/vnu.jar")

const asOwner = { authorization: `Bearer ${OWNER}` }
const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` }

interface Result {
  readonly id: string
  readonly html: string
}

/** The result of a document of so many pages. */
const resultOf = async ({ url }: Attacked, pages: number): Promise<Result> => {
  const ask = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { ...init, headers: asOwner })
  const uploaded = await ask(`/api/v1/files?name=${pages}.pdf`, {
    method: "POST",
    body: new Uint8Array(numbered(pages))
  })
  const { file } = (await uploaded.json()) as { readonly file: { readonly id: string } }
  await ask(`/api/v1/files/${file.id}/convert`, { method: "POST" })
  return comes(
    `${pages} pages are converted`,
    async () => {
      const result = await ask(`/api/v1/files/${file.id}/result`)
      return result.ok ? { id: file.id, html: await result.text() } : undefined
    },
    120
  )
}

/** Pages of an id, of what is there: a document, its owner, a mail. */
const pagesOfIds = async (server: Attacked, fileId: string): Promise<ReadonlyArray<string>> => {
  const mail = { to: "ann@x.test", subject: "s", html: "<p>h</p>", category: "auth", source: "api:outside" }
  const sent = await fetch(`${server.url}/internal/send-email`, {
    method: "POST",
    headers: { "x-proxy-secret": SECRET, "content-type": "application/json" },
    body: JSON.stringify(mail)
  })
  const { sendId } = (await sent.json()) as { readonly sendId: string }
  const account = await fetch(`${server.url}/api/v1/account`, { headers: asOwner })
  const owner = (await account.json()) as { readonly account: { readonly id: string } }
  const [message = ""] = await arrived(server, "ann@x.test")
  return [
    pathTo.conversion(fileId),
    pathTo.document(fileId),
    pathTo.customer(owner.account.id),
    pathTo.mail(sendId),
    pathTo.outboxMail(message)
  ]
}

/** Pages that are none of the table's, and one that is not there. */
const OTHERS = [pathTo.outbox, pathTo.ownMails, pathTo.kitchenSink, "/docs"]
/** Of the table, what is no page, and what only leads to another. */
const NO_PAGES: ReadonlySet<string> = new Set(["/", "/favicon.ico", "/admin/stream"])

export const vnu: Reference = {
  name: "vnu",
  version: "26.9.27",
  checks: "each page, as its people see it, and ten results, by the W3C's checker of HTML",
  isAtHand: ({ cache }) => isAtHand(cache, SPEC),
  needs: ["java", "npm"],
  install: async ({ cache }) => void (await home(cache)),
  run: async ({ cache, work }) => {
    const server = await startAttacked({ OWNER_TOKEN: OWNER, ADMIN_TOKEN, PROXY_SHARED_SECRET: SECRET })
    const names: Array<string> = []
    const closed: Array<string> = []
    const keep = async (name: string, html: string) => {
      await writeFile(join(work, `${name}.html`), html)
      names.push(name)
    }
    const open = async (path: string, status = 200) => {
      const who = path.startsWith("/dashboard") ? asOwner : asAdmin
      const answer = await fetch(`${server.url}${path}`, {
        headers: { ...who, accept: "text/html" },
        redirect: "manual"
      })
      if (answer.status !== status) closed.push(`${path}: ${answer.status}`)
      await keep(path.replaceAll(/\W+/g, "_"), await answer.text())
    }
    try {
      let last = ""
      for (let pages = 1; pages <= 10; pages += 1) {
        const { html, id } = await resultOf(server, pages)
        await keep(`result-${pages}`, html)
        last = id
      }
      const paths = PAGE_PATHS.filter((path) => !path.includes(":") && !NO_PAGES.has(path))
      for (const path of [...paths, ...OTHERS, ...(await pagesOfIds(server, last))]) await open(path)
      await open("/nowhere", 404)
    } finally {
      await server.stop()
    }
    const files = names.map((name) => join(work, `${name}.html`))
    const { stderr } = await run("java", [
      "-jar",
      await home(cache),
      "--format",
      "json",
      "--exit-zero-always",
      ...files
    ])
    const { messages } = JSON.parse(stderr) as { readonly messages: ReadonlyArray<Message> }
    // The same of another line is nothing new.
    const first = new Map<string, string>()
    for (const { lastLine = 0, message, type, url } of messages) {
      const page = url.split("/").at(-1) ?? ""
      const kind = `${page} ${type} ${message}`
      if (!first.has(kind)) first.set(kind, `${page}:${lastLine} ${type}: ${message}`)
    }
    const complaints = [...first.values()]
    const clean = names
      .filter((name) => !complaints.some((complaint) => complaint.startsWith(`${name}.html:`)))
      .map((name) => ({ name, outcome: "held" as const }))
    return [without("each page opens", closed), ...clean, ...judged(complaints, ARTEFACTS)]
  }
}
