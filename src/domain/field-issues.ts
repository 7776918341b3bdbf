import type { Schema, SchemaAST, SchemaIssue } from "effect"

import { unknownName } from "./nearest-name.ts"

/** What is wrong with one field. */
export interface FieldIssue {
  /** As it would be written in code, without indices' brackets: `attachments.0.filename`. Empty: the whole. */
  readonly path: string
  /** A clause that follows the path. */
  readonly message: string
}

/** Most issues of one value. A hostile one may be wrong in a million places. */
const MAX_ISSUES = 100

const listed = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1) ?? ""}`

/** A value that counts as missing: never the one to write. */
const isNothing = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Undefined" || ast._tag === "Null" || (ast._tag === "Literal" && ast.literal === "")

/** The alternatives that are worth naming. */
const named = (types: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<SchemaAST.AST> => {
  const something = types.filter((ast) => !isNothing(ast))
  return something.length === 0 ? types : something
}

/** What is wanted, in the words of JSON rather than of a programming language. */
const wanted = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
    case "TemplateLiteral":
      return "text"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Null":
    case "Undefined":
      return "null"
    case "Literal":
      return JSON.stringify(String(ast.literal))
    case "Arrays":
      return ast.rest[0]?._tag === "String" ? "a list of texts" : "a list"
    case "Objects":
      return "an object"
    case "Union":
      return listed([...new Set(named(ast.types).map(wanted))])
    default:
      return "another value"
  }
}

const textOf = (annotation: unknown): string | undefined =>
  typeof annotation === "string" ? annotation : undefined

/** True for the text of a regular expression, which is not shown to people: a general message replaces it. */
const isPattern = (expected: string): boolean => expected.includes("RegExp")

/** What a check's own words, or else its description, say. */
const checked = ({ filter, issue }: SchemaIssue.Filter): string | undefined => {
  const own =
    textOf(filter.annotations?.["message"]) ??
    ("annotations" in issue ? textOf(issue.annotations?.["message"]) : undefined)
  if (own !== undefined) return own.replace(/^Expected /, "must be ")
  if (issue._tag !== "InvalidValue") return undefined
  const expected = textOf(filter.annotations?.expected) ?? textOf(issue.annotations?.expected)
  if (expected === undefined) return "is not valid"
  return isPattern(expected) ? "has characters that are not taken here" : `must be ${expected}`
}

const membersOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []

type Path = ReadonlyArray<PropertyKey>

const leaf = (issue: SchemaIssue.Leaf, path: Path): string => {
  switch (issue._tag) {
    case "MissingKey":
      return "is missing"
    case "UnexpectedKey":
      return unknownName(String(path.at(-1) ?? ""), membersOf(issue.ast))
    case "InvalidType":
      return `must be ${wanted(issue.ast)}`
    case "InvalidValue":
      return textOf(issue.annotations?.["message"])?.replace(/^Expected /, "must be ") ?? "is not valid"
    default:
      return "is not valid"
  }
}

/** The issues to show when all alternatives failed: those of empty alternatives (null, "") only when there are no others. */
const telling = (issues: ReadonlyArray<SchemaIssue.Issue>): ReadonlyArray<SchemaIssue.Issue> => {
  const others = issues.filter((issue) => !(issue._tag === "InvalidType" && isNothing(issue.ast)))
  return others.length === 0 ? issues : others
}

/** Adds the issues below one; `override` is the message of a check around it. */
const collect = (
  found: Map<string, FieldIssue>,
  issue: SchemaIssue.Issue,
  path: Path,
  override: string | undefined
): void => {
  if (found.size >= MAX_ISSUES) return
  switch (issue._tag) {
    case "Filter":
      return collect(found, issue.issue, path, override ?? checked(issue))
    case "Encoding":
      return collect(found, issue.issue, path, override)
    case "Pointer":
      return collect(found, issue.issue, [...path, ...issue.path], override)
    case "Composite":
    case "AnyOf":
      if (issue._tag === "Composite" || issue.issues.length > 0) {
        for (const one of telling(issue.issues)) collect(found, one, path, override)
        return
      }
      return add(found, path, override ?? `must be ${wanted(issue.ast)}`)
    default:
      return add(found, path, override ?? leaf(issue, path))
  }
}

const add = (found: Map<string, FieldIssue>, path: Path, message: string): void => {
  const text = path.map(String).join(".")
  found.set(`${text}\n${message}`, { path: text, message })
}

/** What is wrong with a value, field by field, in words for the person who wrote the request. */
export const fieldIssues = ({ issue }: Schema.SchemaError): ReadonlyArray<FieldIssue> => {
  const found = new Map<string, FieldIssue>()
  collect(found, issue, [], undefined)
  return [...found.values()]
}
