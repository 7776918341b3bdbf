import { randomUUID } from "node:crypto"

import { defaultTreeAdapter as adapter, type DefaultTreeAdapterTypes, parseFragment } from "parse5"

/** Deepest nesting that is kept: the tree walkers are recursive. Pages have twenty levels. */
const MAX_DEPTH = 200

/** Elements with text that is not for readers. */
const SILENT = /^(script|style|template)$/

type Parent = DefaultTreeAdapterTypes.ParentNode
type Child = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

const hasChildren = (node: Child): node is Element => "childNodes" in node

/** The text under a node, without recursion. */
const textUnder = (node: Parent): string => {
  let text = ""
  const open: Array<Child> = [...node.childNodes].reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.nodeName === "#text" && "value" in next) text += next.value
    else if (hasChildren(next) && !SILENT.test(next.tagName))
      for (let at = next.childNodes.length - 1; at >= 0; at--) {
        const child = next.childNodes[at]
        if (child !== undefined) open.push(child)
      }
  }
  return text
}

/** A picture in an attribute: parse5 reads it character by character, and there may be megabytes of it. */
const PICTURE = /="(data:image\/[a-z]{3,4};base64,[\w+/=]{200,})"/g
/** Placeholder of a picture while its fragment is read; random, so that no author can write it. */
const STAND_IN = `picture ${randomUUID()} `

/** The fragment with short names for its pictures, and the pictures by these names. */
const withoutPictures = (html: string) => {
  const pictures = new Map<string, string>()
  const short = html.replace(PICTURE, (_, picture: string) => {
    const name = `${STAND_IN}${pictures.size}`
    pictures.set(name, picture)
    return `="${name}"`
  })
  return { short, pictures }
}

/** Puts pictures back in place of their placeholders; returns in how many attributes. */
const restore = (elements: ReadonlyArray<Element>, pictures: ReadonlyMap<string, string>): number => {
  let restored = 0
  for (const { attrs } of elements)
    for (const attribute of attrs) {
      const picture = pictures.get(attribute.value)
      if (picture === undefined) continue
      attribute.value = picture
      restored += 1
    }
  return restored
}

/** Reduces deeply nested elements to their text, and puts pictures back; returns in how many attributes. */
const flatten = (fragment: Parent, pictures: ReadonlyMap<string, string>): number => {
  let level: ReadonlyArray<Parent> = [fragment]
  let restored = 0
  for (let depth = 0; level.length > 0; depth++) {
    const below = level.flatMap((node) => node.childNodes.filter(hasChildren))
    if (pictures.size > 0) restored += restore(below, pictures)
    if (depth < MAX_DEPTH) level = below
    else {
      for (const node of below) {
        const text = adapter.createTextNode(textUnder(node))
        node.childNodes = []
        if (!SILENT.test(node.tagName)) adapter.appendChild(node, text)
      }
      break
    }
  }
  return restored
}

/** Reads HTML as a browser would; elements that are nested too deep give their text alone. */
export const parseShallow = (html: string): DefaultTreeAdapterTypes.DocumentFragment => {
  const { pictures, short } = withoutPictures(html)
  const fragment = parseFragment(short)
  if (flatten(fragment, pictures) === pictures.size) return fragment
  // A placeholder may be in a comment or a text, where nothing may be lost either.
  const whole = parseFragment(html)
  flatten(whole, new Map())
  return whole
}
