import { line, PdfWriter, pdfOf, ref } from "./pdf-writer.ts"

/** Hostile documents that the tests make themselves, and what opening or reading them may end in. */
export const notPdf = (): Buffer => Buffer.from("This is not a PDF, whatever its name says.\n")

export const truncated = (): Buffer => {
  const whole = pdfOf({ pages: [{ content: line("Cut off", 72, 700) }] })
  return whole.subarray(0, 200)
}

export const withoutPages = (): Buffer => pdfOf({ pages: [] })

/** A form whose pages only Adobe's programs can make. */
export const dynamicXfa = (): Buffer =>
  pdfOf({
    pages: [{ content: line("Please wait... If this message is not eventually replaced", 72, 700) }],
    catalog: "/NeedsRendering true",
    more: (writer) => {
      const xfa = writer.stream("<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'/>")
      return { catalog: `/AcroForm << /Fields [] /XFA ${ref(xfa)} >>` }
    }
  })

/** The same without the catalogue's word for it. */
export const staticXfaPlaceholder = (): Buffer =>
  pdfOf({
    pages: [{ content: line("Please wait... If this message is not eventually replaced", 72, 700) }],
    more: (writer) => {
      const xfa = writer.stream("<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'/>")
      return { catalog: `/AcroForm << /Fields [] /XFA ${ref(xfa)} >>` }
    }
  })

/** 400 inches square. */
export const hugePage = (): Buffer =>
  pdfOf({
    pages: [
      { content: line("Fine", 72, 700) },
      { content: line("Far", 72, 700), mediaBox: [0, 0, 28_800, 28_800] }
    ]
  })

const FORM = "/Type /XObject /Subtype /Form /BBox [0 0 612 792]"

/** Two pages: an ordinary one, and one that shows a form of `content`. */
const withForm = (content: Buffer | string): Buffer =>
  pdfOf({
    pages: [{ content: line("First", 72, 700) }, { content: "/X0 Do" }],
    more: (writer) => {
      const form = writer.stream(content, { compress: true, dictionary: FORM })
      return { resources: `/XObject << /X0 ${ref(form)} >>` }
    }
  })

/** Its second page has more characters than a page may have, in a few kilobytes. */
export const tooMuchText = (): Buffer =>
  withForm(`BT /F1 1 Tf 72 700 Td ${`(${"a".repeat(10_000)}) Tj\n`.repeat(41)} ET`)

/** Its second page inflates to a thousand times its size. */
export const inflating = (megabytes: number): Buffer => withForm(Buffer.alloc(megabytes * 1024 * 1024, "q "))

/** Its second page shows a form ten times, which shows a form ten times, and so on: 10^12 words. */
export const billionLaughs = (): Buffer =>
  pdfOf({
    pages: [{ content: line("First", 72, 700) }, { content: "/X0 Do" }],
    more: (writer) => {
      const ids = Array.from({ length: 12 }, () => writer.reserve())
      const resources = `/XObject << ${ids.map((id, at) => `/X${at} ${ref(id)}`).join(" ")} >>`
      for (const [at, id] of ids.entries())
        writer.stream(`/X${at + 1} Do\n`.repeat(10), {
          id,
          dictionary: `${FORM} /Resources << ${resources} >>`
        })
      return { resources }
    }
  })

/** A page tree that is its own child. */
export const circularPages = (): Buffer => {
  const pieces: Array<Buffer> = []
  const writer = new PdfWriter((bytes) => void pieces.push(bytes))
  const tree = writer.reserve()
  writer.object(`<< /Type /Pages /Count 1000000 /Kids [${ref(tree)} ${ref(tree)}] >>`, tree)
  writer.finish(writer.object(`<< /Type /Catalog /Pages ${ref(tree)} >>`))
  return Buffer.concat(pieces)
}

/** So many fields over one another: some without a place, some hidden, some in a circle with their kin, some with endless names. */
export const manyFields = (count: number): Buffer =>
  pdfOf({
    pages: [{ content: line("Name", 72, 705) }],
    more: (writer, [page = 0]) => {
      const ids = Array.from({ length: count }, () => writer.reserve())
      for (const [at, id] of ids.entries()) {
        const place = at % 3 === 0 ? "" : "/Rect [120 700 300 720]"
        const hidden = at % 7 === 0 ? "/F 2" : ""
        const kin = at % 11 === 0 ? `/Parent ${ref(id)} /Kids [${ref(id)}]` : ""
        const name = at < 3 ? "n".repeat(1_000_000) : `f${at}`
        writer.object(
          `<< /Type /Annot /Subtype /Widget /FT /Tx /P ${ref(page)} ${place} ${hidden} ${kin} /T (${name}) >>`,
          id
        )
      }
      const all = ids.map(ref).join(" ")
      return { catalog: `/AcroForm << /Fields [${all}] >>`, entries: [`/Annots [${all}]`] }
    }
  })

/**
 * Three pages, the first of which is in an article of so many parts, each of which names the next one. A word is cut at a line's end
 * on each.
 */
export const articleOf = (beads: number): Buffer =>
  pdfOf({
    pages: ["first", "second", "third"].map((name) => ({
      content: line(`What the ${name} page says is con-`, 72, 700) + line("firmed by the master.", 72, 686)
    })),
    more: (writer, pages) => {
      const thread = writer.reserve()
      const ids = Array.from({ length: beads }, () => writer.reserve())
      const at = (index: number) => ref(ids[(index + beads) % beads] ?? 0)
      for (const [index, id] of ids.entries())
        writer.object(
          `<< /T ${ref(thread)} /N ${at(index + 1)} /V ${at(index - 1)} /P ${ref(pages[0] ?? 0)} /R [50 50 500 800] >>`,
          id
        )
      writer.object(`<< /F ${at(0)} /I << /Title (A) >> >>`, thread)
      return { catalog: `/Threads [${ref(thread)}]`, entries: [`/B [${at(0)}]`] }
    }
  })
