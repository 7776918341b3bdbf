import type { GreyPicture, RecognisedText, RecognitionHints } from "../../reader/model/recognised-text.ts"

/** A picture to be read; its bytes move to the thread. */
export interface Request {
  readonly picture: GreyPicture
  readonly hints: RecognitionHints
}

/** What a thread answers to each request. */
export type Answer =
  | {
      readonly kind: "read"
      readonly text: RecognisedText
      /** Memory of the library, which never shrinks. */
      readonly bytes: number
    }
  /** A trap, or no more memory: the thread cannot be trusted any more. */
  | { readonly kind: "crashed"; readonly cause: string }

/** What a thread is started with. */
export interface WorkerData {
  /** tesseract's codes, the commonest language first. */
  readonly languages: ReadonlyArray<string>
  /** Memory that the library may take. */
  readonly libraryBytes: number
}
