import { el } from "../dom.js"
import { NOTHING, showList, tag, time } from "./list.js"

/** @import { AuditLogRow } from "#api" */
/** @import { Column } from "./list.js" */

/** @param {unknown} details */
const isEmpty = (details) =>
  details === null || (typeof details === "object" && Object.keys(details).length === 0)

/** @param {AuditLogRow} entry */
const more = ({ details }) =>
  isEmpty(details)
    ? NOTHING
    : el("details", {}, el("summary", {}, "Details"), el("pre", {}, JSON.stringify(details, null, 2)))

showList({
  path: "/api/admin/audit-log",
  names: ["action", "target"],
  none: "Nothing was written down that matches.",
  /** @type {ReadonlyArray<Column<AuditLogRow>>} */
  columns: [
    { head: "When", kind: "short", cell: ({ created_at: at }) => time(at) },
    { head: "What", cell: ({ action }) => tag(action) },
    { head: "To what", kind: "free", cell: ({ target }) => target ?? NOTHING },
    { head: "By whom", kind: "free", cell: ({ actor }) => actor },
    { head: "Why", kind: "free", cell: ({ note }) => note ?? NOTHING },
    { head: "Details", kind: "free", cell: more }
  ]
})
