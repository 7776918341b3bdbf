import type { TextRun } from "../../model/page-content.ts"

/** Whether a run says where each of its letters begins. */
export const hasEdges = ({ edges, text }: TextRun): boolean => edges.length === text.length + 1

/** Where the letters of a text begin that are dealt out evenly, and where the last ends. */
export const evenEdges = (text: string, x0: number, x1: number): ReadonlyArray<number> =>
  Array.from({ length: text.length + 1 }, (_, at) => x0 + ((x1 - x0) * at) / Math.max(1, text.length))

/** Where the letters of a run begin, and where the last ends: evenly where it does not say. */
export const edgesOf = (run: TextRun): ReadonlyArray<number> =>
  hasEdges(run) ? run.edges : evenEdges(run.text, run.box.x0, run.box.x1)
