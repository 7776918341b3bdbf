import { element, type HtmlNode } from "../model/html-tree.ts"
import type { Legible } from "../model/recognised-text.ts"
import { type InterfaceWords } from "./words.ts"

/**
 * The text of a page that was read from its picture, and the picture's place, its image 0: after the text; before it, and open,
 * where the text cannot be trusted.
 */
export const withScan = (nodes: ReadonlyArray<HtmlNode>, legible: Legible): ReadonlyArray<HtmlNode> => {
  const picture = element("details", { "data-scan": legible }, [element("img", { "data-image": "0" })])
  return legible === "good" ? [...nodes, picture] : [picture, ...nodes]
}

/** The picture in a fragment that {@link withScan} made, filled in. */
const FILLED = /(<details data-scan="[a-z]+"><img src=")[^"]*"/

/** The same with the picture as it was uploaded in place of the one that was drawn to be read. */
export const withOwnPicture = (html: string, source: string): string =>
  html.replace(FILLED, (_, before: string) => `${before}${source}"`)

/** The picture of a recognised page, with what its reader has to know about it; `lang` where the words are in another language. */
export const scanDetails = (
  legible: string | undefined,
  pictures: ReadonlyArray<HtmlNode>,
  words: InterfaceWords,
  lang: string | undefined
): HtmlNode =>
  element("details", legible === "good" ? { class: "scan" } : { class: "scan", open: "" }, [
    element("summary", { lang }, [
      legible === "good" ? words.scan : legible === "poor" ? words.scanPoor : words.scanUnread
    ]),
    ...pictures
  ])
