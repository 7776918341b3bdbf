import { line, pdfOf, type PdfWriter, ref } from "./pdf-writer.ts"

const outlineOf = (writer: PdfWriter, page: number): string => {
  const root = writer.reserve()
  const first = writer.reserve()
  const child = writer.reserve()
  writer.object(
    `<< /Title (Chapter) /Parent ${ref(root)} /First ${ref(child)} /Last ${ref(child)} /Count 1 /Dest [${ref(page)} /Fit] >>`,
    first
  )
  writer.object(`<< /Title <FEFF00DC> /Parent ${ref(first)} >>`, child)
  return ref(writer.object(`<< /Type /Outlines /First ${ref(first)} /Last ${ref(first)} /Count 2 >>`, root))
}

/** Two pages with links to each other and outside, an outline, labels, a language, a title. */
export const linked = (): Buffer =>
  pdfOf({
    pages: [
      {
        content:
          line("See page two, or the web.", 72, 700) +
          "0 0 1 rg 72 600 100 1 re f\n72 500 m 172 500 l 72 400 m 172 400 l S\n"
      },
      { content: line("Page two.", 72, 300) }
    ],
    info: "/Title (A title) /Author (Somebody)",
    catalog: "/Lang (de-AT) /PageLabels << /Nums [0 << /S /r /St 4 >> 1 << /S /D /P (A-) >>] >>",
    more: (writer, [first = 0, second = 0]) => ({
      catalog: `/Outlines ${outlineOf(writer, second)}`,
      entries: [
        `/Annots [<< /Type /Annot /Subtype /Link /Rect [72 690 120 715] /Dest [${ref(second)} /XYZ 72 320 0] >> ` +
          "<< /Type /Annot /Subtype /Link /Rect [130 690 190 715] /A << /S /URI /URI (https://example.org/a) >> >>]",
        `/Annots [<< /Type /Annot /Subtype /Link /Rect [72 290 120 310] /A << /S /GoTo /D [${ref(first)} /Fit] >> >>]`
      ]
    })
  })

/** A tagged document of two pages; its second paragraph goes on over the page break. */
export const tagged = (): Buffer =>
  pdfOf({
    pages: [
      {
        content:
          "/H1 <</MCID 0>> BDC " +
          line("Heading", 72, 720, { font: "F2", size: 20 }) +
          "EMC /P <</MCID 1>> BDC " +
          line("A paragraph that", 72, 690) +
          "EMC /Artifact BMC " +
          line("Running foot", 72, 30) +
          "EMC",
        entries: "/StructParents 0"
      },
      {
        content:
          "/P <</MCID 0>> BDC " +
          line("goes on.", 72, 720) +
          "EMC /TH <</MCID 1>> BDC " +
          line("Cell", 72, 690) +
          "EMC",
        entries: "/StructParents 1"
      }
    ],
    catalog: "/MarkInfo << /Marked true >>",
    more: (writer, [first = 0, second = 0]) => {
      const [root, document, heading, paragraph, table, cell] = [0, 1, 2, 3, 4, 5].map(() =>
        writer.reserve()
      ) as [number, number, number, number, number, number]
      const element = (id: number, type: string, parent: number, rest: string) =>
        writer.object(`<< /Type /StructElem /S /${type} /P ${ref(parent)} ${rest} >>`, id)
      element(document, "Document", root, `/K [${[heading, paragraph, table].map(ref).join(" ")}]`)
      element(heading, "Title1", document, `/Pg ${ref(first)} /K 0`)
      element(
        paragraph,
        "P",
        document,
        `/Lang (fr) /K [<< /Type /MCR /Pg ${ref(first)} /MCID 1 >> << /Type /MCR /Pg ${ref(second)} /MCID 0 >>]`
      )
      element(table, "Table", document, `/Alt (A table) /K [${ref(cell)}]`)
      element(cell, "TH", table, `/Pg ${ref(second)} /K 1 /A << /O /Table /ColSpan 2 /Scope /Column >>`)
      const parents = `[0 [${ref(heading)} ${ref(paragraph)}] 1 [${ref(paragraph)} ${ref(cell)}]]`
      writer.object(
        `<< /Type /StructTreeRoot /K [${ref(document)}] /RoleMap << /Title1 /H1 >> /ParentTree << /Nums ${parents} >> >>`,
        root
      )
      return { catalog: `/StructTreeRoot ${ref(root)}` }
    }
  })

/** A form with a text field, a ticked box and a choice, on the first of its pages. */
export const withForm = (pages = 1): Buffer =>
  pdfOf({
    pages: Array.from({ length: pages }, () => ({ content: line("Name", 72, 705) })),
    more: (writer, [page = 0]) => {
      const look = writer.stream("", { dictionary: "/Type /XObject /Subtype /Form /BBox [0 0 20 20]" })
      const field = (rest: string, rectangle: string) =>
        ref(writer.object(`<< /Type /Annot /Subtype /Widget /P ${ref(page)} /Rect [${rectangle}] ${rest} >>`))
      const fields = [
        field("/FT /Tx /T (name) /TU (Your name) /V (Ada)", "120 700 300 720"),
        field(
          `/FT /Btn /T (agree) /V /Yes /AS /Yes /AP << /N << /Yes ${ref(look)} /Off ${ref(look)} >> >>`,
          "120 670 140 690"
        ),
        field("/FT /Ch /Ff 131072 /T (country) /Opt [(Austria) (France)] /V (France)", "120 640 300 660")
      ].join(" ")
      return { catalog: `/AcroForm << /Fields [${fields}] >>`, entries: [`/Annots [${fields}]`] }
    }
  })

/** A portfolio: a cover sheet with a sticky note, and these files in it. */
export const portfolioOf = (names: ReadonlyArray<string>): Buffer =>
  pdfOf({
    pages: [
      {
        content: line("Open this portfolio in another program.", 72, 700),
        entries: "/Annots [<< /Type /Annot /Subtype /Text /Rect [72 400 90 420] /Contents (A remark) >>]"
      }
    ],
    more: (writer) => {
      const files = names.map((name) => {
        const bytes = writer.stream("words", { dictionary: "/Type /EmbeddedFile" })
        return `(${name}) ${ref(writer.object(`<< /Type /Filespec /UF (${name}) /EF << /F ${ref(bytes)} >> >>`))}`
      })
      return {
        catalog: `/Collection << /Type /Collection >> /Names << /EmbeddedFiles << /Names [${files.join(" ")}] >> >>`
      }
    }
  })

const PIXEL = Buffer.from([200, 30, 40])

/** A picture of 4 by 2 pixels of one colour, inside a form XObject that is marked as an artifact, with text beside it. */
export const withImage = (): Buffer =>
  pdfOf({
    pages: [{ content: "/Artifact BMC q 2 0 0 2 10 20 cm /X0 Do Q EMC" }],
    more: (writer) => {
      const image = writer.stream(Buffer.concat(Array.from({ length: 8 }, () => PIXEL)), {
        dictionary:
          "/Type /XObject /Subtype /Image /Width 4 /Height 2 /ColorSpace /DeviceRGB /BitsPerComponent 8"
      })
      const font = writer.object("<< /Type /Font /Subtype /Type1 /BaseFont /Times-Italic >>")
      const form = writer.stream(
        `q 40 0 0 20 100 200 cm /I Do Q ${line("Inside", 10, 10, { font: "G", size: 6 })}`,
        {
          dictionary:
            "/Type /XObject /Subtype /Form /BBox [0 0 300 300] " +
            `/Resources << /XObject << /I ${ref(image)} >> /Font << /G ${ref(font)} >> >>`
        }
      )
      return { resources: `/XObject << /X0 ${ref(form)} >>` }
    }
  })

/** As many ordinary pages, each with its number. */
export const numbered = (pages: number): Buffer =>
  pdfOf({
    pages: Array.from({ length: pages }, (_, at) => ({ content: line(`Page number ${at + 1}`, 72, 700) }))
  })

/** Many pages that inherit the pictures of all of them, of which each shows one: `bytes` each. */
export const sharing = (pages: number, pictures: number, bytes: number): Buffer =>
  pdfOf({
    inherit: true,
    pages: Array.from({ length: pages }, (_, at) => ({
      content: `q 10 0 0 10 50 50 cm /I${at % pictures} Do Q`
    })),
    more: (writer) => {
      const images = Array.from({ length: pictures }, (_, at) => {
        const image = writer.stream(Buffer.alloc(bytes, at), {
          dictionary: `/Type /XObject /Subtype /Image /Width ${bytes} /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8`
        })
        return `/I${at} ${ref(image)}`
      })
      return { resources: `/XObject << ${images.join(" ")} >>` }
    }
  })
