import { type Schema, SchemaIssue } from "effect"

/** What is wrong with one field. */
export interface FieldIssue {
  /** As it would be written in code, without indices' brackets: `attachments.0.filename`. Empty: the whole. */
  readonly path: string
  /** A clause that follows the path. */
  readonly message: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "MissingKey" ? "is missing" : SchemaIssue.defaultLeafHook(issue))
})

/** What is wrong with a value, field by field. */
export const fieldIssues = ({ issue }: Schema.SchemaError): ReadonlyArray<FieldIssue> =>
  format(issue).issues.map(({ message, path }) => ({
    path: (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join("."),
    message
  }))
