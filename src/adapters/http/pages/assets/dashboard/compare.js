import { ask, Refused } from "../api.js"
import { byId, el, say, show } from "../dom.js"
import { pages as inPages, TIERS } from "./state.js"
import { drawThumbs } from "./thumbs.js"

/** @import { Operations, ResultPage } from "#api" */

/** The API path of the file that is compared. */
let path = ""

/** Why a page needs a look, in words. @type {Readonly<Record<NonNullable<ResultPage["look"]>, string>>} */
const LOOKS = {
  unreadable: "could not be read; a note stands in its place, and it cost nothing",
  poorly_read: "was read from a picture, but not well: words may be wrong",
  mended: "the model left words out, and they were mended: look whether they stand where they belong",
  no_model: "high fidelity was not available; it was converted without it",
  tags_disagree: "the tags and what is shown disagree about order or tables",
  order_unsure: "the file has the words in another order than they are read in here",
  cells_left_over: "a table has values that fit none of its rows or columns",
  words_torn: "a narrow cell of a table may have one word as two, or two as one",
  unseen_text: "there is text that nobody sees, in the colour of the paper",
  odd_angles: "some text is written at an odd angle, and may stand at another place",
  letters_unsure: "the file does not say which letters some signs are"
}

/** @type {ReadonlyArray<ResultPage>} */
let outline = []

const wanted = () => {
  const page = Number(new URLSearchParams(location.search).get("page") ?? "1")
  return outline.some((one) => one.page === page) ? page : 1
}

/** @param {string} name @param {number | undefined} page */
const link = (name, page) => {
  const place = byId(name, HTMLAnchorElement)
  if (page === undefined) {
    place.removeAttribute("href")
    place.setAttribute("aria-disabled", "true")
    return
  }
  place.href = `?page=${page}`
  place.removeAttribute("aria-disabled")
}

/** Shows the page that the address names, drawn next to its result. */
const draw = () => {
  const page = wanted()
  const at = outline.find((one) => one.page === page)
  if (at === undefined) return
  const last = outline.length
  byId("where", HTMLElement).textContent = `Page ${page} of ${last}`
  byId("tier", HTMLElement).textContent = `Converted: ${TIERS[at.tier] ?? at.tier}.`
  show(byId("look", HTMLElement), at.look === null ? undefined : `This page ${LOOKS[at.look]}.`)
  link("before", page > 1 ? page - 1 : undefined)
  link("after", page < last ? page + 1 : undefined)
  byId("number", HTMLInputElement).value = String(page)
  const picture = byId("picture", HTMLImageElement)
  picture.alt = `Page ${page} as it was uploaded`
  show(byId("no-picture", HTMLElement), undefined)
  picture.hidden = false
  picture.src = `${path}/pages/${page}/picture`
  const frame = byId("result", HTMLIFrameElement)
  frame.title = `Page ${page} of the result`
  // Without an entry in the browser's history, which has the page's own address.
  frame.contentWindow?.location.replace(`${path}/pages/${page}/result`)
  drawThumbs(outline, page, { path, why: ({ look }) => (look === null ? undefined : LOOKS[look]) })
  for (const one of document.querySelectorAll("#looks a"))
    if (one.getAttribute("href") === `?page=${page}`) one.setAttribute("aria-current", "true")
    else one.removeAttribute("aria-current")
}

/** @param {number} page */
const go = (page) => {
  history.pushState(null, "", `?page=${page}`)
  draw()
  say(`Page ${page} of ${outline.length}.`)
}

/** How many pages were converted in which way, and which of them need a look. */
const drawOutline = () => {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const { tier } of outline) counts.set(tier, (counts.get(tier) ?? 0) + 1)
  const ways = [...counts].map(([tier, count]) => `${inPages(count)} ${TIERS[tier] ?? tier}`)
  byId("ways", HTMLElement).textContent = `${ways.join(", ")}.`
  const looks = outline.flatMap(({ look, page }) => (look === null ? [] : [{ look, page }]))
  byId("looks-title", HTMLElement).textContent =
    looks.length === 0 ? "No problems found." : `${inPages(looks.length)} to look at.`
  byId("looks", HTMLElement).replaceChildren(
    ...looks.map(({ look, page }) =>
      el("li", {}, el("a", { href: `?page=${page}` }, `Page ${page}`), `: ${LOOKS[look]}.`)
    )
  )
}

/** How far down something is scrolled, from 0 to 1. @param {Element} element */
const farDown = (element) => element.scrollTop / Math.max(1, element.scrollHeight - element.clientHeight)

/** The side that followed the other one last, and how far it was scrolled: that is not followed back. @type {{ readonly element: Element, readonly top: number } | undefined} */
let followed

/** Has one side scrolled as far as the other one, unless that only followed. @param {Element} moved @param {Element} other */
const follow = (moved, other) => {
  if (followed?.element === moved && Math.abs(followed.top - moved.scrollTop) < 2) return
  other.scrollTop = farDown(moved) * (other.scrollHeight - other.clientHeight)
  followed = { element: other, top: other.scrollTop }
}

/** What scrolls in the frame: its document runs no script, but has this page's origin. */
const innerRoot = () => byId("result", HTMLIFrameElement).contentDocument?.scrollingElement ?? undefined

byId("side", HTMLElement).addEventListener("scroll", () => {
  const root = innerRoot()
  if (root !== undefined) follow(byId("side", HTMLElement), root)
})
byId("result", HTMLIFrameElement).addEventListener("load", () => {
  const root = innerRoot()
  root?.ownerDocument.addEventListener("scroll", () => follow(root, byId("side", HTMLElement)))
})

byId("picture", HTMLImageElement).addEventListener("error", () => {
  byId("picture", HTMLImageElement).hidden = true
  show(byId("no-picture", HTMLElement), "This page cannot be drawn. Its result is beside it.")
})
document.addEventListener("click", (event) => {
  const { target } = event
  const anchor = target instanceof Element ? target.closest('a[href^="?page="]') : null
  if (anchor === null || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  go(Number(new URLSearchParams((anchor.getAttribute("href") ?? "").slice(1)).get("page")))
})
byId("goto", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault()
  const page = Number(byId("number", HTMLInputElement).value)
  if (outline.some((one) => one.page === page)) go(page)
})
addEventListener("popstate", draw)

/** Where the arrows are for writing and choosing. */
const OWN_ARROWS = "input, select, textarea, details, dialog"

document.addEventListener("keydown", (event) => {
  const { altKey, ctrlKey, key, metaKey, shiftKey, target } = event
  const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0
  if (step === 0 || altKey || ctrlKey || metaKey || shiftKey || outline.length === 0) return
  if (target instanceof Element && target.closest(OWN_ARROWS) !== null) return
  const page = wanted() + step
  if (!outline.some((one) => one.page === page)) return
  event.preventDefault()
  go(page)
})

/** The pages of a result; none where it has none, as a Word document's. @param {string} of */
const pagesOf = async (of) => {
  try {
    /** @type {Operations["resultPages.listPages"]["success"]} */
    const { pages } = await ask("GET", `${of}/pages`)
    return pages
  } catch (failure) {
    if (failure instanceof Refused && failure.code === "RESULT_NOT_READY") return []
    throw failure
  }
}

/** Shows the pages of a file's newest result. @param {string} of @param {boolean} hasResult */
export const startCompare = async (of, hasResult) => {
  path = of
  outline = hasResult ? await pagesOf(of) : []
  const place = byId("compare", HTMLElement)
  place.hidden = outline.length === 0
  if (outline.length === 0) return
  byId("number", HTMLInputElement).max = String(outline.length)
  drawOutline()
  draw()
  if (location.hash === "#compare") place.scrollIntoView()
}
