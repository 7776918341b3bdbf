import type { DocxContent } from "../../ports/conversion/documents.ts"

/** What a process is asked: to convert a document, or to look whether it is one, and how long. */
export type Task =
  | {
      readonly kind: "convert"
      readonly path: string
      /** Bytes of pictures that go into the result, all together and each. */
      readonly pictureBytes: number
      readonly onePictureBytes: number
    }
  | { readonly kind: "inspect"; readonly path: string }

/** What a process answers, once. `broken`, `too-large`: the document's fault, in words for its owner where there are any. */
export type FromReader =
  | { readonly kind: "converted"; readonly content: DocxContent }
  | { readonly kind: "inspected"; readonly pages: number }
  | { readonly kind: "unsupported"; readonly found: string }
  | { readonly kind: "unreadable"; readonly message: string; readonly why: "broken" | "too-large" }
  | { readonly kind: "too-large" }
  | { readonly kind: "broken"; readonly cause: string }
