import { ask, explain } from "../api.js"
import { button, byId, el, say, show, time } from "../dom.js"
import { KIND_NAMES } from "../words.js"
import { tag } from "./list.js"

/** @import { Operations, OtherWorkRow } from "#api" */

/** @type {Readonly<Record<string, string>>} */
const KINDS = { ...KIND_NAMES, layout: "Layout-true result" }

/** @type {Readonly<Record<OtherWorkRow["status"], readonly [string, "" | "bad" | "good" | "wait"]>>} */
const STATES = {
  pending: ["Waiting", "wait"],
  processing: ["Under way", ""],
  completed: ["Completed", "good"],
  failed: ["Failed", "bad"]
}

/** @param {OtherWorkRow} job */
const item = ({ attempts, customerEmail, error, fileId, fileName, kind, movedAt, status }) => {
  const [text, mood] = STATES[status]
  const tries = attempts > 1 ? ` · ${attempts} attempts` : ""
  return el(
    "li",
    {},
    el(
      "a",
      { href: `/admin/jobs/documents/${encodeURIComponent(fileId)}` },
      fileName || "a deleted document"
    ),
    " ",
    tag(text, mood),
    el(
      "p",
      { class: "facts" },
      `${KINDS[kind]}${tries} · ${customerEmail ?? "an erased customer"} · `,
      time(movedAt)
    ),
    error === null ? undefined : el("p", {}, error)
  )
}

/** Shows the newest, or those after a cursor below them. @param {string} [cursor] */
export const showOthers = async (cursor) => {
  show(byId("others-problem", HTMLElement), undefined)
  try {
    /** @type {Operations["jobs.otherWork"]["success"]} */
    const { nextCursor, rows } = await ask(
      "GET",
      `/api/admin/other-jobs?limit=20${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
    )
    const list = byId("others", HTMLElement)
    list.append(...rows.map(item))
    byId("no-others", HTMLElement).hidden = list.childElementCount > 0
    const older = button("Show older", {
      about: "Word documents, pictures and layout-true results",
      press: () => void showOthers(nextCursor ?? undefined).then(() => say("Older ones are shown."))
    })
    byId("more-others", HTMLElement).replaceChildren(...(nextCursor === null ? [] : [older]))
  } catch (failure) {
    show(byId("others-problem", HTMLElement), explain(failure))
  }
}
