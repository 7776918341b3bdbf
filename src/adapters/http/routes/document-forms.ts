/** Of several forms one, for clients in languages that have no type for "either". */
import { isNode, type Json, mapped, type Node, nodes, REF, textOf, without } from "./document-nodes.ts"

/** Of a value and a list of such values the list, which the server takes as well: few languages have a type for either. */
export const withoutSingle = (schema: Node): Node => {
  const all = nodes(schema["anyOf"])
  const list = all.find(({ type }) => type === "array")
  if (list === undefined) return schema
  const rest = all.filter((one) => one === list || one["type"] === "null")
  return rest.length === 1 ? { ...list, ...without(schema, "anyOf") } : { ...schema, anyOf: rest }
}

/** What a member may be in one form or another: once each, and the words that a text may be in one list. */
const eitherOf = (forms: ReadonlyArray<Node>): Node => {
  const all = forms.flatMap((form) => (form["anyOf"] === undefined ? [form] : nodes(form["anyOf"])))
  const words = new Set(
    all.flatMap(({ enum: values }) => (Array.isArray(values) ? (values as ReadonlyArray<Json>) : []))
  )
  const said = all.map((one) =>
    one["type"] === "boolean"
      ? without(one, "enum")
      : one["type"] === "string" && Array.isArray(one["enum"])
        ? { ...one, enum: [...words] }
        : one
  )
  const [first = {}, ...more] = new Map(
    said.map((one) => [JSON.stringify(without(one, "description")), one])
  ).values()
  return more.length === 0 ? first : { anyOf: [first, ...more] }
}

/** Of several forms of one object an object that has the members of all: few languages have a type for either. */
export const withoutForms = (schema: Node): Node => {
  const all = nodes(schema["anyOf"])
  const forms = all.filter(({ properties, type }) => type === "object" && isNode(properties))
  if (forms.length < 2) return schema
  const membersOf = ({ properties }: Node) => (isNode(properties) ? properties : {})
  const names = new Set(forms.flatMap((form) => Object.keys(membersOf(form))))
  const whole = {
    type: "object",
    properties: Object.fromEntries(
      [...names].map((name) => [
        name,
        eitherOf(forms.map((form) => membersOf(form)[name]).filter((one) => isNode(one)))
      ])
    ),
    // The order of members is that of whichever form was made first: the document is the same each time.
    required: [...names]
      .filter((name) => forms.every(({ required }) => Array.isArray(required) && required.includes(name)))
      .toSorted()
  }
  const rest = all.filter((one) => !forms.includes(one))
  return rest.length === 0
    ? { ...without(schema, "anyOf"), ...whole }
    : { ...schema, anyOf: [whole, ...rest] }
}

const JSON_TYPE = "application/json"

/** The named schemas of what an operation answers where it succeeds, each once. */
const successesOf = (operation: Json): ReadonlyArray<string> => {
  const responses = isNode(operation) && isNode(operation["responses"]) ? operation["responses"] : {}
  const names = Object.entries(responses)
    .filter(([status, response]) => status.startsWith("2") && isNode(response))
    .map(([, response]) => {
      const content = isNode(response) && isNode(response["content"]) ? response["content"] : {}
      const media = content[JSON_TYPE]
      const schema = isNode(media) ? media["schema"] : undefined
      return isNode(schema) ? textOf(schema["$ref"]).slice(REF.length) : ""
    })
  return [...new Set(names.filter((name) => name !== ""))]
}

/** The same value with other references. */
const referring = (value: Json, names: ReadonlyMap<string, string>): Json => {
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((one) => referring(one, names))
  if (!isNode(value)) return value
  const name = names.get(textOf(value["$ref"]).slice(REF.length))
  return name === undefined ? mapped(value, (one) => referring(one, names)) : { $ref: `${REF}${name}` }
}

/**
 * Makes one schema of the answers of an operation that succeeds in two ways (200 for a mail that is sent, 202 for one that is queued).
 * Most clients read each success as the first: a second one that does not fit is an error after the mail was taken, and its user would
 * send again.
 */
export const withOneAnswer = (document: Node): Node => {
  const { components, paths } = document
  if (!isNode(components) || !isNode(components["schemas"]) || !isNode(paths)) return document
  const { schemas } = components
  const groups = Object.values(paths)
    .flatMap((methods) => (isNode(methods) ? Object.values(methods).map(successesOf) : []))
    .filter(({ length }) => length > 1)
  const names = new Map(groups.flatMap(([first = "", ...more]) => more.map((name) => [name, first] as const)))
  const whole = new Map(
    groups.map(([first = "", ...more]) => [
      first,
      withoutForms({ anyOf: [first, ...more].map((name) => schemas[name] ?? null) })
    ])
  )
  const kept = Object.entries(schemas)
    .filter(([name]) => !names.has(name))
    .map(([name, schema]) => [name, referring(whole.get(name) ?? schema, names)] as const)
  return {
    ...document,
    paths: referring(paths, names),
    components: { ...components, schemas: Object.fromEntries(kept) }
  }
}
