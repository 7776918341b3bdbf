import { Schema } from "effect"

/** Most files that are named; the others are counted. */
export const MAX_NAMED_FILES = 20

/** Content of a PDF that its pages do not show. No conversion reads it, and every result says so. */
export const LeftOut = Schema.Struct({
  portfolio: Schema.Boolean.annotate({
    description: "It is a portfolio: its pages are the cover sheet of the files in it."
  }),
  files: Schema.Array(Schema.String).annotate({
    description: `Names of files in it, the first ${MAX_NAMED_FILES}; none of them was converted.`
  }),
  fileCount: Schema.Int.annotate({ description: "How many files are in it." }),
  remarks: Schema.Int.annotate({
    description:
      "How many notes, remarks and marks by hand are on its pages; text boxes are converted, and not counted."
  })
}).annotate({ identifier: "LeftOut", description: "What a PDF holds that is not converted." })
export type LeftOut = typeof LeftOut.Type

/** Whether there is any of it. */
export const leavesOut = (leftOut: LeftOut | undefined): leftOut is LeftOut =>
  leftOut !== undefined && leftOut.fileCount + leftOut.remarks > 0

/** The names, and how many more there are. */
const named = ({ fileCount, files }: LeftOut): string => {
  const more = fileCount - files.length
  return `${files.map((name) => `“${name}”`).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

const filesText = (leftOut: LeftOut): string | undefined => {
  const { fileCount, portfolio } = leftOut
  if (fileCount === 0) return undefined
  const many = fileCount === 1 ? "1 file" : `${fileCount} files`
  const were = fileCount === 1 ? "was" : "were"
  return portfolio
    ? `This PDF is a portfolio. Only its cover sheet was converted; the ${many} in it ${were} not: ${named(leftOut)}.`
    : `${many} attached to this PDF ${were} not converted: ${named(leftOut)}.`
}

const remarksText = ({ remarks }: LeftOut): string | undefined => {
  if (remarks === 0) return undefined
  return remarks === 1
    ? "1 note or remark in this PDF was not converted."
    : `${remarks} notes or remarks in this PDF were not converted.`
}

/** What a result says of it, a sentence each; nothing where all was converted. */
export const leftOutTexts = (leftOut: LeftOut | undefined): ReadonlyArray<string> =>
  leftOut === undefined ? [] : [filesText(leftOut), remarksText(leftOut)].filter((text) => text !== undefined)
