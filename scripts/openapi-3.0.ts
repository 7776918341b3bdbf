/**
 * Prints the OpenAPI document in version 3.0, for generators of clients that read no 3.1: `npm run -s openapi:3.0 > openapi-3.0.json`.
 *
 * It describes the same requests and answers, in types that any language has:
 * - a union with null is nullable; one of strings is a string; one of a value and a list of them is the list, which the server takes too;
 * - every problem is one schema, `Problem`, with the members of all: a client gets one type of error, and tells them apart by `code`;
 * - an object may have members that are not named, so that a client outlives a server that has learnt a new one;
 * - a boolean that is always true or always false is any boolean;
 * - whole numbers have 64 bits and others double precision.
 */
import { fileURLToPath } from "node:url"

import { openApiDocument } from "../src/adapters/http/routes/api.ts"

type Json = string | number | boolean | null | ReadonlyArray<Json> | Node
interface Node {
  readonly [name: string]: Json | undefined
}

const isNode = (value: Json | undefined): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const nodes = (value: Json | undefined): ReadonlyArray<Node> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json>).filter(isNode) : []
const mapped = (node: Node, change: (value: Json, name: string) => Json): Node =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(value ?? null, name)]))

const PROBLEM = "application/problem+json"
const REF = "#/components/schemas/"
const isProblem = (name: string) => /Problem(?:_\d+)?$/.test(name)
const only = (names: ReadonlySet<string>, node: Node) =>
  Object.fromEntries(Object.entries(node).filter(([name]) => names.has(name)))

const ALIKE = new Set(["$ref", "items", "type"])
/** The one schema that stands for all of a union, null aside: a list before its items, a plain type before values of it. */
const oneOf = (all: ReadonlyArray<Node>): Node => {
  const weight = ({ $ref, enum: values, type }: Node) =>
    type === "array" ? 3 : $ref !== undefined ? 2 : values === undefined ? 1 : 0
  const [first = {}, ...others] = [...all].sort((a, b) => weight(b) - weight(a))
  const fits = others.every((one) => one["enum"] !== undefined || first["type"] === "array")
  if (!fits) throw new Error(`no 3.0 schema for ${JSON.stringify(all.map((one) => only(ALIKE, one)))}`)
  return first
}

const numberSchema = ({ maximum, minimum, type, ...rest }: Node): Node => ({
  ...rest,
  type,
  ...(minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
  ...(maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  format: type === "integer" ? "int64" : "double"
})

const schemaOf = (schema: Node): Node => {
  const { additionalProperties, anyOf, exclusiveMinimum, ...rest } = schema
  if (anyOf !== undefined) {
    const all = nodes(anyOf)
    const one = schemaOf(oneOf(all.filter(({ type }) => type !== "null")))
    if (!all.some(({ type }) => type === "null")) return { ...one, ...rest }
    // Beside a reference 3.0 reads nothing else.
    return one["$ref"] === undefined
      ? { ...one, ...rest, nullable: true }
      : { allOf: [one], ...rest, nullable: true }
  }
  const { items, properties } = rest
  const whole: Node = {
    ...rest,
    ...(isNode(items) ? { items: schemaOf(items) } : {}),
    ...(isNode(properties)
      ? { properties: mapped(properties, (one) => (isNode(one) ? schemaOf(one) : one)) }
      : {}),
    ...(isNode(additionalProperties) ? { additionalProperties: schemaOf(additionalProperties) } : {}),
    ...(exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true })
  }
  // A generator writes JSON's `true` into Python.
  if (whole["type"] === "boolean") return { ...whole, enum: undefined }
  return whole["type"] === "integer" || whole["type"] === "number" ? numberSchema(whole) : whole
}

/** Of bodies that a request may have either way: JSON, or a form, which generators make a call with named arguments of. */
const ofRequest = (content: Node): Node => {
  const type = ["application/json", "multipart/form-data"].find((one) => content[one] !== undefined)
  return type === undefined ? content : { [type]: content[type] }
}

/** Everything but schemas is as it was. */
const rewritten = (value: Json, name: string): Json => {
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((one) => rewritten(one, ""))
  if (!isNode(value)) return value
  if (name === "schema") return schemaOf(value)
  if (name === PROBLEM) return { schema: { $ref: `${REF}Problem` } }
  if (name === "requestBody" && isNode(value["content"]))
    return mapped({ ...value, content: ofRequest(value["content"]) }, rewritten)
  return mapped(value, rewritten)
}

const propertiesOf = (schema: Json | undefined): Node =>
  isNode(schema) && isNode(schema["properties"]) ? schema["properties"] : {}

/** The document, a 3.1 one as the server serves it, in 3.0. */
export const openApi30 = (document: Node): Node => {
  const { components, info, ...rest } = document
  if (!isNode(components) || !isNode(components["schemas"]) || !isNode(info))
    throw new Error("not an OpenAPI document")
  const { schemas } = components
  const problems = Object.entries(schemas).filter(([name]) => isProblem(name))
  const problem = schemas["Problem"] as Node
  const all = {
    ...problem,
    properties: {
      ...Object.assign({}, ...problems.map(([, schema]) => propertiesOf(schema))),
      ...propertiesOf(problem)
    } as Node
  }
  const kept = Object.entries({ ...schemas, Problem: all }).filter(
    ([name]) => name === "Problem" || !isProblem(name)
  )
  return {
    ...mapped(rest, rewritten),
    openapi: "3.0.3",
    // A licence's `identifier` is of 3.1.
    info: { ...info, license: only(new Set(["name"]), info["license"] as Node) },
    components: {
      ...components,
      schemas: Object.fromEntries(kept.map(([name, schema]) => [name, schemaOf(schema as Node)]))
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log(JSON.stringify(openApi30(openApiDocument()), null, 2))
