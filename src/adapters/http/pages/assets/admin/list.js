import { ask, explain } from "../api.js"
import { sayAway } from "../away.js"
import { byId, el, moment, NOTHING, show, time, warn } from "../dom.js"

/**
 * A column: its heading, and its cell for a row. The first column is the heading of the row, unless another `isHead`.
 * @template R
 * @typedef {{ readonly head: string | Node, readonly isHead?: boolean, readonly cell: (row: R) => Node | string, readonly kind?: string }} Column
 */

/**
 * Writes a table's rows; each cell also names its column, for screens too narrow for a table.
 * @template R
 * @param {string} id
 * @param {ReadonlyArray<Column<R>>} columns
 * @param {ReadonlyArray<R>} rows
 */
export const fillRows = (id, columns, rows) => {
  const table = byId(id, HTMLTableElement)
  // Roles are set explicitly: in some browsers, CSS that lays a table out as blocks removes them.
  table.setAttribute("role", "table")
  const heading = Math.max(
    0,
    columns.findIndex(({ isHead }) => isHead)
  )
  const heads = columns.map(({ head, kind }) =>
    el("th", { scope: "col", role: "columnheader", class: kind }, head)
  )
  table.tHead?.setAttribute("role", "rowgroup")
  table.tHead?.replaceChildren(el("tr", { role: "row" }, ...heads))
  const body = table.tBodies[0]
  body?.setAttribute("role", "rowgroup")
  body?.replaceChildren(
    ...rows.map((row) =>
      el(
        "tr",
        { role: "row" },
        ...columns.map(({ cell, head, kind }, index) => {
          const held = cell(row)
          return index === heading
            ? el("th", { scope: "row", role: "rowheader", class: kind }, held)
            : el(
                "td",
                {
                  role: "cell",
                  class: kind,
                  "data-label": typeof head === "string" ? head : undefined,
                  "data-empty": held === NOTHING
                },
                held
              )
        })
      )
    )
  )
}

/**
 * Fills the page's table.
 * @template R
 * @param {ReadonlyArray<Column<R>>} columns
 * @param {ReadonlyArray<R>} rows
 * @param {string} none What to say where there is no row.
 */
export const fillTable = (columns, rows, none) => {
  fillRows("table", columns, rows)
  byId("table-box", HTMLElement).hidden = rows.length === 0
  byId("loading", HTMLElement).hidden = true
  show(byId("empty", HTMLElement), rows.length === 0 ? none : undefined)
}

/** Shows the times that the server wrote in UTC in the reader's zone. */
export const showTimes = () => {
  for (const one of document.querySelectorAll("main time"))
    one.textContent = moment(one.getAttribute("datetime") ?? "")
}

/** The parameters of the page's own address that the API knows. @param {ReadonlyArray<string>} names */
const asked = (names) => {
  const here = new URLSearchParams(location.search)
  const wanted = new URLSearchParams()
  for (const name of [...names, "cursor"]) {
    const value = here.get(name)
    if (value !== null && value !== "") wanted.set(name, value)
  }
  return wanted
}

/** Fills the filter's fields from the parameters, and unfolds those that are set. @param {URLSearchParams} wanted */
const fillFilters = (wanted) => {
  const form = document.getElementById("filters")
  if (!(form instanceof HTMLFormElement)) return
  for (const [name, value] of wanted) {
    const field = form.elements.namedItem(name)
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) continue
    field.value = value
    field.closest("details")?.setAttribute("open", "")
  }
}

/** @param {string} id @param {URLSearchParams | undefined} query */
const pageLink = (id, query) => {
  const link = byId(id, HTMLAnchorElement)
  link.hidden = query === undefined
  link.href = `?${query ?? ""}`
}

/** Under which name a page remembers the one before it. @param {URLSearchParams} page */
const beforeKey = (page) => `before ${location.pathname}?${page}`

/** @param {URLSearchParams} wanted @param {string | null} nextCursor */
const drawPager = (wanted, nextCursor) => {
  const pager = document.getElementById("pager")
  if (pager === null) return
  const first = new URLSearchParams(wanted)
  first.delete("cursor")
  const next = new URLSearchParams(first)
  next.set("cursor", nextCursor ?? "")
  // A cursor leads forwards only: a page remembers from which one the reader came.
  const before = sessionStorage.getItem(beforeKey(wanted))
  if (nextCursor !== null) sessionStorage.setItem(beforeKey(next), wanted.toString())
  pageLink("previous", wanted.has("cursor") && before !== null ? new URLSearchParams(before) : undefined)
  pageLink("first", wanted.has("cursor") ? first : undefined)
  pageLink("next", nextCursor === null ? undefined : next)
  pager.hidden = !wanted.has("cursor") && nextCursor === null
}

/**
 * Says how far a search looked, with the link that looks further.
 * @param {{ readonly stoppedAfter?: number, readonly stoppedAt?: string, readonly nextCursor: string | null }} page
 * @param {URLSearchParams} wanted
 */
const drawStop = ({ nextCursor, stoppedAfter, stoppedAt }, wanted) => {
  const note = document.getElementById("stopped")
  if (note === null) return
  note.hidden = stoppedAfter === undefined
  if (stoppedAfter === undefined) return
  const next = new URLSearchParams(wanted)
  next.set("cursor", nextCursor ?? "")
  const back = stoppedAt === undefined ? "" : `, back to ${moment(stoppedAt)}`
  note.replaceChildren(
    `Looked through ${count(stoppedAfter)} mails${back}. `,
    el("a", { href: `?${next}` }, "Search further")
  )
}

/** Shows a refusal of the API in the page's place for problems. @param {unknown} failure */
export const showProblem = (failure) => {
  const text = explain(failure)
  const loading = document.getElementById("loading")
  if (loading !== null) loading.hidden = true
  show(byId("problem", HTMLElement), text)
  warn(text)
}

/** Whether the signed-in user may change something. */
export const mayWrite = () =>
  document.querySelector("[data-may-write]")?.getAttribute("data-may-write") === "true"

/** A list's place: its address with its filter. @param {string} path @param {string} query */
const placeOf = (path, query) => `place ${path}${query}`

/**
 * Leads a link back to a list as it was left: with its filter, its page, and where it was scrolled to.
 * @param {HTMLAnchorElement} link
 */
export const leadBack = (link) => {
  const { pathname } = new URL(link.href)
  const query = sessionStorage.getItem(`left ${pathname}`)
  if (query === null) return
  link.href = pathname + query
  link.addEventListener("click", () => sessionStorage.setItem("return", placeOf(pathname, query)))
}

/** A list is filled after its page was loaded: who comes back to it is scrolled to where they were, by the function returned. */
const keepPlace = () => {
  const { pathname, search } = location
  const place = placeOf(pathname, search)
  history.scrollRestoration = "manual"
  addEventListener("pagehide", () => {
    sessionStorage.setItem(place, String(scrollY))
    sessionStorage.setItem(`left ${pathname}`, search)
  })
  const [entry] = performance.getEntriesByType("navigation")
  const returns =
    sessionStorage.getItem("return") === place ||
    (entry instanceof PerformanceNavigationTiming && entry.type === "back_forward")
  sessionStorage.removeItem("return")
  return () => {
    if (returns) scrollTo({ top: Number(sessionStorage.getItem(place)), behavior: "instant" })
  }
}

/**
 * Shows a list of the API: the rows that the page's address asks for, and the link to the next page. Returns the function
 * that reads it again; `fill` draws the rows. `place` names parameters that the page keeps in its links and the API is not asked for. `none` is what to say where there is no row, `noMatch` where there is none of the filter. `isLive`: it reads by itself.
 * @template R
 * @param {{ readonly path: string, readonly names: ReadonlyArray<string>, readonly columns: ReadonlyArray<Column<R>>, readonly none: string, readonly noMatch?: string, readonly place?: ReadonlyArray<string>, readonly isLive?: boolean, readonly fill?: (rows: ReadonlyArray<R>, none: string) => void }} options
 */
export const showList = ({
  columns,
  fill = (rows, nothing) => fillTable(columns, rows, nothing),
  isLive = false,
  names,
  noMatch,
  none,
  path,
  place = []
}) => {
  const wanted = asked([...names, ...place])
  fillFilters(wanted)
  const nothing = names.some((name) => wanted.has(name)) ? (noMatch ?? none) : none
  const query = new URLSearchParams([...wanted].filter(([name]) => !place.includes(name)))
  const toPlace = keepPlace()
  const read = async () => {
    try {
      /** @type {{ readonly rows: ReadonlyArray<R>, readonly nextCursor: string | null, readonly stoppedAfter?: number, readonly stoppedAt?: string }} */
      const page = await ask("GET", `${path}?${query}`)
      const { nextCursor, rows, stoppedAfter } = page
      show(byId("problem", HTMLElement), undefined)
      fill(rows, stoppedAfter === undefined ? nothing : "Nothing among these.")
      drawPager(wanted, nextCursor)
      drawStop(page, wanted)
    } catch (failure) {
      if (!isLive) return showProblem(failure)
      byId("loading", HTMLElement).hidden = true
      sayAway(byId("problem", HTMLElement), failure)
    }
  }
  void read().then(toPlace)
  return read
}

/** What the page's address asks for by these names, also shown in the filter. @param {ReadonlyArray<string>} names */
export const filterShown = (names) => {
  const wanted = asked(names)
  fillFilters(wanted)
  return wanted
}

/** The filter of the page's address, without its page. @param {ReadonlyArray<string>} names */
export const filterOf = (names) => {
  const wanted = asked(names)
  wanted.delete("cursor")
  return wanted
}

/** @param {string} text @param {"good" | "bad" | "wait" | ""} [mood] */
export const tag = (text, mood = "") => el("span", { class: `tag ${mood}` }, text.replaceAll("_", " "))

/** @param {number | null} amount */
export const usd = (amount) =>
  amount === null ? "–" : `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2)}`

/** @param {number} amount */
export const count = (amount) => amount.toLocaleString("en-GB")

/** Figures with their labels. @param {ReadonlyArray<readonly [string, string]>} figures */
export const fillFigures = (figures) =>
  byId("totals", HTMLElement).replaceChildren(
    ...figures.map(([name, figure]) => el("div", {}, el("dt", {}, name), el("dd", {}, figure)))
  )

/** The period that the page's address asks for. */
export const daysQuery = () => filterShown(["days"])

export { NOTHING, time }
