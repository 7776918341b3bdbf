import { type DoubtfulPages, doubtTexts } from "../../../reader/model/doubt.ts"
import type { LeftOut } from "../../../reader/model/left-out.ts"
import type { Block, Row } from "../mail-content.ts"
import { count, counted, paragraph, type Values, type Writer } from "./values.ts"

const AGAIN = ["To convert another file, reply to this mail with one PDF attached."]

/** Names of files, a line each; `unnamed`: how many further files there are. */
const fileList = (names: ReadonlyArray<string>, unnamed: number, { line, limits }: Values): Block => {
  const shown = names.slice(0, limits.items)
  const more = names.length - shown.length + unnamed
  return {
    piece: "list",
    items: [...shown.map((name) => [line(name)]), ...(more === 0 ? [] : [[`${count(more)} more`]])]
  }
}

/** Names of attachments that were not converted, if there were any. */
const ignoredFiles = (names: ReadonlyArray<string>, values: Values): ReadonlyArray<Block> =>
  names.length === 0
    ? []
    : [
        paragraph("One mail converts one PDF. These attachments were not converted:"),
        fileList(names, 0, values)
      ]

/** What the PDF itself holds that was not converted. */
const leftBehind = (leftOut: LeftOut | undefined, values: Values): ReadonlyArray<Block> => {
  if (leftOut === undefined) return []
  const { fileCount, files, portfolio, remarks } = leftOut
  const where = portfolio ? "in this portfolio" : "attached to the PDF"
  return [
    ...(fileCount === 0
      ? []
      : [
          paragraph(
            `${counted(fileCount, "file", "files")} ${where} ${fileCount === 1 ? "was" : "were"} not converted. Send each that you need in a mail of its own:`
          ),
          fileList(files, Math.max(0, fileCount - files.length), values)
        ]),
    ...(remarks === 0
      ? []
      : [
          paragraph(
            `${counted(remarks, "note or remark", "notes or remarks")} in the PDF ${remarks === 1 ? "was" : "were"} not converted.`
          )
        ])
  ]
}

export const unregistered: Writer<"unregistered"> = (data, { address, url }) => ({
  subject: "Register to convert files by email",
  title: "This address is not registered",
  preview: "Register, then send your file again.",
  blocks: [
    paragraph(
      "Your file was not converted: ",
      address(data.address),
      " does not belong to an account. Register with this address, then send the file again. The first 10 pages are free."
    ),
    { piece: "button", text: "Register an account", url: url(data.registerUrl) }
  ],
  footer: [
    ["You get this mail because a file was sent to us from your address. If it was not you, ignore it."]
  ]
})

export const noAttachment: Writer<"no-attachment"> = (data, { address }) => ({
  subject: "No PDF was attached",
  title: "No PDF was attached",
  preview: "Send the mail again with one PDF attached.",
  blocks: [
    paragraph(
      "Your mail had no attachment. Send it again to ",
      address(data.convertAddress),
      " with one PDF attached."
    )
  ],
  footer: [AGAIN]
})

export const misaddressed: Writer<"misaddressed"> = (data, { address }) => ({
  subject: "How to send a file to be converted",
  title: "Your mail was not converted",
  preview: "Write the convert address into To or Cc.",
  blocks: [
    paragraph(
      "A copy of your mail reached us, but you did not write it to us: its To and Cc name others. Such mails are not converted, ",
      "since anybody could have passed them on. No credits were charged."
    ),
    paragraph(
      "To have a file converted, put ",
      address(data.convertAddress),
      " into To or Cc and attach one PDF."
    )
  ],
  footer: [
    ["You get this mail because a mail in your name was sent to us. If you did not send it, ignore this."]
  ]
})

export const unsupportedFile: Writer<"unsupported-file"> = (data, { line }) => ({
  subject: `Not converted: ${line(data.fileName)} is no PDF`,
  title: "Only PDF files are accepted by email",
  preview: `${line(data.fileName)} was not converted.`,
  blocks: [
    paragraph(
      { strong: line(data.fileName) },
      ` was not converted: it is ${line(data.found)}, and only PDF files are accepted by email.`
    ),
    paragraph("Save the document as a PDF and send that. No credits were charged.")
  ],
  footer: [AGAIN]
})

export const insufficientCredits: Writer<"insufficient-credits"> = (data, { line, url }) => ({
  subject: `Not enough credits for ${line(data.fileName)}`,
  title: "Not enough credits",
  preview: `${counted(data.needed, "credit", "credits")} needed, ${count(data.balance)} left.`,
  blocks: [
    paragraph({ strong: line(data.fileName) }, " was not converted. Nothing was charged."),
    {
      piece: "table",
      caption: data.plan === "free" ? "Your free pages" : "Your credits",
      columns: [
        { name: "What", figures: false, own: true },
        { name: data.plan === "free" ? "Pages" : "Credits", figures: true }
      ],
      rows: [
        ["Needed, as estimated", count(data.needed)],
        ["Your balance", count(data.balance)]
      ]
    },
    { piece: "button", text: "Buy more credits", url: url(data.buyUrl) }
  ],
  footer: [AGAIN]
})

export const processingStarted: Writer<"processing-started"> = (data, values) => ({
  subject: `Converting ${values.line(data.fileName)}`,
  title: "Your file is being converted",
  preview: "The result comes by mail.",
  blocks: [
    paragraph(
      { strong: values.line(data.fileName) },
      data.pages === undefined ? "" : `, about ${counted(data.pages, "page", "pages")},`,
      " is being converted. The result comes as a reply to your mail."
    ),
    ...ignoredFiles(data.ignored, values)
  ],
  footer: [AGAIN]
})

/** Page numbers, a line each. */
const pageList = (pages: ReadonlyArray<number>, { some }: Values): Block => ({
  piece: "list",
  items: some<number, ReadonlyArray<string>>(
    pages,
    (page) => [`Page ${count(page)}`],
    (more) => [`${count(more)} more`]
  )
})

const was = (pages: ReadonlyArray<number>): string => (pages.length === 1 ? "was" : "were")

/** What the result lacks, if anything: the reader should not have to find out. */
const shortcomings = (
  {
    doubtfulPages = [],
    hasText,
    poorlyReadPages = [],
    unreadablePages
  }: {
    readonly hasText: boolean
    readonly unreadablePages: ReadonlyArray<number>
    readonly poorlyReadPages?: ReadonlyArray<number>
    readonly doubtfulPages?: ReadonlyArray<DoubtfulPages>
  },
  values: Values
): ReadonlyArray<Block> => [
  ...(unreadablePages.length === 0
    ? []
    : [
        paragraph(
          `${counted(unreadablePages.length, "page", "pages")} could not be read and ${was(unreadablePages)} not charged. A note replaces each of them:`
        ),
        pageList(unreadablePages, values)
      ]),
  ...(poorlyReadPages.length === 0
    ? []
    : [
        paragraph(
          `${counted(poorlyReadPages.length, "page", "pages")} ${was(poorlyReadPages)} read from ${
            poorlyReadPages.length === 1 ? "a picture" : "pictures"
          }, but not well: words may be wrong or missing. The pictures are shown with the words:`
        ),
        pageList(poorlyReadPages, values)
      ]),
  ...doubtTexts(doubtfulPages).map((text) => paragraph(text)),
  ...(hasText
    ? []
    : [
        paragraph(
          "There is no word of text in the result: the document seems to hold pictures only, such as a scan."
        )
      ])
]

export const success: Writer<"success"> = (data, values) => {
  const resultUrl = data.resultUrl === undefined ? undefined : values.url(data.resultUrl)
  const name = values.line(data.fileName)
  const isCover = data.leftOut?.portfolio === true
  return {
    subject: isCover ? `Only its cover sheet was converted: ${name}` : `Converted: ${name}`,
    title: isCover ? "Only the cover sheet is converted" : "Your file is converted",
    preview: `${counted(data.pages, "page", "pages")}, ${counted(data.creditsCharged, "credit", "credits")}`,
    blocks: [
      ...(isCover
        ? [paragraph({ strong: name }, " is a portfolio: a cover sheet with other files in it.")]
        : []),
      paragraph(
        isCover ? "The accessible HTML version of the cover sheet of " : "The accessible HTML version of ",
        { strong: name },
        data.resultUrl === undefined ? " is attached to this mail." : " is ready. It is too big to attach."
      ),
      ...(data.resultUrl === undefined
        ? []
        : [{ piece: "button" as const, text: "Open the converted file", url: resultUrl }]),
      {
        piece: "table",
        caption: "What it cost",
        columns: [
          { name: "What", figures: false, own: true },
          { name: "Number", figures: true }
        ],
        rows: [
          ["Pages", count(data.pages)],
          ["Credits charged", count(data.creditsCharged)],
          ["Credits left", count(data.balance)]
        ]
      },
      ...shortcomings(data, values),
      ...leftBehind(data.leftOut, values),
      ...ignoredFiles(data.ignored, values)
    ],
    footer: [AGAIN]
  }
}

export const conversionError: Writer<"error"> = (data, { line }) => ({
  subject: `Not converted: ${line(data.fileName)}`,
  title: "Your file could not be converted",
  preview: "No credits were charged.",
  blocks: [
    paragraph({ strong: line(data.fileName) }, " could not be converted."),
    paragraph("Why: ", line(data.reason)),
    paragraph("No credits were charged.")
  ],
  footer: [AGAIN]
})

const OUTCOME = { completed: "Completed", failed: "Failed", cancelled: "Cancelled" } as const

export const bulkCompleted: Writer<"bulk-completed"> = (data, { line, link, some }) => {
  const done = data.items.filter(({ outcome }) => outcome === "completed").length
  const summary = `${count(done)} of ${counted(data.items.length, "file", "files")} converted`
  return {
    subject: `Your files are done: ${summary}`,
    title: "Your files are done",
    preview: summary,
    blocks: [
      paragraph({ strong: `${summary}.` }),
      {
        piece: "table",
        caption: `Files of order ${line(data.bulkId)}`,
        columns: [
          { name: "File", figures: false },
          { name: "Outcome", figures: false, own: true }
        ],
        rows: some<(typeof data.items)[number], Row>(
          data.items,
          ({ fileName, noModelPages, outcome, url }) => [
            url === undefined ? line(fileName) : link(fileName, url),
            noModelPages === 0
              ? OUTCOME[outcome]
              : `${OUTCOME[outcome]}; high fidelity was not available for ${counted(noModelPages, "page", "pages")}`
          ],
          (more) => [`${count(more)} more`, "On your files page"]
        )
      }
    ],
    footer: []
  }
}
