import { el } from "../dom.js"
import { NOTHING, showList, tag, time } from "./list.js"

/**
 * @typedef {{
 *   readonly id: string, readonly action: string, readonly actor: string, readonly target: string | null,
 *   readonly note: string | null, readonly details: unknown, readonly created_at: string
 * }} AuditEntry
 */

/** @param {unknown} details */
const isEmpty = (details) =>
  details === null || (typeof details === "object" && Object.keys(details).length === 0)

/** @param {AuditEntry} entry */
const more = ({ details }) =>
  isEmpty(details)
    ? NOTHING
    : el("details", {}, el("summary", {}, "Details"), el("pre", {}, JSON.stringify(details, null, 2)))

showList({
  path: "/api/admin/audit-log",
  names: ["action", "target"],
  none: "Nothing was written down that matches.",
  /** @type {ReadonlyArray<import("./list.js").Column<AuditEntry>>} */
  columns: [
    { head: "When", kind: "short", cell: ({ created_at: at }) => time(at) },
    { head: "What", cell: ({ action }) => tag(action) },
    { head: "To what", kind: "free", cell: ({ target }) => target ?? NOTHING },
    { head: "By whom", kind: "free", cell: ({ actor }) => actor },
    { head: "Why", kind: "free", cell: ({ note }) => note ?? NOTHING },
    { head: "Details", kind: "free", cell: more }
  ]
})
