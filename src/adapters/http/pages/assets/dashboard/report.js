import { ask } from "../api.js"
import { byId, el } from "../dom.js"

/** @import { ResultCheck } from "#api" */

/** Most pages that are named in a line. */
const NAMED = 12

/** One and many of what is counted. @type {Readonly<Record<string, readonly [string, string]>>} */
const THINGS = {
  headings: ["heading", "headings"],
  pictures: ["picture", "pictures"],
  tables: ["table", "tables"],
  fields: ["form field", "form fields"],
  formulas: ["formula", "formulas"],
  links: ["link", "links"]
}

/** @param {number} count @param {readonly [string, string]} words */
const counted = (count, [one, many]) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`

/** What a person has to look at, in words. @param {ResultCheck["checks"][number]} check @param {string} title */
const lookOf = ({ check, count, flagged }, title) => {
  const many = flagged === 1 ? "has" : "have"
  switch (check) {
    case "title":
      return title === ""
        ? "It has no title."
        : `Its title is the file’s name, “${title}”: the document states none.`
    case "headings":
      return `It has ${count === 0 ? "no headings" : "one heading"}: readers of long documents find their way by them.`
    case "pictures":
      return `${counted(flagged, ["picture", "pictures"])} ${many} no description`
    case "tables":
      return `${counted(flagged, ["table", "tables"])} ${many} no header cells`
    default:
      return `${counted(flagged, ["form field", "form fields"])} ${many} no label of ${flagged === 1 ? "its" : "their"} own`
  }
}

/** @param {ReadonlyArray<number>} pages */
const places = (pages) =>
  pages.length === 0
    ? ["."]
    : [
        ": page ",
        ...pages
          .slice(0, NAMED)
          .flatMap((page, at) => [
            ...(at === 0 ? [] : [", "]),
            el("a", { href: `?page=${page}` }, String(page))
          ]),
        pages.length > NAMED ? ", and more." : "."
      ]

/** @param {string} tag */
const language = (tag) => new Intl.DisplayNames("en", { type: "language" }).of(tag) ?? tag

/** Shows what can be said of the accessibility of a result. @param {string} path */
export const showReport = async (path) => {
  /** @type {ResultCheck} */
  const { checks, lang, title } = await ask("GET", `${path}/accessibility`)
  const has = checks.flatMap(({ check, count }) => {
    const words = THINGS[check]
    return words === undefined || count === 0 ? [] : [counted(count, words)]
  })
  const looks = checks.filter(({ flagged }) => flagged > 0)
  byId("report-facts", HTMLElement).textContent =
    `${[`In ${language(lang)}`, ...has].join(", ")}. Colours contrast by day and night, headings are in order, and every control has a name.` +
    (looks.length === 0 ? " Nothing is known that needs a look." : "")
  byId("report-looks", HTMLElement).replaceChildren(
    ...looks.map((check) => {
      const ends = check.check === "title" || check.check === "headings"
      return el("li", {}, lookOf(check, title), ...(ends ? [] : places(check.pages)))
    })
  )
  byId("report", HTMLElement).hidden = false
}
