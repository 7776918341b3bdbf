import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { say, warn } from "../dom.js"
import { priceIn, showFunds } from "./funds.js"
import { share } from "./share.js"
import { isRunning } from "./state.js"

/** @import { Operations } from "#api" */
/** @import { Row } from "./row.js" */

/** @param {Row} row @param {string} path */
const pathOf = (row, path) => `/api/v1/files/${encodeURIComponent(row.file.id)}${path}`

/**
 * Whether the user agrees to the price: asked where a result of this way already exists.
 * @param {Row} row @param {import("./row.js").Way} way @returns {Promise<boolean>}
 */
const agreed = async ({ file, layout }, way) => {
  const keeps = way === "layout"
  if (!(keeps ? layout.kept !== undefined : file.hasResult)) return true
  return confirmed({
    title: keeps ? `Keep the layout of ${file.name} again?` : `Convert ${file.name} again?`,
    text: `It costs ${priceIn(file.price)} again, charged when the new result is there. The result that you have stays until then, and is replaced by the new one.`,
    yes: `Convert for ${priceIn(file.price)}`,
    no: "Keep what is there",
    kind: "primary"
  })
}

/**
 * What is done with files, of the list and of a file's page.
 * @param {{
 *   readonly touched: () => void, readonly refresh: () => Promise<void>,
 *   readonly near: (row: Row) => HTMLElement | undefined, readonly gone: (near: HTMLElement | undefined) => void
 * }} page `touched`: an answer that was asked for before is out of date; `near`: what has the focus once a row is gone.
 */
export const makeCommands = ({ gone, near, refresh, touched }) => {
  /**
   * Does something with a row's file; a refusal of the API is shown in the row.
   * @param {Row} row
   * @param {() => Promise<string>} what
   * @returns {Promise<boolean>}
   */
  const act = async (row, what) => {
    row.report({})
    row.busy(true)
    touched()
    try {
      const note = await what()
      say(`${row.file.name}: ${note}`)
      return true
    } catch (failure) {
      const text = explain(failure)
      row.report({ problem: text })
      warn(`${row.file.name}: ${text}`)
      return false
    } finally {
      touched()
      void showFunds()
      await refresh()
      row.busy(false)
    }
  }

  /** @type {import("./row.js").Commands} */
  const commands = {
    // Nothing that was pressed: where it is not known, the row says less.
    why: async (row) => {
      if (document.hidden) return undefined
      try {
        /** @type {Operations["files.getFile"]["success"]} */
        const { file } = await ask("GET", pathOf(row, ""))
        return file.waitsFor
      } catch {
        return undefined
      }
    },

    convert: async (row, way) => {
      if (!(await agreed(row, way))) return
      await act(row, async () => {
        if (way === "layout") {
          await ask("POST", pathOf(row, "/preserve-formatting"))
          return "The result that keeps the layout is being made."
        }
        await ask("POST", pathOf(row, "/convert"), { options: { highFidelity: way === "highFidelity" } })
        return "The conversion has begun."
      })
      if (way === "layout") await row.layout.look()
    },

    reflow: async (row, job) => {
      await act(row, async () => {
        await ask("POST", `/api/v1/flyer-jobs/${encodeURIComponent(job.id)}/reflow`)
        return "The conversion to flowing text has begun, free of charge."
      })
      await row.layout.look()
    },

    stop: async (row, job) => {
      const sure = await confirmed({
        title: `Cancel keeping the layout of ${row.file.name}?`,
        text: "What was made so far is thrown away. Nothing is charged, and the file stays.",
        yes: "Cancel conversion",
        no: "Keep converting"
      })
      if (!sure) return
      const done = await act(row, async () => {
        /** @type {Operations["flyers.cancelFlyer"]["success"]} */
        const { flyerJob } = await ask("POST", `/api/v1/flyer-jobs/${encodeURIComponent(job.id)}/cancel`)
        row.layout.took(flyerJob)
        return "The conversion is cancelled. Nothing was charged."
      })
      if (done) row.focusConvert()
      else await row.layout.look()
    },

    cancel: async (row) => {
      const sure = await confirmed({
        title: `Cancel the conversion of ${row.file.name}?`,
        text: `What was converted so far is thrown away. Nothing is charged, and the file ${row.file.hasResult ? "and its earlier result stay" : "stays"}.`,
        yes: "Cancel conversion",
        no: "Keep converting"
      })
      if (!sure) return
      const done = await act(row, async () => {
        await ask("POST", pathOf(row, "/cancel"))
        // Updated at once: the list may be requested twice now, and the first answer is dropped.
        const { lastJob } = row.file
        row.update({
          ...row.file,
          status: "uploaded",
          phase: null,
          batchWaiting: false,
          lastJob: lastJob === null ? null : { ...lastJob, status: "cancelled" }
        })
        return "The conversion is cancelled. Nothing was charged."
      })
      if (done) row.focusConvert()
    },

    processNow: async (row) => {
      await act(row, async () => {
        await ask("POST", pathOf(row, "/process-now"))
        return "It is processed now."
      })
    },

    share: async (row) => {
      row.report({})
      const outcome = await share(row.file)
      if (outcome === undefined) return
      row.report({ note: outcome })
      say(outcome)
    },

    remove: async (row) => {
      const sure = await confirmed({
        title: `Delete ${row.file.name}?`,
        text: isRunning(row.file)
          ? `Its conversion is cancelled, nothing is charged, and the file ${row.file.hasResult ? "and its earlier result are" : "is"} gone for good.`
          : "The file and its result are gone for good, and shared links stop working.",
        yes: "Delete",
        no: "Keep the file"
      })
      if (!sure) return
      const beside = near(row)
      const done = await act(row, async () => {
        await ask("DELETE", pathOf(row, ""))
        return "Deleted."
      })
      if (done) gone(beside)
    }
  }
  return commands
}
