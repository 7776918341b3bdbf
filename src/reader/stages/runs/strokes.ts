import type { Drawing } from "../../model/page-content.ts"

/** A line as thin as this is a rule, points. */
export const THIN = 2.5

/** Whether a drawing is a path that a reader is meant to see. */
export const isPath = (drawing: Drawing): drawing is Extract<Drawing, { readonly kind: "path" }> =>
  drawing.kind === "path" && !drawing.artifact
