import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { byId, el, say, show, time, warn } from "../dom.js"
import { priceIn, showFunds } from "./funds.js"
import { showReport } from "./report.js"
import { madeText, pages as inPages, TIERS } from "./state.js"

/** @import { File as FileView, Operations, ResultPage } from "#api" */

const id = byId("conversion", HTMLElement).dataset["file"] ?? ""
const path = `/api/v1/files/${encodeURIComponent(id)}`

/** Why a page needs a look, in words. @type {Readonly<Record<NonNullable<ResultPage["look"]>, string>>} */
const LOOKS = {
  unreadable: "could not be read; a note stands in its place, and it cost nothing",
  poorly_read: "was read from a picture, but not well: words may be wrong",
  mended: "the model left words out, and they were mended: look whether they stand where they belong",
  no_model: "high fidelity was not available; it was converted without it",
  tags_disagree: "the tags and what is shown disagree about order or tables",
  cells_left_over: "a table has values that fit none of its rows or columns",
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
    looks.length === 0 ? "No page is known to need a look" : `${inPages(looks.length)} to look at`
  byId("looks", HTMLElement).replaceChildren(
    ...looks.map(({ look, page }) =>
      el("li", {}, el("a", { href: `?page=${page}` }, `Page ${page}`), `: ${LOOKS[look]}.`)
    )
  )
}

/** @param {FileView} file */
const drawFile = (file) => {
  byId("name", HTMLElement).textContent = file.name
  document.title = `${file.name} – Postlane`
  byId("again-price", HTMLElement).textContent =
    `It costs ${priceIn(file.price)}, charged when the new result is there; pages that cannot be read cost nothing.`
  byId("open", HTMLAnchorElement).href = `${path}/result`
  const made = byId("made", HTMLElement)
  made.hidden = file.made === null
  if (file.made !== null) made.replaceChildren(`Made ${madeText(file.made)} · `, time(file.made.at))
}

byId("picture", HTMLImageElement).addEventListener("error", () => {
  byId("picture", HTMLImageElement).hidden = true
  show(byId("no-picture", HTMLElement), "This page cannot be drawn. Its result stands beside it.")
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

byId("again", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault()
  void (async () => {
    const way = byId("way", HTMLSelectElement).value
    const sure = await confirmed({
      title: "Convert it again?",
      text: `${byId("again-price", HTMLElement).textContent} The result that you have stays until then.`,
      yes: "Convert again",
      no: "Keep what is there",
      kind: "primary"
    })
    if (!sure) return
    try {
      await ask("POST", `${path}/convert`, { options: { highFidelity: way === "highFidelity" } })
      location.assign("/dashboard")
    } catch (failure) {
      const text = explain(failure)
      show(byId("problem", HTMLElement), text)
      warn(text)
    }
  })()
})

try {
  await showFunds()
  /** @type {Operations["files.getFile"]["success"]} */
  const { file } = await ask("GET", path)
  /** @type {Operations["resultPages.listPages"]["success"]} */
  const { pages } = await ask("GET", `${path}/pages`)
  outline = pages
  drawFile(file)
  byId("pages", HTMLElement).hidden = false
  byId("number", HTMLInputElement).max = String(outline.length)
  drawOutline()
  draw()
  byId("loading", HTMLElement).hidden = true
  await showReport(path)
} catch (failure) {
  show(byId("problem", HTMLElement), explain(failure))
}
byId("loading", HTMLElement).hidden = true
