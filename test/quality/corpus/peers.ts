/**
 * `node test/quality/corpus/peers.ts FOLDER MODULES`: what other converters without models make of the documents that `gather.ts`
 * fetched. MODULES is a folder into which npm installed `@opendataloader/pdf` (it needs Java), `@opendocsg/pdf2md` and `pdfjs-dist`;
 * pdftohtml and pandoc are Debian's. None of them is a dependency of the project.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const [root = ".", modules = "."] = process.argv.slice(2)
const folder = resolve(root)
const require = createRequire(join(resolve(modules), "index.js"))

const run = (name: string, args: ReadonlyArray<string>, input?: string): string =>
  execFileSync(name, args, {
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 300_000,
    stdio: ["pipe", "pipe", "ignore"]
  })

const ofMarkdown = (markdown: string): string => run("pandoc", ["-f", "gfm", "-t", "html"], markdown)

/** PDF.js gives runs of text; a run that ends a line ends it with a space here. */
const pdfjs = async (pdf: string): Promise<string> => {
  const { getDocument } = await import(pathToFileURL(require.resolve("pdfjs-dist/legacy/build/pdf.mjs")).href)
  const document = await getDocument({ data: new Uint8Array(readFileSync(pdf)), verbosity: 0 }).promise
  let html = ""
  for (let at = 1; at <= document.numPages; at++) {
    const { items } = await (await document.getPage(at)).getTextContent()
    const text = items
      .map(({ hasEOL, str }: { hasEOL: boolean; str: string }) => str + (hasEOL ? " " : ""))
      .join("")
    html += `<p>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</p>`
  }
  return html
}

const pdf2md = async (pdf: string): Promise<string> => {
  const convert: (bytes: Uint8Array) => Promise<string> = require("@opendocsg/pdf2md")
  return ofMarkdown(await convert(readFileSync(pdf)))
}

const PEERS: Readonly<Record<string, (pdf: string) => string | Promise<string>>> = {
  pdftohtml: (pdf) => run("pdftohtml", ["-q", "-i", "-s", "-noframes", "-stdout", pdf]),
  pdfjs,
  pdf2md
}

const kept = (peer: string, kind: string, name: string): string => {
  const to = join(folder, "peers", peer, kind)
  mkdirSync(to, { recursive: true })
  return join(to, `${name}.html`)
}

for (const half of ["seen", "unseen"])
  for (const kind of readdirSync(join(folder, half))) {
    const of = join(folder, half, kind)
    const names = readdirSync(of).filter((file) => file.endsWith(".pdf"))
    for (const file of names)
      for (const [peer, convert] of Object.entries(PEERS)) {
        const to = kept(peer, kind, file.replace(/\.pdf$/, ""))
        if (existsSync(to)) continue
        try {
          writeFileSync(to, await convert(join(of, file)))
        } catch (error) {
          console.log(`${peer} failed on ${file}: ${String(error).slice(0, 200)}`)
        }
      }
    // One start of Java for a folder.
    const to = join(folder, "scratch", "opendataloader", half, kind)
    if (!existsSync(to)) {
      mkdirSync(to, { recursive: true })
      const { convert } = await import(pathToFileURL(require.resolve("@opendataloader/pdf")).href)
      await convert([of], { outputDir: to, format: "html", quiet: true })
    }
    for (const file of readdirSync(to).filter((one) => one.endsWith(".html")))
      writeFileSync(kept("opendataloader", kind, file.replace(/\.html$/, "")), readFileSync(join(to, file)))
  }
