import { countWords } from "./word-pages.ts"
import { readXml } from "./xml.ts"

/** Most characters of a paragraph that are kept before they are counted. */
const MAX_KEPT = 100_000

/** Words, paragraphs and page breaks of WordprocessingML as it streams by. Memory does not grow with it. */
export const wordLength = async (
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>
): Promise<{ words: number; readonly paragraphs: number; readonly breaks: number }> => {
  let words = 0
  let paragraphs = 0
  let breaks = 0
  let inText = false
  // A word may continue in the next run.
  let kept = ""
  const count = () => {
    words += countWords(kept)
    kept = ""
  }
  await readXml(bytes, {
    open: (name, attributes) => {
      inText = name === "t"
      if (name === "p") paragraphs += 1
      if (name === "lastRenderedPageBreak" || (name === "br" && attributes.get("type") === "page"))
        breaks += 1
      if (name === "tab" || name === "br") kept += " "
    },
    close: (name) => {
      inText = false
      if (name === "p") count()
    },
    text: (text) => {
      if (!inText) return
      kept += text
      if (kept.length > MAX_KEPT) count()
    }
  })
  count()
  return { words, paragraphs, breaks }
}
