import type { DocumentFacts, PageContent } from "../../../src/reader/model/page-content.ts"
import { loadLibraries } from "../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../src/reader/sources/pdf/pages/document.ts"

/** A whole document, read in this thread: for tests of what comes after. */
export const extractFile = async (
  path: string,
  range?: { readonly first: number; readonly end: number }
): Promise<{ readonly facts: DocumentFacts; readonly pages: ReadonlyArray<PageContent> }> => {
  const document = new OpenDocument(await loadLibraries(), path)
  try {
    const { first, end } = range ?? { first: 0, end: document.facts.pageCount }
    const pages = Array.from({ length: end - first }, (_, at) => document.page(first + at))
    return { facts: { ...document.facts, fonts: document.fonts.faces }, pages }
  } finally {
    document.close()
  }
}
