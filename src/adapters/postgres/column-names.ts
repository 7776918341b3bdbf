import { String as Text } from "effect"
import { Statement } from "effect/sql"

/** A change of names that is worked out once for each: all rows have the same few. */
const once = (change: (name: string) => string) => {
  const changed = new Map<string, string>()
  return (name: string): string => {
    const known = changed.get(name)
    if (known !== undefined) return known
    const made = change(name)
    changed.set(name, made)
    return made
  }
}

/** Rows under the names of the schemas; the keys of JSON values stay as they are stored. */
export const { array: inCamelCase } = Statement.defaultTransforms(once(Text.snakeToCamel), false)

const columnOf = once(Text.camelToSnake)

/** Values under the names of columns. */
export const inSnakeCase = (values: object): object => {
  const row: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) row[columnOf(name)] = value
  return row
}
