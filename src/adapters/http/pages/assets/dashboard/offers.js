import { button, el, hidden } from "../dom.js"
import { menuOf } from "../menu.js"
import { priceIn } from "./funds.js"
import { hasLayout, kindOf } from "./state.js"

/** @import { File as FileView } from "#api" */
/** @import { Row, Way } from "./row.js" */

/** @type {ReadonlyArray<readonly [way: Way, text: string, again: string]>} */
const WAYS = [
  ["standard", "Standard", "Convert again"],
  ["highFidelity", "High fidelity", "Convert in high fidelity"],
  ["layout", "Keep the layout", "Keep the layout"]
]

/** @param {string} name */
const waysOf = (name) => (hasLayout(name) ? WAYS : WAYS.slice(0, 2))

/** What the result is called where it is kept. @param {string} name */
export const resultName = (name) => {
  const dot = name.lastIndexOf(".")
  return `${dot === -1 || kindOf(name) === "file" ? name : name.slice(0, dot)}.html`
}

/** The page of a file. @param {FileView} file */
export const pageOf = ({ id }) => `/dashboard/files/${encodeURIComponent(id)}`

/** @param {FileView} file @param {string} text @param {string} about @param {Readonly<Record<string, string>>} more @param {string} kind */
const resultLink = ({ id }, text, about, more, kind) =>
  el(
    "a",
    { href: `/api/v1/files/${encodeURIComponent(id)}/result`, class: kind, "data-does": text, ...more },
    text,
    hidden(about)
  )

/** The choice of the way to convert, which the row keeps. @param {Row} row */
const choiceOf = (row) => {
  const { name } = row.file
  const ways = waysOf(name)
  const choice = el(
    "select",
    { "aria-label": `Mode of ${name}`, "data-does": "way" },
    ...ways.map(([value, text]) => el("option", { value }, text))
  )
  choice.value = row.way
  choice.addEventListener("change", () => {
    row.way = ways.find(([value]) => value === choice.value)?.[0] ?? "standard"
  })
  return choice
}

/**
 * A button of a row. `price`: what it costs, next to what it does.
 * @param {string} does
 * @param {string} text
 * @param {{ readonly about: string, readonly press: () => void, readonly kind?: string, readonly price?: string }} options
 */
const act = (does, text, { price, ...options }) => {
  const made = button(text, options)
  made.dataset["does"] = does
  if (price !== undefined) made.append(el("span", { class: "price" }, price))
  return made
}

/** What is done with the result that is there, besides opening and sharing it. @param {FileView} file @returns {ReadonlyArray<Node>} */
const withResult = (file) => {
  const { name } = file
  return [
    ...(file.pages > 0 && kindOf(name) === "pdf"
      ? [
          el(
            "a",
            { href: `${pageOf(file)}#compare`, "data-does": "pages" },
            "Compare",
            hidden(` ${name} with its result, page by page`)
          )
        ]
      : []),
    resultLink(file, "Download", ` the result of ${name}`, { download: resultName(name) }, "")
  ]
}

/** Converting again, in each way, with what it costs; flowing text after a layout was kept is free once. @param {Row} row */
const again = (row) => {
  const { commands, file, layout } = row
  const free = layout.free
  return [
    ...(free === undefined
      ? []
      : [
          act("reflow", "Reflow instead", {
            about: `(${file.name})`,
            press: () => void commands.reflow(row, free),
            price: "free"
          })
        ]),
    ...waysOf(file.name).map(([way, , text]) =>
      act(`again ${way}`, text, {
        about: file.name,
        press: () => void commands.convert(row, way),
        price: priceIn(file.price)
      })
    )
  ]
}

/** A link to the result that keeps the layout. @param {Row} row @param {string} [kind] @returns {ReadonlyArray<Node>} */
const layoutLink = ({ file, layout }, kind) =>
  layout.kept === undefined
    ? []
    : [
        el(
          "a",
          {
            href: `/api/v1/flyer-jobs/${encodeURIComponent(layout.kept.id)}/result`,
            class: kind,
            "data-does": "layout"
          },
          "Open layout-true result",
          hidden(` of ${file.name}`)
        )
      ]

/**
 * What can be done with a row: one main action, and the rest behind “…”. `able`: what its conversion allows.
 * @param {Row} row
 * @param {"convert" | "working" | "waiting" | "finishing"} able
 * @returns {ReadonlyArray<Node>}
 */
export const offersOf = (row, able) => {
  const { commands, file, layout } = row
  const { name } = file
  const remove = act("delete", "Delete", {
    about: name,
    press: () => void commands.remove(row),
    kind: "danger"
  })
  const page = el("a", { href: pageOf(file), "data-does": "page" }, "Details", hidden(` of ${name}`))
  const open = file.hasResult ? [resultLink(file, "Open result", ` of ${name}`, {}, "button primary")] : []
  const share = file.hasResult
    ? [act("share", "Share", { about: `the result of ${name}`, press: () => void commands.share(row) })]
    : []
  const result = file.hasResult ? [...withResult(file), ...share] : []
  /** @param {ReadonlyArray<Node>} items */
  const menu = (...items) => menuOf(name, [...items, page, remove])
  const cancel = act("cancel", "Cancel", {
    about: `the conversion of ${name}`,
    press: () => void commands.cancel(row)
  })
  if (able === "working") return [cancel, menu(...open, ...result, ...layoutLink(row))]
  if (able === "waiting") {
    const now = act("now", "Process now", {
      about: name,
      press: () => void commands.processNow(row),
      kind: "primary"
    })
    return [now, menu(cancel, ...open, ...result, ...layoutLink(row))]
  }
  if (able === "finishing") return [...open, menu(...result, ...layoutLink(row))]
  if (file.hasResult) return [...open, menu(...result, ...layoutLink(row), ...again(row))]
  if (layout.kept !== undefined) return [...layoutLink(row, "button primary"), menu(...again(row))]
  return [
    choiceOf(row),
    act("convert", "Convert", {
      about: name,
      press: () => void commands.convert(row, row.way),
      kind: "primary"
    }),
    el("span", { class: "price" }, priceIn(file.price)),
    menu()
  ]
}
