/** READMEs of installed npm packages, printed by engines of others: the source's HTML is the truth. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { bodyOf, documentOf, rewritten, sha256 } from "./tree.ts"

export interface Readme {
  readonly name: string
  readonly package: string
  readonly markdown: string
}

const ENOUGH = 4000
const MOST = 40_000

/** READMEs of a node_modules folder that have a few pages. */
export const readmesOf = (modules: string): ReadonlyArray<Readme> =>
  readdirSync(modules)
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name]
    )
    .flatMap((name) => {
      const [readme, facts] = [join(modules, name, "README.md"), join(modules, name, "package.json")]
      if (!existsSync(readme) || !existsSync(facts)) return []
      const markdown = readFileSync(readme, "utf8")
      if (markdown.length < ENOUGH || markdown.length > MOST) return []
      const { version }: { version: string } = JSON.parse(readFileSync(facts, "utf8"))
      return [{ name: name.replace("/", "-").replace("@", ""), package: `${name}@${version}`, markdown }]
    })

/** What prints a document: by the hash of its name, so that each engine has about as many. */
export const ENGINES = ["chromium", "weasyprint", "libreoffice"] as const
export type Engine = (typeof ENGINES)[number]
export const engineOf = (name: string): Engine =>
  ENGINES[Number.parseInt(sha256(name).slice(2, 6), 16) % 3] ?? "chromium"

const STYLES = [
  "",
  "body{font:11pt/1.5 sans-serif}h1,h2{border-bottom:1px solid #ddd;padding-bottom:.3em}table{border-collapse:collapse}td,th{border:1px solid #ddd;padding:4px 10px}pre{background:#f4f4f4;padding:8px}code{font-family:monospace}",
  "body{font:10pt/1.35 serif;text-align:justify}h1{font-size:16pt}h2{font-size:12pt}h3,h4{font-size:10pt}table{border-top:1px solid;border-bottom:1px solid;border-collapse:collapse}th{border-bottom:1px solid}td,th{padding:2px 8px;text-align:left}"
]

/** HTML to print, in one of a few styles. */
export const printable = (name: string, html: string): string =>
  documentOf(
    name,
    rewritten(bodyOf(html), () => undefined)
  ).replace(
    "</head>",
    `<style>${STYLES[Number.parseInt(sha256(name).slice(6, 8), 16) % STYLES.length]}</style></head>`
  )

/** HTML without its first heading. */
export const withoutFirstHeading = (name: string, html: string): string => {
  let lost = false
  return documentOf(
    name,
    rewritten(bodyOf(html), ({ tagName }) => {
      if (lost || !/^h[1-6]$/.test(tagName)) return undefined
      lost = true
      return ""
    })
  )
}

/** HTML as it was printed: LibreOffice leaves the first page blank but for the line below a first heading that has one. */
export const asPrinted = (name: string, html: string, pdf: string): string =>
  execFileSync("pdftotext", ["-l", "1", pdf, "-"], { encoding: "utf8" }).trim() === ""
    ? withoutFirstHeading(name, html)
    : html

/** Prints a file of HTML with a program of Debian. */
export const printWith = (
  engine: Exclude<Engine, "chromium">,
  html: string,
  folder: string,
  name: string
): void => {
  const source = join(folder, `${name}.html`)
  writeFileSync(source, html)
  if (engine === "weasyprint")
    execFileSync("weasyprint", ["-q", source, join(folder, `${name}.pdf`)], { stdio: "ignore" })
  else
    execFileSync(
      "soffice",
      ["--headless", "--convert-to", "pdf:writer_web_pdf_Export", "--outdir", folder, source],
      { stdio: "ignore" }
    )
}
