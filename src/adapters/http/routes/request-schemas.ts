import { isNode, type Json, mapped, type Node, nodes, REF, textOf, without } from "./document-nodes.ts"

/** What the server looks at beyond the type of a member, by the member's name. */
const RULES: ReadonlyMap<string, Node> = new Map([
  ["email", { format: "email" }],
  ["reference", { minLength: 1 }],
  ["idempotencyKey", { minLength: 1 }],
  ["to", { minItems: 1 }]
])

const isNull = ({ type }: Node) => type === "null"

/** By its type: a list has no pattern, a text no least number of items. */
const ruled = (schema: Node, name: string): Node => {
  const rule = RULES.get(name)
  if (rule === undefined) return schema
  if (schema["anyOf"] !== undefined)
    return { ...schema, anyOf: nodes(schema["anyOf"]).map((one) => (isNull(one) ? one : ruled(one, name))) }
  const fits = (schema["type"] === "array") === "minItems" in rule
  return fits && schema["enum"] === undefined ? { ...rule, ...schema } : schema
}

/** A schema of what the server takes. */
export const taken = (value: Json): Json => {
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map(taken)
  if (!isNode(value)) return value
  const { properties } = value
  if (!isNode(properties)) return mapped(value, taken)
  return {
    ...value,
    properties: mapped(properties, (given, name) => {
      const schema = taken(given)
      return isNode(schema) ? ruled(schema, name) : schema
    })
  }
}

/** Every node in a value, itself first. */
const within = (value: Json): ReadonlyArray<Node> =>
  Array.isArray(value)
    ? (value as ReadonlyArray<Json>).flatMap(within)
    : isNode(value)
      ? [value, ...Object.values(value).flatMap(within)]
      : []

/** Names of the schemas that requests are made of. */
export const asked = (operations: Node, schemas: Node): ReadonlySet<string> => {
  const names = new Set<string>()
  const look = (value: Json): void => {
    for (const { $ref } of within(value)) {
      const name = textOf($ref).slice(REF.length)
      if (name === "" || names.has(name)) continue
      names.add(name)
      look(schemas[name] ?? null)
    }
  }
  for (const { requestBody } of within(operations)) look(requestBody ?? null)
  return names
}

/** A client that reads an answer outlives a server that has learnt a new member. */
export const open = (value: Json): Json =>
  Array.isArray(value)
    ? (value as ReadonlyArray<Json>).map(open)
    : isNode(value)
      ? mapped(value["additionalProperties"] === false ? without(value, "additionalProperties") : value, open)
      : value
