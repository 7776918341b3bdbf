import { readAnswer } from "./answer.ts"
import { type CallProblem, type Problem, PostlaneError } from "./problems.ts"
import { type Sleep, waitBefore } from "./retry.ts"

/** One server-sent event; its data is read as JSON. */
export interface ServerEvent<Name extends string = string, Data = unknown> {
  readonly event: Name
  readonly data: Data
  readonly id: string
}

/** A moment of a conversion; the last one is no `progress`. */
export type ConversionEvent = ServerEvent<
  "progress" | "completed" | "failed" | "cancelled",
  {
    readonly fileId: string
    readonly jobId: string | null
    readonly status: string
    readonly phase: string | null
    readonly done: number
    readonly total: number
    /** Pages that can be looked at before the result is there, from 1, the last ones included. */
    readonly readyPages: ReadonlyArray<{ readonly first: number; readonly last: number }>
  }
>

/** The events of each stream. */
export interface Streams {
  readonly "files.streamConversion": ConversionEvent
}

/** Longest event, characters: ours hold a few hundred, those of documents of thousands of pages a few thousand. */
const MAX_EVENT_LENGTH = 1024 * 1024

/** The server sends a comment every 15 s: a connection that is silent for longer is gone. */
const SILENCE_MS = 60_000

/** After these the server closes the stream, and nothing is left to ask for. */
const LAST = new Set(["completed", "failed", "cancelled"])

class Unreadable extends Error {}

/** Reads server-sent events (the HTML standard's section 9.2.6) from text that arrives in pieces. */
export const eventParser = () => {
  let rest = ""
  let afterReturn = false
  let event = ""
  let data = ""
  let id = ""
  let retryMs: number | undefined

  const field = (line: string) => {
    const colon = line.indexOf(":")
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (name === "event") event = value
    else if (name === "data") data += `${value}\n`
    else if (name === "id" && !value.includes("\0")) id = value
    else if (name === "retry" && /^\d{1,9}$/.test(value)) retryMs = Number(value)
    if (data.length > MAX_EVENT_LENGTH) throw new Unreadable("an event is too long")
  }
  const dispatch = (): ReadonlyArray<ServerEvent> => {
    const [name, text] = [event, data.slice(0, -1)]
    event = ""
    data = ""
    if (text === "") return []
    try {
      return [{ event: name === "" ? "message" : name, data: JSON.parse(text) as unknown, id }]
    } catch {
      throw new Unreadable("the data of an event is not JSON")
    }
  }
  return {
    lastId: () => id,
    retryMs: () => retryMs,
    feed: (piece: string): ReadonlyArray<ServerEvent> => {
      // A line ends with CR, LF or both; an LF after a CR that ended the piece before ends none.
      const text = afterReturn && piece.startsWith("\n") ? piece.slice(1) : piece
      afterReturn = piece.endsWith("\r")
      const [first = "", ...lines] = text.split(/\r\n|\r|\n/)
      rest += first
      const events: Array<ServerEvent> = []
      for (const next of lines) {
        for (const one of rest === "" ? dispatch() : (field(rest), [])) events.push(one)
        rest = next
      }
      if (rest.length > MAX_EVENT_LENGTH) throw new Unreadable("a line is too long")
      return events
    },
    /** What a broken connection left unfinished is dropped; the last id is kept. */
    drop: () => {
      rest = event = data = ""
      afterReturn = false
    }
  }
}

/** Opens the stream once; `lastId` is the id of the last event that was seen. */
type Connect = (lastId: string, signal: AbortSignal) => Promise<Response>

interface Watching {
  readonly retries: number
  readonly maxBytes: number
  readonly random: () => number
  readonly sleep: Sleep
  readonly signal: AbortSignal | undefined
}

const bad = (detail: string): CallProblem => ({ code: "BAD_ANSWER", status: 200, detail, retryable: false })
const noAnswer: CallProblem = {
  code: "NO_ANSWER",
  status: 0,
  detail: "the event stream cannot be read",
  retryable: true
}
const aborted: CallProblem = { code: "ABORTED", status: 0, detail: "the caller ended it", retryable: false }

/** What a connection is asked for; the silence of a dead one ends it. */
const unlessSilent = <A>(asked: Promise<A>, ended: AbortController): Promise<A> => {
  const silence = setTimeout(() => ended.abort(), SILENCE_MS)
  return asked.finally(() => clearTimeout(silence))
}

/** The pieces of one connection. */
async function* piecesOf(response: Response, ended: AbortController): AsyncGenerator<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  while (reader !== undefined) {
    const { done, value } = await unlessSilent(reader.read(), ended)
    if (done) return
    yield decoder.decode(value, { stream: true })
  }
}

/** Why a connection gives no events; `undefined` where it is one. */
const refusalOf = async (response: Response, maxBytes: number) => {
  if (response.ok && response.headers.get("content-type")?.startsWith("text/event-stream") === true)
    return undefined
  const read = await readAnswer(response, { kind: "json", maxBytes, safe: true })
  return "error" in read ? read.error : bad("the answer is no event stream")
}

/**
 * The events of a stream. A connection that breaks off is opened again, with `Last-Event-ID` if events had ids, until the last
 * event, the caller's `break`, or more failures in a row than retries are allowed; then it throws a {@link PostlaneError}.
 */
export async function* watch(connect: Connect, options: Watching): AsyncGenerator<ServerEvent, void> {
  const { maxBytes, random, retries, signal, sleep } = options
  const parser = eventParser()
  let failures = 0
  for (;;) {
    const ended = new AbortController()
    const end = () => ended.abort()
    signal?.addEventListener("abort", end)
    let problem: Problem | CallProblem | undefined
    try {
      if (signal?.aborted === true) throw new PostlaneError(aborted)
      const response = await unlessSilent(connect(parser.lastId(), ended.signal), ended)
      if (response.status === 204) return
      problem = await unlessSilent(refusalOf(response, maxBytes), ended)
      for await (const piece of problem === undefined ? piecesOf(response, ended) : []) {
        for (const event of parser.feed(piece)) {
          failures = 0
          yield event
          if (LAST.has(event.event)) return
        }
      }
    } catch (error) {
      if (error instanceof PostlaneError) throw error
      if (signal?.aborted === true) throw new PostlaneError(aborted)
      problem = error instanceof Unreadable ? bad(error.message) : noAnswer
    } finally {
      signal?.removeEventListener("abort", end)
      ended.abort()
    }
    parser.drop()
    failures += 1
    if (problem?.retryable === false || failures > retries) throw new PostlaneError(problem ?? noAnswer)
    const asked = problem?.retryAfterMs ?? parser.retryMs()
    const wait = waitBefore(failures, asked, random)
    if (wait === undefined) throw new PostlaneError(problem ?? noAnswer)
    await sleep(wait, signal)
  }
}
