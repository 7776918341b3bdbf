/**
 * `node test/quality/corpus/gather.ts FOLDER`: fetches the documents that `truth.ts` scores, from Debian's packages and from
 * `node_modules`, into FOLDER/HALF/CLASS/NAME.pdf with NAME.truth.html beside it, and says what differs from `corpus.json`
 * (`--write` writes it). By hand: it needs apt-get, dpkg, latexml, pandoc, texlive-publishers, texlive-science, poppler-utils, qpdf,
 * ghostscript, weasyprint and libreoffice-writer of Debian 12, half an hour and 3 GB.
 */
import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

import { wordsOf } from "../../../src/domain/cascade/coverage.ts"
import { loadLibraries } from "../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../src/reader/sources/pdf/pages/document.ts"
import { openBrowser } from "../../support/processes/browser.ts"
import { readContent } from "../score.ts"
import { MANUALS, OFFICE, PAPERS, packageFolder, TAGGED, versionOf } from "./debian.ts"
import { readLatex } from "./latex.ts"
import { chaptersOf, wholeOf } from "./manuals.ts"
import { printOffice, readOffice } from "./office.ts"
import { asPrinted, engineOf, printable, printWith, readmesOf } from "./readmes.ts"
import { isTagged, readTagged, writeUntagged } from "./tagged.ts"
import { halfOf, sha256 } from "./tree.ts"

/** A document with its truth; `group` decides which half it is in. */
interface Found {
  readonly name: string
  readonly kind: string
  readonly group: string
  readonly package: string
  readonly pdf: string
  readonly truth: string
}

const [root = ".", ...rest] = process.argv.slice(2)
const only = rest.find((word) => !word.startsWith("--"))
const folder = resolve(root)
const scratch = join(folder, "scratch")
mkdirSync(scratch, { recursive: true })

const manifest = join(import.meta.dirname, "corpus.json")
const known: ReadonlyArray<{ name: string; sha256: string }> = JSON.parse(readFileSync(manifest, "utf8"))
const writes = rest.includes("--write")
/** Reading LaTeX takes minutes a source: what the manifest does not name is read only to write a new one. */
const isWanted = (name: string): boolean => writes || known.some((row) => row.name === name)

/** LaTeXML takes two minutes for the longest paper of the manifest; on a busy machine it may take a few times that. */
const MOST_MS = 600_000

const quietly = (name: string, args: ReadonlyArray<string>, cwd = scratch): boolean => {
  try {
    execFileSync(name, args, { cwd, stdio: "ignore", timeout: MOST_MS, killSignal: "SIGKILL" })
    return true
  } catch {
    return false
  }
}

/** Words of a PDF in its own order. */
const plainWords = (pdf: string): ReadonlyArray<string> =>
  wordsOf(execFileSync("pdftotext", [pdf, "-"], { encoding: "utf8", maxBuffer: 1 << 28 }))

/** Share of words that two texts have in common: a truth that differs much from the printed text is none. */
const alike = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number => {
  const left = new Map<string, number>()
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1)
  let found = 0
  for (const word of b) {
    const count = left.get(word) ?? 0
    if (count > 0) found += 1
    left.set(word, count - 1)
  }
  return (2 * found) / Math.max(1, a.length + b.length)
}

const filesIn = (of: string): ReadonlyArray<string> =>
  readdirSync(of, { recursive: true, encoding: "utf8" }).map((file) => join(of, file))

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Article-like sources with sections and something to find in them; two of a package at most. */
const latexSources = (of: string): ReadonlyArray<string> => {
  const perPackage = new Map<string, number>()
  return filesIn(of)
    .filter((file) => file.endsWith(".tex") && existsSync(file.replace(/tex$/, "pdf")))
    .sort()
    .filter((file) => {
      const tex = readFileSync(file, "latin1")
      const kind = /^\s*\\documentclass[^{]*\{([^}]*)\}/m.exec(tex)?.[1] ?? "ltxdoc"
      if (/beamer|letter|exam|poster|^l3doc|^ltx|abntexto/.test(kind + basename(file).toLowerCase()))
        return false
      if (tex.length < 6000 || tex.length > 90_000 || count(tex, /\\(?:sub)*section\*?[[{]/g) < 3)
        return false
      const parts = count(
        tex,
        /begin\{(?:equation|align|gather|eqnarray|displaymath|multline|tabular|figure)|\\\[/g
      )
      const group = packageOf(file)
      const earlier = perPackage.get(group) ?? 0
      if (parts < 2 || earlier >= 2) return false
      perPackage.set(group, earlier + 1)
      return true
    })
}

const packageOf = (file: string): string => file.split("/texlive-doc/")[1]?.split("/")[1] ?? basename(file)

const MOST_PAGES = 19

const papers = (): ReadonlyArray<Found> =>
  PAPERS.flatMap((name) => {
    const of = packageFolder(folder, name)
    return latexSources(of).flatMap((tex) => {
      const pdf = tex.replace(/tex$/, "pdf")
      if (pagesOf(pdf) > MOST_PAGES) return []
      const key = `${packageOf(tex)}-${basename(tex, ".tex")}`
      if (!isWanted(key)) return []
      const [xml, html] = [join(scratch, `${key}.xml`), join(scratch, `${key}.html`)]
      if (!existsSync(html)) {
        if (!quietly("latexml", ["--quiet", `--destination=${xml}`, basename(tex)], dirname(tex))) return []
        const way = [
          "--quiet",
          "--format=html5",
          "--pmml",
          "--nographicimages",
          "--nopictureimages",
          "--nodefaultresources"
        ]
        if (!quietly("latexmlpost", [...way, `--destination=${html}`, xml])) return []
      }
      const truth = readLatex(readFileSync(html, "utf8"))
      return [
        { name: key, kind: "papers", group: packageOf(tex), package: versionOf(folder, name), pdf, truth }
      ]
    })
  })

const pagesOf = (pdf: string): number =>
  Number(/^Pages:\s+(\d+)/m.exec(execFileSync("pdfinfo", [pdf], { encoding: "utf8" }))?.[1] ?? 0)

const libraries = await loadLibraries()

/** Chapters of a PDF's outline that begin on pages of their own, with their pages. */
const outlined = (pdf: string): ReadonlyArray<{ title: string; first: number; last: number }> => {
  const document = new OpenDocument(libraries, pdf)
  try {
    const { outline, pageCount } = document.facts
    const top = outline.filter(({ level }) => level === Math.min(...outline.map((entry) => entry.level)))
    return top.map(({ page = 0, title }, at) => ({
      title,
      first: page + 1,
      last: top[at + 1]?.page ?? pageCount
    }))
  } finally {
    document.close()
  }
}

/** Chapters of a manual that are taken: three of 3 to 30 pages, by the hash of their title. */
const CHAPTERS = 3

const manuals = (): ReadonlyArray<Found> =>
  MANUALS.flatMap(([name, pdfName, htmlName, way]) => {
    const base = join(packageFolder(folder, name), "usr/share/doc")
    const [pdf, html] = [pdfName, htmlName].map((file) =>
      [join(base, file), join(base, "..", file)].find((one) => existsSync(one))
    )
    if (pdf === undefined || html === undefined) {
      console.log(`${pdfName} or ${htmlName} is missing`)
      return []
    }
    const key = basename(pdf, ".pdf") === "manual" ? name : basename(pdf, ".pdf")
    const facts = { kind: "manuals", group: name, package: versionOf(folder, name) }
    if (way === "whole") return [{ ...facts, name: key, group: key, pdf, truth: wholeOf(html) }]
    const chapters = outlined(pdf).filter(({ first, last }) => last - first >= 2 && last - first < 30)
    const truths = chaptersOf(
      html,
      outlined(pdf).map(({ title }) => title)
    )
    return chapters
      .filter(({ title }) => truths.has(title))
      .sort((a, b) => sha256(a.title).localeCompare(sha256(b.title)))
      .slice(0, CHAPTERS)
      .map(({ first, last, title }) => {
        const cut = join(scratch, `${key}-${first}.pdf`)
        quietly("qpdf", [pdf, "--deterministic-id", "--pages", ".", `${first}-${last}`, "--", cut])
        return { ...facts, name: `${key}-${first}`, pdf: cut, truth: truths.get(title) ?? "" }
      })
  })

const readmes = async (): Promise<ReadonlyArray<Found>> => {
  const browser = await openBrowser()
  const found: Array<Found> = []
  for (const readme of readmesOf(resolve("node_modules"))) {
    const html = execFileSync("pandoc", ["-f", "gfm", "-t", "html"], {
      input: readme.markdown,
      encoding: "utf8"
    })
    const [engine, source] = [engineOf(readme.name), printable(readme.name, html)]
    const pdf = join(scratch, `${readme.name}.pdf`)
    if (!existsSync(pdf)) {
      if (engine === "chromium") {
        const page = await browser.newPage()
        await page.setContent(source)
        writeFileSync(
          pdf,
          await page.pdf({
            format: "A4",
            tagged: false,
            margin: { top: "20mm", bottom: "20mm", left: "18mm", right: "18mm" }
          })
        )
        await page.close()
      } else printWith(engine, source, scratch, readme.name)
    }
    found.push({
      name: readme.name,
      kind: `readmes-${engine}`,
      group: readme.name,
      package: readme.package,
      pdf,
      truth: asPrinted(readme.name, source, pdf)
    })
  }
  await browser.close()
  return found
}

/** Longer ones say little more, and take long to compare. */
const MOST_OFFICE_PAGES = 120

/** Documents of one package that are taken: some are translations of one text. */
const OF_ONE_PACKAGE = 3

/** A package's files of one kind, by the hash of their names. */
const someOf = (name: string, suits: (file: string) => boolean): ReadonlyArray<string> =>
  filesIn(join(packageFolder(folder, name), "usr"))
    .filter(suits)
    .sort((a, b) => sha256(basename(a)).localeCompare(sha256(basename(b))))
    .slice(0, OF_ONE_PACKAGE)

/** Packages of one family share a template: they stay together. */
const familyOf = (name: string): string => /^(?:fonts-sil|writer2latex)/.exec(name)?.[0] ?? name

const office = (): ReadonlyArray<Found> =>
  OFFICE.flatMap((name) =>
    someOf(name, (file) => /\.(?:odt|docx)$/.test(file)).flatMap((source) => {
      const key = `${name}-${basename(source).replaceAll(/\.|[^\w-]/g, "-")}`
      const pdf = join(scratch, `${key}.pdf`)
      if (!existsSync(pdf)) printOffice(source, scratch, key)
      const pages = pagesOf(pdf)
      const truth = readOffice(join(scratch, `${key}.docx`))
      if (pages > MOST_OFFICE_PAGES || truth === undefined) return []
      const of = { group: familyOf(name), package: versionOf(folder, name) }
      return [{ ...of, name: key, kind: "office", pdf, truth }]
    })
  )

const tagged = (): ReadonlyArray<Found> =>
  TAGGED.flatMap((name) =>
    someOf(name, (file) => file.endsWith(".pdf") && isTagged(file)).flatMap((source) => {
      const key = `${name}-${basename(source, ".pdf").replaceAll(/[^\w-]/g, "-")}`
      const pdf = join(scratch, `${key}-untagged.pdf`)
      writeUntagged(source, pdf)
      const truth = readTagged(source)
      if (pagesOf(source) > MOST_OFFICE_PAGES || truth === undefined) return []
      const of = { group: familyOf(name), package: versionOf(folder, name) }
      return [{ ...of, name: key, kind: "tagged", pdf, truth }]
    })
  )

/** At least this share of words in common with the PDF's own text. */
const TRUSTED = 0.85

const listed = []
const classes = { papers, manuals, office, tagged, readmes }
for (const [kind, gather] of Object.entries(classes)) {
  if (only !== undefined && only !== kind) continue
  for (const found of await gather()) {
    const share = alike(plainWords(found.pdf), readContent(found.truth).words)
    console.log(`${found.kind} ${found.name} ${share.toFixed(3)}${share < TRUSTED ? ": left out" : ""}`)
    if (share < TRUSTED) continue
    const to = join(folder, halfOf(found.group), found.kind)
    mkdirSync(to, { recursive: true })
    copyFileSync(found.pdf, join(to, `${found.name}.pdf`))
    writeFileSync(join(to, `${found.name}.truth.html`), found.truth)
    listed.push({
      name: found.name,
      class: found.kind,
      half: halfOf(found.group),
      package: found.package,
      pages: pagesOf(found.pdf),
      sha256: sha256(readFileSync(found.pdf))
    })
  }
}
if (writes) writeFileSync(manifest, `[\n${listed.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`)
else
  for (const { name, sha256: hash } of listed)
    if (!known.some((row) => row.name === name && row.sha256 === hash))
      console.log(`${name} is not the one of the manifest`)
