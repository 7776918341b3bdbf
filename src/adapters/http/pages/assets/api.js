/** @import { ProblemIssue } from "#api" */

/** A problem document of the API (RFC 9457): the members that are shown. */
export class Refused extends Error {
  /**
   * @param {{
   *   readonly title: string, readonly detail: string, readonly code: string, readonly status: number,
   *   readonly issues?: ReadonlyArray<ProblemIssue>
   * }} problem
   */
  constructor({ code, detail, issues = [], status, title }) {
    super(`${title}. ${detail}`)
    this.issues = issues
    this.title = title
    this.detail = detail
    this.code = code
    this.status = status
  }
}

/** What to do next, for problems whose own text does not say it. */
const NEXT = new Map([
  ["CONVERSION_FINISHING", "Wait a moment; then open the result."],
  ["INTERNAL", "Try again. If it happens again, tell the people who run this server."],
  ["NOT_BATCH_WAITING", "It is being converted already."],
  ["NOT_CONVERTING", "The list shows where it stands now."],
  ["OFFLINE", "Check your connection, then try again."],
  ["PAYLOAD_TOO_LARGE", "Split the document, then upload its parts."],
  ["UNREADABLE", "Reload the page: a proxy before the server may ask you to sign in to it."],
  ["UNAVAILABLE", "Nothing was changed. Try again in a minute."],
  ["UNSUPPORTED_FILE_TYPE", "Save it as PDF or DOCX, then upload that."]
])

/** What people call the fields of requests. */
const FIELDS = new Map([
  ["email", "The address"],
  ["name", "The name"],
  ["recipients", "A recipient"],
  ["message", "The message"],
  ["note", "The note"],
  ["credits", "The number of credits"],
  ["reference", "The reference"],
  ["cursor", "The page that the address names"]
])

/**
 * A wrong field in words: never its path in the request, nor the values that a schema expects.
 * @param {ProblemIssue} issue
 */
const issueText = ({ message, path }) => {
  const field = FIELDS.get(path.split(".")[0] ?? "") ?? "A value"
  return /^Expected\b/.test(message) ? `${field} is none of those that are known here` : `${field} ${message}`
}

/** @param {string} text */
const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`)

/**
 * A failure in words: what it is, why, and what to do next.
 * @param {unknown} failure
 */
export const explain = (failure) => {
  if (!(failure instanceof Refused)) throw failure
  const { code, detail, issues, title } = failure
  return [title, ...(issues.length === 0 ? [detail] : issues.map(issueText)), NEXT.get(code) ?? ""]
    .filter((part) => part !== "")
    .map(sentence)
    .join(" ")
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => typeof value === "object" && value !== null

/** @param {unknown} value @param {string} otherwise */
const textOr = (value, otherwise) => (typeof value === "string" && value !== "" ? value : otherwise)

/** The wrong fields that a problem names. @param {unknown} issues @returns {ReadonlyArray<ProblemIssue>} */
const issuesIn = (issues) =>
  Array.isArray(issues)
    ? issues.flatMap((issue) =>
        isRecord(issue) && typeof issue["path"] === "string" && typeof issue["message"] === "string"
          ? [{ path: issue["path"], message: issue["message"] }]
          : []
      )
    : []

/** The sign-in page, which leads back to this one; the dashboard is where it leads by itself. */
const signInAgain = () => {
  const query = new URLSearchParams({ reason: "ended" })
  const here = `${location.pathname}${location.search}`
  if (here !== "/dashboard") query.set("next", here)
  return `/sign-in?${query}`
}

/** Whether this page leads to the sign-in already: of two requests that are refused at once, the second navigation would abort the first. */
let isLeaving = false
addEventListener("pageshow", () => {
  isLeaving = false
})

/** The refusal in an answer. @param {number} status @param {string} text */
export const refusalOf = (status, text) => {
  /** @type {unknown} */
  let body
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  const { code, detail, issues, title } = isRecord(body) ? body : {}
  if (status === 401 && !isLeaving) {
    isLeaving = true
    location.assign(signInAgain())
  }
  return new Refused({
    title: textOr(title, `The server answered ${status}`),
    detail: textOr(detail, ""),
    code: textOr(code, "UNKNOWN"),
    issues: issuesIn(issues),
    status
  })
}

export const offline = () =>
  new Refused({ title: "The server cannot be reached", detail: "", code: "OFFLINE", status: 0 })

/** An idempotency key of 128 random bits; `randomUUID` is missing on pages without https. */
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    ""
  )

/** How long the same press counts as the same call while there is no answer to it, milliseconds. */
const UNANSWERED_FOR = 60_000

/** Keys of calls without an answer, by what they ask for: a second click and another try are not charged again. @type {Map<string, { key: string, until: number }>} */
const unanswered = new Map()

/** @param {string} call */
const keyOf = (call) => {
  const now = Date.now()
  const known = unanswered.get(call)
  if (known !== undefined && known.until > now) return known.key
  const key = newKey()
  unanswered.set(call, { key, until: now + UNANSWERED_FOR })
  return key
}

/**
 * Calls the API with the session cookie; returns the parsed body, or fails with {@link Refused}.
 * @template A
 * @param {"GET" | "PATCH" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<A>}
 */
export const ask = async (method, path, body) => {
  const headers = new Headers({ accept: "application/json" })
  /** @type {RequestInit} */
  const request = { method, headers }
  const json = body === undefined ? "" : JSON.stringify(body)
  if (json !== "") {
    headers.set("content-type", "application/json")
    request.body = json
  }
  const call = `${path} ${json}`
  if (method === "POST") headers.set("idempotency-key", keyOf(call))
  let status
  let text
  try {
    const response = await fetch(path, request)
    status = response.status
    text = await response.text()
  } catch {
    throw offline()
  }
  if (status < 500) unanswered.delete(call)
  if (status < 200 || status > 299) throw refusalOf(status, text)
  try {
    return /** @type {A} */ (JSON.parse(text === "" ? "null" : text))
  } catch {
    throw new Refused({
      title: "What was answered is not the server’s",
      detail: "",
      code: "UNREADABLE",
      status
    })
  }
}
