import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { byId, say, show, warn } from "../dom.js"
import { priceIn, showFunds } from "./funds.js"
import { isRunning, pages } from "./state.js"

/** @import { Row } from "./row.js" */

/** Most files that one bulk order takes. */
const MOST_AT_ONCE = 500

const search = byId("search", HTMLInputElement)
const state = byId("state", HTMLSelectElement)
const every = byId("every", HTMLInputElement)
const together = byId("chosen-way", HTMLSelectElement)
const bar = byId("chosen", HTMLElement)

/** Most results of one archive. */
const MOST_RESULTS = 200

/** The filter's groups of states. @type {Readonly<Record<string, ReadonlyArray<string>>>} */
const GROUPS = { ready: ["ready"], working: ["working", "waiting"], done: ["done"], failed: ["failed"] }

/** @param {number} count */
const files = (count) => `${count.toLocaleString("en-GB")} ${count === 1 ? "file" : "files"}`

/** How ways are named in the question. @type {Readonly<Record<import("./row.js").Way, string>>} */
const WAYS = { standard: "standard", highFidelity: "in high fidelity", layout: "with their layout kept" }

/** @param {Row} row */
const price = ({ file }) => file.price

/** @param {ReadonlyArray<Row>} rows */
const total = (rows) => rows.reduce((sum, row) => sum + price(row), 0)

/**
 * Search, filter and selection of the list, and what is done with all that is selected.
 * @param {{ readonly rows: () => ReadonlyArray<Row>, readonly changed: () => Promise<void> }} list
 */
export const startChosen = ({ changed, rows }) => {
  /** @param {Row} row */
  const matches = ({ file, kind }) =>
    file.name.toLocaleLowerCase().includes(search.value.trim().toLocaleLowerCase()) &&
    (state.value === "" || (GROUPS[state.value] ?? []).includes(kind))

  const shown = () => rows().filter(({ element }) => !element.hidden)
  const chosen = () => shown().filter(({ choice }) => choice.checked)
  /** Those of the selected that a conversion can be begun of. */
  const convertible = () =>
    chosen()
      .filter(({ file }) => !isRunning(file) && file.price > 0)
      .slice(0, MOST_AT_ONCE)

  /** The way of all, or that of the file. @param {Row} row @returns {import("./row.js").Way} */
  const wayOf = ({ way }) =>
    together.value === "standard" || together.value === "highFidelity" ? together.value : way

  /** How many go which way. @param {ReadonlyArray<Row>} wanted */
  const waysOf = (wanted) =>
    Object.entries(WAYS)
      .map(([way, name]) => ({ name, count: wanted.filter((row) => wayOf(row) === way).length }))
      .filter(({ count }) => count > 0)
      .map(({ count, name }) => `${files(count)} ${name}`)
      .join(", ")

  /** Draws what the filter shows and the bar of what is selected. */
  const draw = () => {
    const all = rows()
    for (const row of all) row.element.hidden = !matches(row)
    byId("tools", HTMLElement).hidden = all.length < 2
    const seen = shown()
    show(byId("no-match", HTMLElement), all.length > 0 && seen.length === 0 ? "No file matches." : undefined)
    const picked = chosen()
    every.checked = picked.length > 0 && picked.length === seen.length
    every.indeterminate = picked.length > 0 && picked.length < seen.length
    bar.hidden = picked.length === 0
    const ready = convertible()
    const convert = byId("convert-chosen", HTMLButtonElement)
    const sum = ready.reduce((count, { file }) => count + file.pages, 0)
    convert.textContent =
      ready.length === 0
        ? "Convert"
        : `Convert ${files(ready.length)} (${pages(sum)}, ${priceIn(total(ready))})`
    convert.disabled = ready.length === 0
    const results = picked.filter(({ file }) => file.hasResult).slice(0, MOST_RESULTS)
    const download = byId("download-chosen", HTMLAnchorElement)
    download.hidden = results.length === 0
    download.textContent = `Download ${results.length.toLocaleString("en-GB")} ${results.length === 1 ? "result" : "results"}`
    download.href = `/api/v1/results?ids=${results.map(({ file }) => file.id).join(",")}`
    byId("delete-chosen", HTMLButtonElement).textContent = `Delete ${files(picked.length)}`
    byId("chosen-count", HTMLElement).textContent = `${files(picked.length)} selected`
  }

  /** @param {unknown} failure */
  const report = (failure) => {
    const text = explain(failure)
    show(byId("chosen-problem", HTMLElement), text)
    warn(text)
  }

  const convert = async () => {
    const wanted = convertible()
    if (wanted.length === 0) return
    const again = wanted.filter(({ file }) => file.hasResult).length
    const sure = await confirmed({
      title: `Convert ${files(wanted.length)}?`,
      text:
        `${waysOf(wanted)}. It costs ${priceIn(total(wanted))}, charged as each result is there. You are mailed once, when the last is done.` +
        (again === 0 ? "" : ` ${files(again)} had a result before: it is replaced by the new one.`),
      yes: `Convert for ${priceIn(total(wanted))}`,
      no: "Cancel",
      kind: "primary"
    })
    if (!sure) return
    try {
      const flowing = wanted.filter((row) => wayOf(row) !== "layout")
      if (flowing.length > 0) {
        await ask("POST", "/api/v1/bulk", {
          items: flowing.map((row) => ({
            fileId: row.file.id,
            options: { highFidelity: wayOf(row) === "highFidelity" }
          }))
        })
      }
      for (const { choice } of flowing) choice.checked = false
      for (const row of wanted.filter((one) => wayOf(one) === "layout")) {
        await ask("POST", `/api/v1/files/${encodeURIComponent(row.file.id)}/preserve-formatting`)
        row.choice.checked = false
        void row.layout.look()
      }
      show(byId("chosen-problem", HTMLElement), undefined)
      say(`The conversion of ${files(wanted.length)} has begun.`)
    } catch (failure) {
      report(failure)
    }
    void showFunds()
    await changed()
    byId("files-title", HTMLElement).focus()
  }

  const remove = async () => {
    const wanted = chosen()
    const sure = await confirmed({
      title: `Delete ${files(wanted.length)}?`,
      text: "The files and their results are gone for good, shared links stop working, and what is being converted is cancelled; nothing is charged for that.",
      yes: `Delete ${files(wanted.length)}`,
      no: "Keep them"
    })
    if (!sure) return
    show(byId("chosen-problem", HTMLElement), undefined)
    let gone = 0
    for (const { choice, file } of wanted) {
      try {
        await ask("DELETE", `/api/v1/files/${encodeURIComponent(file.id)}`)
        choice.checked = false
        gone += 1
      } catch (failure) {
        report(failure)
        break
      }
    }
    say(`${files(gone)} deleted.`)
    void showFunds()
    await changed()
    byId("files-title", HTMLElement).focus()
  }

  search.addEventListener("input", draw)
  state.addEventListener("change", draw)
  byId("rows", HTMLElement).addEventListener("change", draw)
  every.addEventListener("change", () => {
    for (const { choice } of shown()) choice.checked = every.checked
    draw()
  })
  byId("convert-chosen", HTMLButtonElement).addEventListener("click", () => void convert())
  byId("delete-chosen", HTMLButtonElement).addEventListener("click", () => void remove())
  return { draw }
}
