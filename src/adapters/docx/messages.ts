import type { DocxContent } from "../../ports/docx-converter.ts"

/** What a process is asked. */
export interface Task {
  readonly path: string
  /** Bytes of pictures that go into the result, all together and each. */
  readonly pictureBytes: number
  readonly onePictureBytes: number
}

/** What a process answers, once. `broken`: the document's fault. */
export type FromReader =
  | { readonly kind: "converted"; readonly content: DocxContent }
  | { readonly kind: "too-large" }
  | { readonly kind: "broken"; readonly cause: string }
