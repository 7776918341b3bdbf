import { type DefaultTreeAdapterTypes, parse, serialize } from "parse5"

import { MAX_LISTED_LINKS, type MessageLink, type MessageView } from "../../ports/mail/message-views.ts"

type Element = DefaultTreeAdapterTypes.Element
type Parent = DefaultTreeAdapterTypes.ParentNode

/** The longest address and text of a link, characters. */
const MAX_HREF = 2_000
const MAX_LINK_TEXT = 200

/** A picture that is part of the message. */
export interface Picture {
  readonly mediaType: string
  readonly content: Uint8Array
}

/** Elements that run, load, lead elsewhere or change what addresses mean. The frame's policy refuses them as well. */
const LEFT_OUT = new Set(
  "script base link iframe frame frameset object embed applet portal template".split(" ")
)

/** Attributes that load something. */
const LOADS = new Set(["src", "srcset", "background", "poster", "data", "xlink:href"])

/** Most bytes of the message's own pictures in its HTML, each time that it names one. */
const MAX_PICTURES = 10 * 1024 * 1024

const PICTURE = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/i

const REMOTE = /^\s*(?:https?:)?\/\//i
const REMOTE_STYLE = /url\(\s{0,9}["']?\s{0,9}(?:https?:)?\/\//gi

/** Where a link may lead: the web, a mail, a call, a place in the message. */
const LEADS = /^\s*(?:https?:|mailto:|tel:|sms:)/i

interface Showing {
  readonly images: boolean
  readonly pictures: ReadonlyMap<string, Picture>
  readonly links: Array<MessageLink>
  remote: number
  pictureBytes: number
}

/** The picture of a `cid:` address as data; what is unknown, no picture or too much is empty. */
const embedded = (showing: Showing, address: string): string => {
  const picture = showing.pictures.get(decodeCid(address.trim().slice("cid:".length)))
  if (picture === undefined || !PICTURE.test(picture.mediaType)) return ""
  showing.pictureBytes += picture.content.length
  if (showing.pictureBytes > MAX_PICTURES) return ""
  return `data:${picture.mediaType};base64,${Buffer.from(picture.content).toString("base64")}`
}

const decodeCid = (id: string): string => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

const styleOf = (showing: Showing, css: string): string => {
  showing.remote += css.match(REMOTE_STYLE)?.length ?? 0
  return css.replaceAll(/cid:[^\s"'()]{1,500}/gi, (address) => embedded(showing, address))
}

/** The attribute as shown; `undefined` leaves it out. */
const attribute = (showing: Showing, name: string, value: string): string | undefined => {
  if (name.startsWith("on") || name === "ping" || name === "autofocus") return undefined
  if (name === "style") return styleOf(showing, value)
  if (!LOADS.has(name)) return value
  if (/^\s*cid:/i.test(value)) return embedded(showing, value) || undefined
  if (!REMOTE.test(value)) return value
  showing.remote += 1
  return showing.images ? value : undefined
}

const qualified = ({ name, prefix }: { readonly name: string; readonly prefix?: string }): string =>
  prefix === undefined || prefix === "" ? name : `${prefix}:${name}`

const isLeftOut = (element: Element): boolean =>
  LEFT_OUT.has(element.tagName) ||
  (element.tagName === "meta" && element.attrs.some(({ name }) => name === "http-equiv"))

/** The words of an element, and what its pictures say. */
const wordsIn = (element: Element): string => {
  let words = ""
  const pending: Array<DefaultTreeAdapterTypes.ChildNode> = [...element.childNodes].reverse()
  for (let node = pending.pop(); node !== undefined && words.length < MAX_LINK_TEXT; node = pending.pop()) {
    if ("value" in node) words += node.value
    else if ("tagName" in node) {
      words += node.attrs.find(({ name }) => name === "alt")?.value ?? ""
      for (let at = node.childNodes.length - 1; at >= 0; at -= 1) pending.push(node.childNodes[at]!)
    }
  }
  return words.replaceAll(/\s+/g, " ").trim().slice(0, MAX_LINK_TEXT)
}

/** Lists a link, and makes it open a new page; an unsafe one is no longer a link. */
const link = (showing: Showing, element: Element): void => {
  const href = element.attrs.find(({ name }) => name === "href")?.value
  element.attrs = element.attrs.filter(({ name }) => name !== "target" && name !== "rel")
  if (href === undefined) return
  if (showing.links.length < MAX_LISTED_LINKS) {
    showing.links.push({ text: wordsIn(element), href: href.slice(0, MAX_HREF) })
  }
  if (href.startsWith("#")) return
  if (LEADS.test(href)) {
    element.attrs.push({ name: "target", value: "_blank" }, { name: "rel", value: "noopener noreferrer" })
  } else element.attrs = element.attrs.filter(({ name }) => name !== "href" && name !== "xlink:href")
}

const mend = (showing: Showing, element: Element): void => {
  element.attrs = element.attrs.flatMap((given) => {
    const value = attribute(showing, qualified(given), given.value)
    return value === undefined ? [] : [{ ...given, value }]
  })
  if (element.tagName === "a" || element.tagName === "area") link(showing, element)
  if (element.tagName === "style") {
    for (const node of element.childNodes) if ("value" in node) node.value = styleOf(showing, node.value)
  }
}

/**
 * A message's HTML as a document for a sandboxed frame: what it shows, without what runs, loads or leads away by itself. Fails
 * where it nests too deep to be written.
 */
export const showHtml = (
  html: string,
  options: { readonly images: boolean; readonly pictures: ReadonlyMap<string, Picture> }
): Pick<MessageView, "html" | "remote" | "links"> => {
  const showing: Showing = { ...options, links: [], remote: 0, pictureBytes: 0 }
  // Scripts do not run there, so that their fallback content is shown.
  const document = parse(html, { scriptingEnabled: false })
  const pending: Array<Parent> = [document]
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    if ("tagName" in parent) mend(showing, parent)
    parent.childNodes = parent.childNodes.filter((node) => !("tagName" in node && isLeftOut(node)))
    for (let at = parent.childNodes.length - 1; at >= 0; at -= 1) {
      const node = parent.childNodes[at]!
      if ("tagName" in node) pending.push(node)
    }
  }
  return { html: serialize(document), remote: showing.remote, links: showing.links }
}
