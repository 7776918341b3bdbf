import { type ZipEntry, zipOf } from "./zip-files.ts"

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"

/** A Word document as it is to be written. */
export interface WordSpec {
  /** WordprocessingML of the body. */
  readonly body?: string
  readonly title?: string
  /** What `docProps/app.xml` notes. */
  readonly pages?: number
  readonly type?: string
  readonly main?: string
  /** Pictures by file name; the n-th is `rId{n}`, from 1. */
  readonly pictures?: ReadonlyArray<readonly [string, Buffer]>
  /** Styles besides those of headings. */
  readonly styles?: string
  /** Of the main part, besides its pictures. */
  readonly relations?: string
  readonly more?: ReadonlyArray<ZipEntry>
}

/** A paragraph. */
export const paragraph = (text: string, style = ""): string =>
  `<w:p>${style === "" ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`

/** A paragraph with the picture of a relation. */
export const pictureOf = (relation: string, alt: string, attribute = "embed"): string =>
  `<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="p" descr="${alt}"/><a:graphic><a:graphicData>` +
  `<pic:pic><pic:blipFill><a:blip r:${attribute}="${relation}"/></pic:blipFill></pic:pic>` +
  "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"

const STYLES = [
  ["Title", "Title"],
  ["Heading1", "heading 1"],
  ["Heading2", "heading 2"]
].map(([id, name]) => `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/></w:style>`)

/** Those that parts declare. */
export const NAMESPACES = [
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"',
  `xmlns:r="${OFFICE}"`,
  'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"',
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"',
  'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"',
  'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"',
  'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"',
  'xmlns:v="urn:schemas-microsoft-com:vml"',
  'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"',
  'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"',
  'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
].join(" ")

/** The parts of a Word document. */
export const wordParts = (spec: WordSpec = {}): ReadonlyArray<ZipEntry> => {
  const { body = paragraph("Hello"), main = "word/document.xml", pictures = [], type = MAIN } = spec
  const relations = pictures
    .map(([name], at) => `<Relationship Id="rId${at + 1}" Type="${OFFICE}/image" Target="media/${name}"/>`)
    .join("")
  const name = main.replace("word/", "")
  return [
    {
      name: "[Content_Types].xml",
      data:
        '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        '<Default Extension="png" ContentType="image/png"/><Default Extension="emf" ContentType="image/x-emf"/>' +
        `<Override PartName="/${main}" ContentType="${type}"/></Types>`
    },
    {
      name: "_rels/.rels",
      data:
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
        `<Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="${main}"/></Relationships>`
    },
    { name: main, data: `<w:document ${NAMESPACES}><w:body>${body}</w:body></w:document>` },
    {
      name: "word/styles.xml",
      data: `<w:styles ${NAMESPACES}>${STYLES.join("")}${spec.styles ?? ""}</w:styles>`
    },
    {
      name: `word/_rels/${name}.rels`,
      data:
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
        `${relations}${spec.relations ?? ""}</Relationships>`
    },
    ...(spec.pages === undefined
      ? []
      : [{ name: "docProps/app.xml", data: `<Properties><Pages>${spec.pages}</Pages></Properties>` }]),
    ...(spec.title === undefined
      ? []
      : [
          {
            name: "docProps/core.xml",
            data: `<cp:coreProperties><dc:title>${spec.title}</dc:title></cp:coreProperties>`
          }
        ]),
    ...pictures.map(([picture, data]) => ({ name: `word/media/${picture}`, data })),
    ...(spec.more ?? [])
  ]
}

/** The bytes of a Word document. */
export const wordOf = (spec: WordSpec = {}): Buffer => zipOf(wordParts(spec))

/** Words, as many. */
export const words = (count: number): string =>
  Array.from({ length: count }, (_, at) => `word${at}`).join(" ")

/** An OLE compound file whose directory holds these names. */
export const compoundOf = (names: ReadonlyArray<string>): Buffer => {
  const bytes = Buffer.alloc(512 * 4, 0xff)
  bytes.fill(0, 0, 76)
  Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]).copy(bytes)
  bytes.writeUInt16LE(9, 30)
  // The allocation table is sector 0; the directory is sector 1, then 2.
  bytes.writeUInt32LE(1, 48)
  bytes.writeUInt32LE(0, 76)
  bytes.writeUInt32LE(2, 512 + 4)
  bytes.writeUInt32LE(0xfffffffe, 512 + 8)
  bytes.fill(0, 1024)
  for (const [at, name] of names.entries()) {
    const place = 1024 + at * 128
    bytes.write(`${name}\0`, place, "utf16le")
    bytes.writeUInt16LE(2 * name.length + 2, place + 64)
  }
  return bytes
}
