import type { PieceState, writePiece, WrittenPiece } from "../../reader/formats/write-piece.ts"
import type { FragmentPage } from "../../reader/html/fold.ts"
import type { Plan } from "../../reader/html/survey.ts"
import type { Survey } from "../../reader/model/survey.ts"

/** A page with an unparsed fragment. */
type UnreadPage = Omit<FragmentPage, "nodes"> & { readonly html: string }

/**
 * The thread's operations, with arguments and results. It keeps a document's state by number until that is ended or dropped. Pages
 * go there as many at once as came from the store: a message costs as much as a page of it.
 */
export interface Tasks {
  /** `detects`: a language will have to be detected. */
  readonly prepare: { readonly asks: { readonly detects: boolean }; readonly answers: void }
  readonly clean: { readonly asks: { readonly html: string }; readonly answers: string }
  /** Begins a document's survey. */
  readonly look: { readonly asks: { readonly document: number }; readonly answers: void }
  readonly survey: {
    readonly asks: { readonly document: number; readonly fragments: ReadonlyArray<string> }
    readonly answers: void
  }
  readonly surveyed: { readonly asks: { readonly document: number }; readonly answers: Survey }
  readonly begin: {
    readonly asks: { readonly document: number; readonly plan: Plan }
    readonly answers: void
  }
  readonly add: {
    readonly asks: { readonly document: number; readonly pages: ReadonlyArray<UnreadPage> }
    readonly answers: string
  }
  readonly end: { readonly asks: { readonly document: number }; readonly answers: string }
  /** Loads its table for the first text: too long for the thread that serves requests. */
  readonly detect: { readonly asks: { readonly text: string }; readonly answers: string | undefined }
  /** Writes a piece of a stored result in another format. */
  readonly write: {
    readonly asks: {
      readonly html: string
      readonly as: Parameters<typeof writePiece>[1]
      readonly state: PieceState
    }
    readonly answers: WrittenPiece
  }
  readonly drop: { readonly asks: { readonly document: number }; readonly answers: void }
}

/** A request; answers come in the order of requests, and bear its number. */
export interface ToThread<K extends keyof Tasks = keyof Tasks> {
  readonly id: number
  readonly task: K
  readonly asks: Tasks[K]["asks"]
}

export type FromThread =
  | { readonly id: number; readonly answers: unknown }
  | { readonly id: number; readonly fault: string }
