/** A document of JSON, as the steps that make the OpenAPI document read and write it. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | Node
export interface Node {
  readonly [name: string]: Json
}

export const REF = "#/components/schemas/"

export const isNode = (value: Json | undefined): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value)
export const nodes = (value: Json | undefined): ReadonlyArray<Node> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json>).filter(isNode) : []
export const mapped = (node: Node, change: (value: Json, name: string) => Json): Node =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(value, name)]))
export const without = (node: Node, ...names: ReadonlyArray<string>): Node =>
  Object.fromEntries(Object.entries(node).filter(([name]) => !names.includes(name)))
export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")
