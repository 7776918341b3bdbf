import { Stream } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

import { textDownload } from "./stored-body.ts"

/** What a spreadsheet takes for the beginning of a formula, in every width. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A cell (RFC 4180). An apostrophe before what looks like a formula has spreadsheets show it as text. */
export const csvCell = (value: string | null): string => {
  const text = value ?? ""
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

/** Columns by their headings. */
export type CsvColumns<R> = Readonly<Record<string, (row: R) => string | null>>

/** Rows as a file to download, while they are read. */
export const csvResponse = <R, E>(
  name: string,
  request: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  columns: CsvColumns<R>,
  rows: Stream.Stream<ReadonlyArray<R>, E>
): HttpServerResponse.HttpServerResponse => {
  const line = (cells: ReadonlyArray<string | null>) => `${cells.map(csvCell).join(",")}\r\n`
  const cells = Object.values(columns)
  const lines = Stream.concat(
    Stream.succeed(line(Object.keys(columns))),
    Stream.map(rows, (some) => some.map((row) => line(cells.map((cell) => cell(row)))).join(""))
  )
  return textDownload(Stream.orDie(lines), request, {
    contentType: "text/csv; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-disposition": `attachment; filename="${name}.csv"`
    }
  })
}
