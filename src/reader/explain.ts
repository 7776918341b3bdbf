import { type Block, textOfSpans } from "./model/block.ts"
import type { ExplainedBlock } from "./model/explained.ts"

/** Characters of a block that an explanation quotes. */
const QUOTED = 60

/** The words that a block begins with. */
const wordsOf = (block: Block): string => {
  switch (block.kind) {
    case "heading":
    case "paragraph":
      return textOfSpans(block.spans)
    case "code":
    case "formula":
      return block.text
    case "field":
      return block.label
    case "fields":
      return block.legend
    case "figure":
      return textOfSpans(block.caption) || (block.alt ?? block.labels[0] ?? "")
    case "table":
      return (
        textOfSpans(block.caption) ||
        block.rows
          .flat()
          .flatMap(({ blocks }) => blocks.map(wordsOf))
          .join(" | ")
      )
    case "list":
      return block.items
        .flatMap(({ blocks, term = [] }) => [textOfSpans(term), ...blocks.map(wordsOf)])
        .filter((words) => words !== "")
        .join(" • ")
    case "footnote":
    case "quote":
    case "aside":
    case "contents":
      return block.blocks.map(wordsOf).join(" ")
  }
}

/**
 * Reports, for each block of a page, the stage and rule that made it. `stage`: the one that made the blocks without an
 * entry.
 */
export const explainBlocks = (
  blocks: ReadonlyArray<Block>,
  index: number,
  stage: string
): ReadonlyArray<ExplainedBlock> =>
  blocks.map((block) => {
    const text = wordsOf(block).replaceAll(/\s+/gu, " ").trim()
    return {
      page: index + 1,
      kind: block.kind,
      text: text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text,
      ...(block.reason ?? { stage, rule: block.kind })
    }
  })
