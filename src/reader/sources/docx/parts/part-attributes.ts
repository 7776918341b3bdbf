import { escaped } from "./part-output.ts"

/** The relation that a picture has which no relation leads to. */
export const NOWHERE = "postlane-nowhere"

const RELATION = /^(?:\w+:)?id$/

/** The attribute to write. A link to nowhere is dropped; an old picture without a file gets an empty one. */
export const attributeOf = (
  element: string,
  key: string,
  value: string,
  relations: ReadonlySet<string>
): string => {
  const isPicture = element === "imagedata"
  const isKnown = (!isPicture && element !== "hyperlink") || !RELATION.test(key) || relations.has(value)
  return isKnown || isPicture ? ` ${key}="${escaped(isKnown ? value : NOWHERE)}"` : ""
}
