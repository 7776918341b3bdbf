import { byId, el, hidden } from "../dom.js"

/** @import { ResultPage } from "#api" */

/** Pages that are shown at once: a document may have thousands. */
const AT_ONCE = 40

/** Which pages are shown, of which file. */
let drawn = ""

/** Pictures that were seen and are not drawn yet. @type {Array<HTMLImageElement>} */
let waiting = []
let isDrawing = false

/** Draws one after another: the server draws few pages at a time for one reader, and the page that is looked at comes first. */
const next = () => {
  const picture = waiting.shift()
  const source = picture?.dataset["src"]
  if (isDrawing || picture === undefined || source === undefined) return
  isDrawing = true
  const after = () => {
    isDrawing = false
    next()
  }
  picture.addEventListener("load", after, { once: true })
  picture.addEventListener("error", after, { once: true })
  picture.src = source
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting || !(target instanceof HTMLImageElement)) continue
    seen.unobserve(target)
    waiting.push(target)
  }
  next()
})

/**
 * Shows pages as small pictures, each a click away; one that needs a look has a mark.
 * @param {ReadonlyArray<ResultPage>} outline
 * @param {number} current
 * @param {{ readonly path: string, readonly why: (page: ResultPage) => string | undefined }} options
 */
export const drawThumbs = (outline, current, { path, why }) => {
  const list = byId("thumbs", HTMLElement)
  const at = outline.findIndex(({ page }) => page === current)
  const first = Math.floor(at / AT_ONCE) * AT_ONCE
  const shown = outline.slice(first, first + AT_ONCE)
  const what = `${path} ${first} ${JSON.stringify(shown)}`
  list.hidden = outline.length < 2
  if (what !== drawn) {
    drawn = what
    seen.disconnect()
    waiting = []
    list.replaceChildren(
      ...shown.map((one) => {
        const picture = el("img", { alt: "", "data-src": `${path}/pages/${one.page}/picture` })
        const reason = why(one)
        seen.observe(picture)
        return el(
          "li",
          {},
          el(
            "a",
            { href: `?page=${one.page}`, title: reason === undefined ? undefined : `This page ${reason}` },
            picture,
            hidden("Page "),
            String(one.page),
            reason === undefined ? undefined : el("span", { class: "mark" }, hidden(", to look at"))
          )
        )
      })
    )
  }
  for (const link of list.querySelectorAll("a")) {
    const isHere = link.getAttribute("href") === `?page=${current}`
    if (isHere) link.setAttribute("aria-current", "true")
    else link.removeAttribute("aria-current")
    // Within the list alone: the page stays where it is.
    if (isHere && link.parentElement !== null)
      list.scrollLeft = link.parentElement.offsetLeft - (list.clientWidth - link.clientWidth) / 2
  }
}
