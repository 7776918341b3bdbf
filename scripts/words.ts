/**
 * Wording of comments (`test/architecture/tidy.test.ts`). `node scripts/words.ts [PATH]` lists the lines under a path that have a tic,
 * and the share of each ring.
 */
import { fileURLToPath } from "node:url"

import { readSourceFiles, type SourceFile } from "./source-files.ts"
import { lineAt, syntaxOf } from "./syntax.ts"

/** A habit of wording that makes a comment hard to read, with a sample that has it. */
interface Tic {
  readonly tic: RegExp
  /** What to write in its place. */
  readonly instead: string
  /** True when only the first words of a comment count. */
  readonly opening?: true
  readonly sample: string
}

/** English words that are fine once and hard to read when every other comment leans on them. */
export const TICS: ReadonlyArray<Tic> = [
  { tic: /\bstands?\b/i, instead: "is, is written, holds, represents", sample: "The row stands in the log." },
  { tic: /\bwhose\b/i, instead: "with, that has", sample: "A mail whose sender left." },
  { tic: /\bbeside\b/i, instead: "next to, with, at the same time as", sample: "A file beside it." },
  { tic: /\bof (?:its|their) own\b/i, instead: "separate, own", sample: "A room of its own." },
  { tic: /\b(?:is|are) none\b/i, instead: "is not, there is no", sample: "A blank is none." },
  { tic: /\bnobody\b/i, instead: "no user, no process, unused", sample: "Nobody reads it." },
  { tic: /\banew\b/i, instead: "again, from the start", sample: "Counts anew." },
  { tic: /\btells\b/i, instead: "says, shows, reports, distinguishes", sample: "Tells of a failure." },
  { tic: /\bbe it\b/i, instead: "even if, whether", sample: "A mail, be it late." },
  { tic: /\bas it is\b/i, instead: "unchanged", sample: "Left as it is." },
  { tic: /\bfor what\b/i, instead: "for the thing, by its name", sample: "A room for what is read." },
  { tic: /\bgoes on\b/i, instead: "continues", sample: "The run goes on." },
  { tic: /\bat hand\b/i, instead: "available, loaded, near", sample: "The row at hand." },
  { tic: /\bheard\b/i, instead: "received, notified", sample: "No answer was heard." },
  {
    tic: /^(?:the same\b(?= *[:;,.])|in the same\b|those\b|so (?:many|much|long|few|often)\b|such\b|as many\b|and\b|or\b|but\b|that\b|whom?\b|of (?:two|them|these|those)\b)/i,
    instead: "a noun or a verb: a comment needs nothing before it",
    opening: true,
    sample: "So many are read at once."
  }
]

/** Share of comment lines that may have a tic in any ring, in percent: a word may be right in its place. */
export const MOST_TICS = 1

/** Written by a script. */
const GENERATED = /^src\/adapters\/client\/generated\//

const MARKS = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/|--)?\s?|\s*\*\/\s*$/g

/** One line of a comment: its number in the file and its text without the comment marks. */
interface CommentLine {
  readonly line: number
  readonly said: string
}

/** A ring, its comment lines counted, and the places that have a tic. */
interface Wording {
  readonly ring: string
  readonly lines: number
  readonly tics: ReadonlyArray<{ readonly path: string; readonly line: number; readonly said: string }>
}

/** Lines of a file that have words of a comment. In SQL, comments that take whole lines. */
const commentLines = ({ path, text }: SourceFile): ReadonlyArray<CommentLine> => {
  const comments = path.endsWith(".sql")
    ? [...text.matchAll(/^[^\S\n]*--.*$/gm)].map(({ 0: all, index }) => ({
        start: index,
        end: index + all.length
      }))
    : syntaxOf({ path, text }).comments
  return comments.flatMap(({ end, start }) => {
    const first = lineAt(text, start)
    return text
      .slice(start, end)
      .split("\n")
      .map((line, index) => ({ line: first + index, said: line.replace(MARKS, "") }))
      .filter(({ said }) => /\w/.test(said))
  })
}

/** The lines of a file's comments that have a tic. A comment on lines that follow each other opens on the first of them. */
export const ticsOf = (file: SourceFile): ReadonlyArray<CommentLine> => {
  const lines = commentLines(file)
  return lines.filter(({ line, said }, index) => {
    const opens = lines[index - 1]?.line !== line - 1
    return TICS.some(({ opening, tic }) => (opening !== true || opens) && tic.test(said))
  })
}

/** The ring of a file: its folder under `src`, or `migrations`. */
const ringOf = (path: string) => /^src\/[^/]+(?=\/)|^[^/]+/.exec(path)?.[0] ?? path

/** What the comments of each ring look like, in the order of their names. */
export const wordings = (files: ReadonlyArray<SourceFile>): ReadonlyArray<Wording> => {
  const written = files.filter(({ path }) => !GENERATED.test(path))
  const rings = [...new Set(written.map(({ path }) => ringOf(path)))].sort()
  return rings.map((ring) => {
    const own = written.filter(({ path }) => ringOf(path) === ring)
    return {
      ring,
      lines: own.reduce((sum, file) => sum + commentLines(file).length, 0),
      tics: own.flatMap((file) => ticsOf(file).map((found) => ({ path: file.path, ...found })))
    }
  })
}

/** Share of a ring's comment lines with a tic, in percent. */
const shareOf = ({ lines, tics }: Wording) => (100 * tics.length) / Math.max(lines, 1)

/** Rings that have more tics than the limit, a share of their comment lines in percent. */
export const findTics = (found: ReadonlyArray<Wording>, most: number) =>
  found
    .filter((wording) => shareOf(wording) > most)
    .map(
      (wording) =>
        `${wording.ring}: ${shareOf(wording).toFixed(1)} % of comment lines have a tic, at most ${most} % may: node scripts/words.ts ${wording.ring}`
    )

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [under = "src"] = process.argv.slice(2)
  const found = wordings(
    readSourceFiles(fileURLToPath(new URL("..", import.meta.url)), ["src", "migrations"], /\.(ts|js|sql)$/)
  )
  for (const { line, path, said } of found.flatMap(({ tics }) => tics))
    if (path.startsWith(under)) console.log(`${path}:${line}: ${said}`)
  for (const one of found)
    console.log(`${one.ring}: ${one.tics.length} of ${one.lines} comment lines, ${shareOf(one).toFixed(1)} %`)
}
