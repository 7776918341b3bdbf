import { escaped } from "./part-output.ts"

/** The relation that a picture has which no relation leads to. */
export const NOWHERE = "postlane-nowhere"

const LINKS: ReadonlySet<string> = new Set(["hyperlink", "hlinkClick"])
const PICTURES: ReadonlySet<string> = new Set(["blip", "imagedata"])
const RELATION = /^(?:\w+:)?(?:id|embed|link)$/

/** An attribute as it is written: a link that leads nowhere is none, a picture that is nowhere is one. */
export const attributeOf = (
  element: string,
  key: string,
  value: string,
  relations: ReadonlySet<string>
): string => {
  const isPicture = PICTURES.has(element)
  const isKnown = (!isPicture && !LINKS.has(element)) || !RELATION.test(key) || relations.has(value)
  return isKnown || isPicture ? ` ${key}="${escaped(isKnown ? value : NOWHERE)}"` : ""
}
