import { el } from "../dom.js"
import { NOTHING, showList, tag, time } from "./list.js"

/** @import { ContactMessageRow } from "#api" */
/** @import { Column } from "./list.js" */

/** @param {ContactMessageRow} message */
const state = ({ notified_at: notified, spam }) => {
  if (spam) return tag("spam")
  return notified === null ? tag("waiting", "wait") : tag("notified", "good")
}

/** @param {ContactMessageRow} message */
const problem = ({ notified_at: notified, notify_after: after, notify_error: error, spam }) =>
  notified !== null || spam
    ? NOTHING
    : el(
        "div",
        {},
        el("p", {}, error ?? "No provider has accepted it yet."),
        el("p", {}, "Next try: ", time(after))
      )

/** @param {ContactMessageRow} message */
const sender = ({ email, name }) => {
  const known = [name, email].flatMap((part) => (part === null ? [] : [el("p", {}, part)]))
  return known.length === 0 ? NOTHING : el("div", {}, ...known)
}

/** @param {ContactMessageRow} message */
const words = ({ message, page, rating }) =>
  el(
    "div",
    {},
    el("p", {}, message),
    rating === null ? undefined : el("p", {}, `Rating: ${rating} of 5`),
    page === null ? undefined : el("p", {}, `Page: ${page}`)
  )

showList({
  path: "/api/admin/contact-messages",
  names: ["state", "kind"],
  none: "No message matches.",
  /** @type {ReadonlyArray<Column<ContactMessageRow>>} */
  columns: [
    { head: "Received", kind: "short", cell: ({ created_at: at }) => time(at) },
    { head: "Form", kind: "short", cell: ({ kind }) => kind },
    { head: "From", kind: "free", cell: sender },
    { head: "Message", kind: "free", cell: words },
    { head: "Notification", cell: state },
    { head: "Why it waits", kind: "free", cell: problem }
  ]
})
