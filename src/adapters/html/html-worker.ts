import { parentPort } from "node:worker_threads"

import { writePiece } from "../../reader/formats/write-piece.ts"
import { cleanFragment } from "../../reader/html/clean.ts"
import { PageFold } from "../../reader/html/fold.ts"
import { parseFragment } from "../../reader/html/parse-fragment.ts"
import { Surveyor } from "../../reader/html/survey.ts"
import { detectLanguage, loadDetector } from "../../reader/language/language.ts"
import type { Tasks, FromThread, ToThread } from "./messages.ts"

const port = parentPort
if (port === null) throw new Error("html-worker.ts runs as a worker thread")

const surveyors = new Map<number, Surveyor>()
const folds = new Map<number, PageFold>()

const foldOf = (document: number): PageFold => {
  const fold = folds.get(document)
  if (fold === undefined) throw new Error("a page came for a document that was not begun here")
  return fold
}

/** The surveyor of a document. Fails when another thread, which ended, has read its first pages: the rest alone is not a survey. */
const surveyorOf = (document: number): Surveyor => {
  const surveyor = surveyors.get(document)
  if (surveyor === undefined) throw new Error("a page came for a survey that was not begun here")
  return surveyor
}

const TASKS: {
  readonly [K in keyof Tasks]: (asks: Tasks[K]["asks"]) => Tasks[K]["answers"] | Promise<Tasks[K]["answers"]>
} = {
  prepare: ({ detects }) => (detects ? loadDetector() : undefined),
  clean: ({ html }) => cleanFragment(html),
  look: ({ document }) => void surveyors.set(document, new Surveyor()),
  survey: ({ document, fragments }) => {
    const surveyor = surveyorOf(document)
    for (const html of fragments) if (!surveyor.skips(html)) surveyor.add(parseFragment(html))
  },
  surveyed: ({ document }) => {
    const survey = surveyorOf(document).survey()
    surveyors.delete(document)
    return survey
  },
  begin: ({ document, plan }) => void folds.set(document, new PageFold(plan)),
  add: ({ document, pages }) => {
    const fold = foldOf(document)
    return pages
      .map(({ html, index, label }) => fold.add({ index, label, nodes: parseFragment(html) }))
      .join("")
  },
  end: ({ document }) => {
    const end = foldOf(document).end()
    folds.delete(document)
    return end
  },
  detect: ({ text }) => detectLanguage(text),
  write: ({ as, html, state }) => writePiece(html, as, state),
  drop: ({ document }) => {
    surveyors.delete(document)
    folds.delete(document)
  }
}

const answer = async <K extends keyof Tasks>({ asks, task, id }: ToThread<K>): Promise<FromThread> => {
  try {
    return { id, answers: await TASKS[task](asks) }
  } catch (error) {
    return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

port.on("message", (request: ToThread) => void answer(request).then((message) => port.postMessage(message)))
