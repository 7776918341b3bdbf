import { Result, Schema, SchemaAST } from "effect"

import { type FieldIssue, fieldIssues } from "./field-issues.ts"

/** How requests are decoded: every fault is named, and so is every member that is not known. */
export const STRICT: SchemaAST.ParseOptions = { errors: "all", onExcessProperty: "error" }

/** Text that Postgres accepts. */
export const StorableText = Schema.String.check(
  Schema.makeFilter((text) => !text.includes("\0") || "holds a NUL character")
)

const takesNull = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Null" || (ast._tag === "Union" && ast.types.some(takesNull))

/** The one alternative that values of this kind belong to. */
const alternative = (ast: SchemaAST.Union, kind: "Arrays" | "Objects"): SchemaAST.AST | undefined => {
  const found = ast.types.filter(({ _tag }) => _tag === kind)
  return found.length === 1 ? found[0] : undefined
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const forgivenList = (ast: SchemaAST.Arrays, list: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const element = ast.rest[0]
  if (element === undefined || (element._tag !== "Objects" && element._tag !== "Union")) return list
  const items = list.map((item) => forgive(element, item))
  return items.some((item, at) => item !== list[at]) ? items : list
}

const MEMBERS = new WeakMap<SchemaAST.Objects, ReadonlyMap<PropertyKey, SchemaAST.AST>>()

/** The members of an object, made once for a schema. */
const membersOf = (ast: SchemaAST.Objects): ReadonlyMap<PropertyKey, SchemaAST.AST> => {
  const known = MEMBERS.get(ast)
  if (known !== undefined) return known
  const members = new Map(ast.propertySignatures.map(({ name, type }) => [name, type]))
  MEMBERS.set(ast, members)
  return members
}

const ABSENT = Symbol("absent")

const forgivenMember = (ast: SchemaAST.Objects, name: string, value: unknown): unknown => {
  const type = membersOf(ast).get(name)
  if (type === undefined) return value === undefined && ast.indexSignatures.length === 0 ? ABSENT : value
  return value === null && SchemaAST.isOptional(type) && !takesNull(type) ? ABSENT : forgive(type, value)
}

const forgivenObject = (ast: SchemaAST.Objects, given: object): object => {
  const members: ReadonlyArray<[string, unknown]> = Object.entries(given)
  const values = members.map(([name, value]) => forgivenMember(ast, name, value))
  if (members.every(([, value], at) => value === values[at])) return given
  return Object.fromEntries(
    members.flatMap(([name], at) => (values[at] === ABSENT ? [] : [[name, values[at]] as const]))
  )
}

const forgive = (ast: SchemaAST.AST, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  switch (ast._tag) {
    case "Union": {
      const list = Array.isArray(value) ? alternative(ast, "Arrays") : undefined
      const type = list ?? alternative(ast, "Objects")
      return type === undefined ? value : forgive(type, value)
    }
    case "Arrays":
      return Array.isArray(value) ? forgivenList(ast, value) : value
    case "Objects":
      if (isEmptyList(value)) return {}
      return Array.isArray(value) ? value : forgivenObject(ast, value)
    default:
      return value
  }
}

/**
 * The value in its schema's wire form, where other languages write it in another way: `null` for a member that is
 * absent (Go, Java, Python), `[]` for an object without members (PHP). Everything else is left to the decoder; a value that needs
 * nothing is returned unchanged.
 */
export const forgiven = (schema: { readonly ast: SchemaAST.AST }, value: unknown): unknown =>
  forgive(SchemaAST.toEncoded(schema.ast), value)

/** Makes a decoder of parsed bodies that names every wrong and every unknown member. */
export const strictDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema, STRICT)
  return (body: unknown): Result.Result<S["Type"], ReadonlyArray<FieldIssue>> =>
    Result.mapError(decode(forgiven(schema, body)), fieldIssues)
}
