import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { PAGE_PATHS } from "../../../src/adapters/http/pages/paths.ts"
import { type Attacked, startAttacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { type Artefact, judged, type Reference } from "../reference.ts"
import { isAtHand, npmPackage, run } from "../tools.ts"

const SPEC = "vnu-jar@26.9.27"
const ARTEFACTS: ReadonlyArray<Artefact> = [
  {
    pattern: /^_docs\.html:\d+ (?:error: Forbidden code point|info: Text run is not in Unicode)/,
    reason: "the page carries the script of its viewer, whose strings hold such characters"
  },
  {
    pattern: /^_docs\.html:\d+ info: Trailing slash on void elements/,
    reason: "the viewer's library writes the page's head"
  }
]
const ANY_ID = "00000000-0000-4000-8000-000000000000"
const OWNER = "outside-owner-token"

interface Message {
  readonly type: string
  readonly url: string
  readonly lastLine?: number
  readonly message: string
}

const home = async (cache: string) =>
  join(await npmPackage(cache, SPEC), "node_modules/vnu-jar/build/dist/vnu.jar")

/** The result of a document of so many pages. */
const resultOf = async ({ url }: Attacked, pages: number): Promise<string> => {
  const headers = { authorization: `Bearer ${OWNER}` }
  const ask = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { ...init, headers })
  const uploaded = await ask(`/api/v1/files?name=${pages}.pdf`, {
    method: "POST",
    body: new Uint8Array(numbered(pages))
  })
  const { file } = (await uploaded.json()) as { readonly file: { readonly id: string } }
  await ask(`/api/v1/files/${file.id}/convert`, { method: "POST" })
  for (let looks = 0; looks < 600; looks += 1) {
    const result = await ask(`/api/v1/files/${file.id}/result`)
    if (result.ok) return result.text()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`${pages} pages are not converted after two minutes`)
}

export const vnu: Reference = {
  name: "vnu",
  version: "26.9.27",
  checks: "each page that anybody may open, and ten results, by the W3C's checker of HTML",
  isAtHand: ({ cache }) => isAtHand(cache, SPEC),
  needs: ["java", "npm"],
  install: async ({ cache }) => void (await home(cache)),
  run: async ({ cache, work }) => {
    const server = await startAttacked({ OWNER_TOKEN: OWNER })
    // Pages hold no data: one of an id is served for any.
    const paths = [
      ...PAGE_PATHS.map((path) => path.replace(/:(?:\w*[iI]d)\b/, ANY_ID)),
      "/dev",
      "/docs",
      "/nowhere"
    ]
    const names: Array<string> = []
    const keep = async (name: string, html: string) => {
      await writeFile(join(work, `${name}.html`), html)
      names.push(name)
    }
    try {
      for (const path of paths.filter((one) => !one.includes(":"))) {
        const answer = await fetch(`${server.url}${path}`, { headers: { accept: "text/html" } })
        const type = answer.headers.get("content-type") ?? ""
        const html = await answer.text()
        if (type.startsWith("text/html")) await keep(path.replaceAll(/\W+/g, "_"), html)
      }
      for (let pages = 1; pages <= 10; pages += 1)
        await keep(`result-${pages}`, await resultOf(server, pages))
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
    const complaints = messages.map(
      ({ lastLine, message, type, url }) => `${url.split("/").at(-1)}:${lastLine ?? 0} ${type}: ${message}`
    )
    const clean = names
      .filter((name) => !complaints.some((complaint) => complaint.startsWith(`${name}.html:`)))
      .map((name) => ({ name, outcome: "held" as const }))
    return [...clean, ...judged(complaints, ARTEFACTS)]
  }
}
