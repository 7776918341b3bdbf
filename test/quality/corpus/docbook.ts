/**
 * Levels of a DocBook document's headings by its divisions. Its style sheets write the title of an article and of the sections in it
 * as `h2`, that of a book and of its chapters as `h1`; how the divisions stand in one another is in their classes.
 */
import { classesOf, type Element, isElement, type Node } from "./tree.ts"

/** Ranks of divisions that stand at the top of a page of their own, the highest first. */
const RANKS: ReadonlyArray<RegExp> = [
  /^(?:set|book)$/i,
  /^(?:part|reference)$/i,
  /^(?:article|chapter|appendix|preface|glossary|bibliography|index|colophon|dedication|refentry)$/i,
  /^(?:sect1|simplesect|refsect1|refnamediv|refsynopsisdiv)$/i,
  /^(?:sect2|refsect2)$/i,
  /^(?:sect3|refsect3)$/i
]
/** Divisions whose rank is that of the one they stand in, and one. */
const NESTED = /^(?:section|refsection|sect[45]|(?:gloss|biblio|index|qanda)div)$/i
const SECTION_RANK = 4

const firstHeading = (nodes: ReadonlyArray<Node>): number | undefined => {
  for (const node of nodes.filter(isElement)) {
    const level = /^h([1-6])$/.exec(node.tagName)?.[1]
    const found = level === undefined ? firstHeading(node.childNodes) : Number(level)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether a page is DocBook's, by what it says made it. */
export const isDocBook = (page: string): boolean => /docbook(?: xsl| html) stylesheet/i.test(page)

/** The rank of a division that stands in one of `outer` (0 for none); undefined where the element is no division. */
export const rankIn = (outer: number, node: Element): number | undefined => {
  if (node.tagName !== "div") return undefined
  const classes = classesOf(node)
  const named = RANKS.findIndex((names) => classes.some((name) => names.test(name)))
  if (named !== -1) return Math.max(named + 1, outer + 1)
  if (!classes.some((name) => NESTED.test(name))) return undefined
  // A section on a page of its own: its element tells how deep it stands below a chapter, from `h2` on.
  return outer > 0 ? outer + 1 : SECTION_RANK + Math.max(0, (firstHeading(node.childNodes) ?? 2) - 2)
}
