import { readFileSync } from "node:fs"
import { join } from "node:path"

import { programOf } from "../../support/processes/child.ts"
import { watched } from "../watched.ts"

/** What converting one document came to. */
export interface Conversion {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakBytes: number
  /** What was made, as HTML. */
  readonly html: string
}

/** Something that makes HTML, or text, of a PDF. */
export interface Converter {
  readonly name: string
  /** Undefined where it is not installed. `out`: an empty folder. */
  readonly convert: (path: string, out: string) => Promise<Conversion | undefined>
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** One that is installed on the machine, or not. */
const command = (
  name: string,
  program: string,
  args: ReadonlyArray<string>,
  file: string,
  asHtml: (text: string) => string
): Converter => ({
  name,
  convert: async (path, out) => {
    const target = join(out, file)
    const done = await watched(
      program,
      args.map((arg) => arg.replace("{}", path).replace("{out}", target))
    )
    return done === undefined ? undefined : { ...done, html: asHtml(readFileSync(target, "utf8")) }
  }
})

/** One that runs on Node: its process prints what the work took, its own start and the first pass that warms it up left out. */
const onNode = (name: string, script: string, passes: number): Converter => ({
  name,
  convert: async (path, out) => {
    const target = join(out, "document.html")
    const done = await watched(process.execPath, [
      programOf(`test/bench/conversion/${script}`),
      path,
      target,
      String(passes)
    ])
    if (done === undefined) return undefined
    const { cpuSeconds, seconds } = JSON.parse(done.output) as {
      readonly seconds: number
      readonly cpuSeconds: number
    }
    return { seconds, cpuSeconds, peakBytes: done.peakBytes, html: readFileSync(target, "utf8") }
  }
})

/** What the layout tier is compared with, and the tier itself. The first one is what ratios are of. */
export const converters = (passes: number): ReadonlyArray<Converter> => [
  command(
    "pdftohtml",
    "pdftohtml",
    ["-noframes", "-i", "-q", "{}", "{out}"],
    "document.html",
    (html) => html
  ),
  command(
    "pdftotext -layout",
    "pdftotext",
    ["-layout", "{}", "{out}"],
    "document.txt",
    (text) => `<pre>${escaped(text)}</pre>`
  ),
  onNode("pdfjs-dist, text alone", "pdfjs-process.ts", passes),
  onNode("layout tier, page to HTML", "layout-process.ts", passes)
]
