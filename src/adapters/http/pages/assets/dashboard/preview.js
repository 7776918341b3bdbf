import { byId, say } from "../dom.js"
import { isReady, readyAfter, readyBefore, readyText, sparing } from "./ready.js"

/** @import { PageRange } from "#api" */

/** Milliseconds between two announcements of pages that are ready. */
const SAID_EVERY = 10_000

const announcing = sparing(say, SAID_EVERY)
const place = byId("preview", HTMLElement)
const number = byId("preview-number", HTMLInputElement)

/** The pages that are ready of the conversion that is looked at, and the one that is shown. */
let path = ""
/** @type {string | null} */
let job = null
/** @type {ReadonlyArray<PageRange>} */
let ready = []
let total = 0
let shown = 0

/** @param {string} name @param {number | undefined} page */
const able = (name, page) => {
  const button = byId(name, HTMLButtonElement)
  if (page === undefined) button.setAttribute("aria-disabled", "true")
  else button.removeAttribute("aria-disabled")
}

const drawTurns = () => {
  able("preview-before", readyBefore(ready, shown))
  able("preview-after", readyAfter(ready, shown))
}

/** @param {number} page */
const go = (page) => {
  shown = page
  number.value = String(page)
  byId("preview-where", HTMLElement).textContent = `Preview of page ${page} of ${total}`
  drawTurns()
  const frame = byId("preview-page", HTMLIFrameElement)
  frame.title = `Preview of page ${page}`
  // Without an entry in the browser's history.
  frame.contentWindow?.location.replace(`${path}/pages/${page}/preview`)
}

/** @param {number | undefined} page */
const turn = (page) => {
  if (page === undefined) return
  go(page)
  say(`Preview of page ${page} of ${total}.`)
}

byId("preview-before", HTMLElement).addEventListener("click", () => turn(readyBefore(ready, shown)))
byId("preview-after", HTMLElement).addEventListener("click", () => turn(readyAfter(ready, shown)))
byId("preview-goto", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault()
  const page = Number(number.value)
  if (isReady(ready, page)) turn(page)
  else say(`Page ${page} cannot be read yet.`)
})

/** No conversion is under way: nothing is left to preview. */
export const hidePreview = () => {
  announcing.drop()
  ready = []
  job = null
  if (place.hidden) return
  if (place.contains(document.activeElement)) byId("now", HTMLElement).focus()
  place.hidden = true
  byId("preview-page", HTMLIFrameElement).contentWindow?.location.replace("about:blank")
}

/**
 * Shows the pages of a conversion under way that are ready, the first one to begin with.
 * @param {string} of The API path of the file.
 * @param {{ readonly jobId: string | null, readonly readyPages: ReadonlyArray<PageRange>, readonly total: number }} now
 */
export const showPreview = (of, now) => {
  if (now.jobId !== job) hidePreview()
  const [first] = now.readyPages
  if (first === undefined) return
  const text = readyText(now.readyPages, now.total)
  const isNew = text !== readyText(ready, total)
  path = of
  job = now.jobId
  ready = now.readyPages
  total = now.total
  byId("preview-ready", HTMLElement).textContent = text
  number.max = String(total)
  if (place.hidden) {
    place.hidden = false
    go(first.first)
  } else drawTurns()
  if (isNew) announcing.say(text)
}
